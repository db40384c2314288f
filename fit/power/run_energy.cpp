#include <optional>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/run_power.hpp"

namespace hplcast::fit {

namespace {

using core::CsvReader;
using core::ParseError;
using core::printed;

constexpr const char* begin_suffix = "_start_j";
constexpr const char* end_suffix = "_end_j";

/// Two readings of the counter of a domain.
struct CounterColumns {
  std::string domain;
  std::size_t start = CsvReader::npos, end = CsvReader::npos;
};

std::vector<CounterColumns> counters_of(const CsvReader& csv) {
  std::vector<CounterColumns> counters;
  for (const std::string& column : csv.header()) {
    if (!core::ends_with(column, begin_suffix)) continue;
    const std::string domain = column.substr(0, column.size() - std::string(begin_suffix).size());
    counters.push_back({domain, csv.column(column), csv.column(domain + end_suffix)});
  }
  return counters;
}

struct RunColumns {
  explicit RunColumns(const CsvReader& reader) : csv(reader), counters(counters_of(reader)) {
    energy = counters.empty() ? csv.column("energy_j") : csv.find_column("energy_j");
  }
  const CsvReader& csv;
  std::vector<CounterColumns> counters;
  std::size_t hosts = csv.column("hosts"), ranks = csv.column("ranks_per_host"), time = csv.column("time_s");
  std::size_t energy = CsvReader::npos;
  std::size_t setup = csv.find_column("setup_s"), waiting = csv.find_column("waiting_s"),
              runs = csv.find_column("runs"), sd = csv.find_column("energy_sd_j"), wrap = csv.find_column("wrap_j"),
              sample = csv.find_column("sample_s"), configuration = csv.find_column("configuration"),
              campaign = csv.find_column("campaign");
};

constexpr const char* wrap_hint =
    "the column wrap_j has the joules after which a counter starts at 0 again (max_energy_range_uj / 1e6)";

/// Energy of a domain; wraps of its counter are added and counted.
double counted_j(const CsvReader& csv, const CounterColumns& counter, RunEnergy& run) {
  const double start_j = csv.non_negative(counter.start), end_j = csv.non_negative(counter.end);
  for (const auto& [column, value] : {std::pair{counter.start, start_j}, std::pair{counter.end, end_j}})
    if (run.wrap_j > 0 && value > run.wrap_j)
      throw ParseError(csv.at(column),
                       printed("found %.10g J; expected a counter up to wrap_j, %.10g J", value, run.wrap_j));
  if (end_j >= start_j) return end_j - start_j;
  if (run.wrap_j <= 0)
    throw ParseError(csv.at(counter.end),
                     printed("the counter ended at %.10g J, below its start of %.10g J: it has wrapped, or was reset",
                             end_j, start_j),
                     wrap_hint);
  ++run.wraps;
  return end_j - start_j + run.wrap_j;
}

/// Energy that somebody has subtracted: without a look at wraps it is below 0.
double listed_j(const CsvReader& csv, std::size_t column, RunEnergy& run) {
  double energy_j = csv.number(column);
  if (energy_j < 0 && run.wrap_j <= 0)
    throw ParseError(csv.at(column), printed("found %.10g J; expected at least 0: a counter has wrapped", energy_j),
                     wrap_hint);
  constexpr int most_wraps = 1000;
  for (; energy_j < 0 && run.wraps < most_wraps; ++run.wraps) energy_j += run.wrap_j / run.runs;
  if (energy_j <= 0)
    throw ParseError(csv.at(column), printed("found %.10g J; expected an energy above 0", csv.number(column)));
  return energy_j;
}

RunEnergy run_of(const RunColumns& columns) {
  const CsvReader& csv = columns.csv;
  RunEnergy run;
  run.row = csv.at(columns.time);
  run.row.field.clear();
  run.configuration = csv.text_or_none(columns.configuration);
  run.campaign = csv.text_or_none(columns.campaign);
  run.hosts = csv.integer(columns.hosts, 1, 1000000);
  run.ranks_per_host = csv.integer(columns.ranks, 0, 1000000);
  run.time_s = csv.non_negative(columns.time);
  run.setup_s = csv.non_negative_or(0, columns.setup);
  run.waiting_s = csv.non_negative_or(-1, columns.waiting);
  if (!(run.duration_s() > 0)) throw ParseError(csv.at(columns.time), "found a run of 0 s; expected a time above 0");
  if (run.waiting_s > run.duration_s())
    throw ParseError(csv.at(columns.waiting),
                     printed("found %.6g s; expected at most the %.6g s of the run", run.waiting_s, run.duration_s()));
  if (csv.has(columns.runs)) run.runs = csv.integer(columns.runs, 1, 1000000);
  run.energy_sd_j = csv.non_negative_or(0, columns.sd);
  run.wrap_j = csv.has(columns.wrap) ? csv.positive(columns.wrap) : 0;
  run.sample_s = csv.non_negative_or(0, columns.sample);
  return run;
}

}  // namespace

bool is_run_table(const std::string& header) {
  return header.find("energy_j") != std::string::npos || header.find(begin_suffix) != std::string::npos;
}

std::vector<RunEnergy> read_run_energies(std::istream& in, const std::string& name) {
  CsvReader csv(in, name);
  csv.refuse_misspelt({"hosts", "ranks_per_host", "time_s", "setup_s", "waiting_s", "energy_j", "energy_sd_j", "runs",
                       "wrap_j", "sample_s", "configuration", "campaign"});
  const RunColumns columns(csv);
  std::vector<RunEnergy> runs;
  std::optional<std::set<std::string>> domains;  // that the first row with counters has
  while (csv.next()) {
    RunEnergy run = run_of(columns);
    std::set<std::string> present;
    for (const CounterColumns& counter : columns.counters) {
      if (!csv.has(counter.start) && !csv.has(counter.end)) continue;
      run.energy_j += counted_j(csv, counter, run);
      present.insert(counter.domain);
    }
    if (!present.empty()) {
      if (!domains) domains = present;
      if (present != *domains)
        throw ParseError(run.row,
                         "the counters of " + core::comma_separated(present) + "; expected those of " +
                             core::comma_separated(*domains) + " as in the rows above",
                         "leave out a row in which the counter of a domain is missing: its energy is not all");
    } else if (columns.energy != CsvReader::npos) {
      run.energy_j = listed_j(csv, columns.energy, run);
    }
    if (!(run.energy_j > 0)) throw ParseError(run.row, "no energy; expected energy_j or readings of counters");
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace hplcast::fit
