// Records of runs by others: performance logs of ReFrame (lines of version 3, tables with a header of version
// 4), results of Ramble, jobs of Slurm.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

/// One at least, and an empty one behind a separator at the end.
std::vector<std::string> split_at(const std::string& line, char separator) {
  return split(line + separator, separator);
}

class PerflogReader {
 public:
  explicit PerflogReader(std::string name) : name_(std::move(name)) {}

  void take(const std::string& line) {
    ++number_;
    if (folded(line).empty()) return;
    const std::vector<std::string> header = header_in(line);
    if (!header.empty()) {
      header_ = header;
      separator_ = separator_in(line);
    } else if (header_.empty()) {
      take_line(split_at(line, '|'));
    } else {
      take_table_row(split_at(line, separator_));
    }
  }

  std::vector<PerflogRow> rows;

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    throw ParseError({name_, number_, ""}, what, hint);
  }

  static char separator_in(const std::string& line) { return line.find('|') != std::string::npos ? '|' : ','; }

  /// The names of the fields, which version 4 writes whenever they change; empty for another line.
  static std::vector<std::string> header_in(const std::string& line) {
    if (line.find("_value") == std::string::npos || line.find("job_completion_time") == std::string::npos) return {};
    return split_at(line, separator_in(line));
  }

  double number(const std::string& text, const std::string& field) const {
    double value = 0;
    if (!parse_double(folded(text), value) || !std::isfinite(value))
      fail("found `" + text + "` as " + field + "; expected a number with a decimal point",
           "a log that was cut off, or written in another locale?");
    return value;
  }
  std::optional<double> maybe(const std::string& text, const std::string& field) const {
    const std::string word = folded(text);
    return word.empty() || word == "none" || word == "null" ? std::nullopt : std::optional(number(text, field));
  }

  /// "2020-08-20T10:12:24+01:00", to Unix time.
  double unix_time(const std::string& text) const {
    std::tm parts{}, zone{};
    const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (rest == nullptr) fail("found `" + text + "`; expected a time such as 2020-08-20T10:12:24+01:00");
    if (*rest == '.') rest += std::strspn(rest + 1, "0123456789") + 1;
    if (strptime(rest, "%z", &zone) == nullptr)
      fail("found `" + text + "`; expected a time zone such as +01:00 behind it");
    return static_cast<double>(timegm(&parts) - zone.tm_gmtoff);
  }

  /// TIME|reframe VERSION|TEST on SYSTEM:PARTITION using ENVIRONMENT|jobid=N|NAME=VALUE|UNIT|ref=R (l=L, u=U)|tags
  void take_line(const std::vector<std::string>& fields) {
    constexpr std::size_t least = 7;
    if (fields.size() < least || !begins_with(fields[1], "reframe "))
      fail("not a line of ReFrame's performance log with " + std::to_string(least) + " fields; found " +
               std::to_string(fields.size()),
           "expected TIME|reframe VERSION|TEST on SYSTEM:PARTITION using ENVIRONMENT|jobid=N|NAME=VALUE|UNIT|ref=...");
    for (std::size_t i = 2; i < fields.size(); ++i)
      if (begins_with(fields[i], "reframe ")) fail("two records in one line", "break it before the second time");
    PerflogRow row;
    row.time_s = unix_time(fields[0]);
    const std::vector<std::string> words = words_of(fields[2]);
    constexpr std::size_t words_of_info = 5;
    if (words.size() != words_of_info || words[1] != "on" || words[3] != "using")
      fail("found `" + fields[2] + "`; expected TEST on SYSTEM:PARTITION using ENVIRONMENT");
    const std::size_t colon = words[2].find(':');
    row.test = words[0];
    row.system = words[2].substr(0, colon);
    if (colon != std::string::npos) row.partition = words[2].substr(colon + 1);
    row.environment = words[4];
    if (begins_with(fields[3], "jobid=")) row.jobid = fields[3].substr(6);
    const std::size_t equals = fields[4].rfind('=');
    if (equals == std::string::npos) fail("found `" + fields[4] + "`; expected NAME=VALUE");
    row.variable = fields[4].substr(0, equals);
    row.value = number(fields[4].substr(equals + 1), row.variable);
    row.unit = fields[5];
    const std::string& limits = fields[6];
    const auto limit = [&](const std::string& begin, const std::string& ends) -> std::optional<double> {
      const std::size_t at = limits.find(begin);
      if (at == std::string::npos) return std::nullopt;
      const std::size_t from = at + begin.size();
      return maybe(limits.substr(from, limits.find_first_of(ends, from) - from), begin);
    };
    row.reference = limit("ref=", " ");
    row.lower = limit("l=", ",");
    row.upper = limit("u=", ")");
    rows.push_back(std::move(row));
  }

  void take_table_row(const std::vector<std::string>& fields) {
    // A field for each name; the last one may be an empty name behind the last separator.
    if (fields.size() != header_.size())
      fail("found " + std::to_string(fields.size()) + " fields; expected the " + std::to_string(header_.size()) +
               " of the header",
           "a log that was cut off?");
    const auto field = [&](const std::string& name) -> std::string {
      for (std::size_t i = 0; i < header_.size(); ++i)
        if (header_[i] == name) return fields[i];
      return "";
    };
    PerflogRow row;
    for (const char* name : {"display_name", "name", "info"})
      if (row.test.empty()) row.test = field(name);
    row.system = field("system");
    row.partition = field("partition");
    row.environment = field("environ");
    row.jobid = field("jobid");
    row.result = field("result");
    const std::string ending = "_value";
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (!ends_with(header_[i], ending)) continue;
      const std::string variable = header_[i].substr(0, header_[i].size() - ending.size());
      const std::optional<double> value = maybe(fields[i], variable);
      if (!value) continue;  // a test that failed before, maybe without a job that has ended
      row.time_s = unix_time(field("job_completion_time"));
      row.variable = variable;
      row.value = *value;
      row.unit = field(variable + "_unit");
      row.reference = maybe(field(variable + "_ref"), variable + "_ref");
      row.lower = maybe(field(variable + "_lower_thres"), variable + "_lower_thres");
      row.upper = maybe(field(variable + "_upper_thres"), variable + "_upper_thres");
      rows.push_back(row);
    }
  }

  std::string name_;
  std::size_t number_ = 0;
  char separator_ = '|';
  std::vector<std::string> header_;
};

// --- Ramble ---

/// A run of HPL that Ramble has found in the output of an experiment.
RambleRun ramble_run(const nlohmann::json& experiment, const nlohmann::json& context, const std::string& problem) {
  RambleRun run;
  run.experiment = experiment.at("name").get<std::string>();
  for (const char* name : {"RAMBLE_STATUS", "EXPERIMENT_STATUS"})  // of earlier versions, of those of 2026
    if (run.status.empty()) run.status = experiment.value(name, "");
  const std::vector<std::string> parts = split_at(problem, '-');
  if (parts.size() != 4 || !parse_integer(parts[0], run.N) || !parse_integer(parts[1], run.NB) ||
      !parse_integer(parts[2], run.P) || !parse_integer(parts[3], run.Q) ||
      std::min<long long>({run.N, run.NB, run.P, run.Q}) < 1)
    throw DomainError("N-NB-P-Q", problem, "four whole numbers from 1, such as 3000-128-1-2");
  for (const nlohmann::json& fom : context.at("foms")) {
    const std::string what = fom.at("name").get<std::string>();
    if (what != "Time" && what != "GFlops") continue;
    const nlohmann::json& value = fom.at("value");
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    double number = 0;
    if (!parse_double(folded(text), number) || !(number > 0) || !std::isfinite(number))
      throw DomainError(what + " of " + run.experiment, text, "a positive number");
    (what == "Time" ? run.time_s : run.gflops) = number;
  }
  return run;
}

// --- Slurm ---

/// sacct's "1-02:03:04", "02:03:04" or "03:04.567", in s.
std::optional<double> elapsed_s(const std::string& text) {
  double days = 0, total = 0;
  std::string rest = text;
  if (const std::size_t dash = text.find('-'); dash != std::string::npos) {
    if (!parse_double(text.substr(0, dash), days)) return std::nullopt;
    rest = text.substr(dash + 1);
  }
  for (const std::string& part : split_at(rest, ':')) {
    double value = 0;
    if (!parse_double(part, value) || !(value >= 0)) return std::nullopt;
    total = 60 * total + value;
  }
  total += 86400 * days;
  constexpr double century_s = 3.2e9;
  return total <= century_s ? std::optional(total) : std::nullopt;
}

/// "12345", "12.35K", "1.2M": joules. Nothing where no plugin counted: empty, 0, or the 2^64 - 2 of a counter without a
/// value.
std::optional<double> energy_j(const std::string& text, bool& is_number) {
  constexpr double no_value = 1.8e19;
  const std::string units = "KMGT";
  const std::size_t unit = text.empty() ? std::string::npos : units.find(text.back());
  double value = 0;
  is_number = text.empty() || parse_double(unit == std::string::npos ? text : text.substr(0, text.size() - 1), value);
  if (!is_number || !(value > 0) || value > no_value) return std::nullopt;
  return unit == std::string::npos ? value : value * std::pow(1000.0, static_cast<double>(unit + 1));
}

}  // namespace

std::vector<RambleRun> read_ramble(std::istream& in, const std::string& name) {
  std::vector<RambleRun> runs;
  try {
    const auto json = parse_json<nlohmann::json>(read_json_text(in, name));
    for (const nlohmann::json& experiment : json.at("experiments")) {
      for (const nlohmann::json& context : experiment.value("CONTEXTS", nlohmann::json::array())) {
        const std::string problem = context.value("display_name", ""), mark = "N-NB-P-Q = ";
        if (begins_with(problem, mark)) runs.push_back(ramble_run(experiment, context, problem.substr(mark.size())));
      }
    }
  } catch (const nlohmann::json::exception& error) {
    throw ParseError({name, 0, ""}, error.what(), "expected what `ramble workspace analyze --formats json` writes");
  } catch (const DomainError& error) {
    throw ParseError({name, 0, ""}, error.what());
  }
  if (runs.empty())
    throw ParseError({name, 0, "/experiments"}, "no run of HPL; expected contexts called N-NB-P-Q",
                     "`ramble workspace analyze --formats json` of experiments of hpl that have run");
  return runs;
}

std::vector<SlurmEnergy> read_sacct(std::istream& in, const std::string& name) {
  std::vector<SlurmEnergy> jobs;
  std::vector<std::string> header;
  std::size_t number = 0;
  for (std::string line; read_line(in, line, name);) {
    ++number;
    if (folded(line).empty()) continue;
    const std::vector<std::string> fields = split_at(line, '|');
    const auto fail = [&](const std::string& what) {
      throw ParseError({name, number, ""}, what,
                       "sacct --parsable2 --format=JobID,JobName,NNodes,Elapsed,ConsumedEnergyRaw,State");
    };
    if (header.empty()) {
      header = fields;
      continue;
    }
    if (fields.size() != header.size())
      fail("found " + std::to_string(fields.size()) + " fields; expected the " + std::to_string(header.size()) +
           " of the header");
    const auto field = [&](const char* what, bool needed) -> std::string {
      for (std::size_t i = 0; i < header.size(); ++i)
        if (header[i] == what) return fields[i];
      if (needed) fail(std::string("no column ") + what);
      return "";
    };
    SlurmEnergy job;
    job.job = field("JobID", true);
    job.name = field("JobName", false);
    job.nodes = field("NNodes", false);
    job.state = field("State", false);
    const bool raw = std::find(header.begin(), header.end(), "ConsumedEnergyRaw") != header.end();
    const std::string energy = field(raw ? "ConsumedEnergyRaw" : "ConsumedEnergy", true);
    bool is_number = false;
    const std::optional<double> found_j = energy_j(energy, is_number);
    if (!is_number) fail("found `" + energy + "` as energy; expected a number of J");
    if (!found_j) continue;
    const std::string elapsed = field("Elapsed", true);
    const std::optional<double> found_s = elapsed_s(elapsed);
    if (!found_s) fail("found `" + elapsed + "` as Elapsed; expected [days-]hours:minutes:seconds");
    job.energy_j = *found_j;
    job.elapsed_s = *found_s;
    jobs.push_back(job);
  }
  if (jobs.empty())
    throw ParseError({name, 0, ""}, "no job or step with energy",
                     "Slurm counts it with AcctGatherEnergyType in slurm.conf; steps have it, such as 123.0");
  return jobs;
}

std::vector<PerflogRow> read_perflog(std::istream& in, const std::string& name) {
  PerflogReader reader(name);
  for (std::string line; read_line(in, line, name);) reader.take(line);
  if (reader.rows.empty()) throw ParseError({name, 0, ""}, "no value in it; expected a performance log of ReFrame");
  return std::move(reader.rows);
}

}  // namespace hplcast::core
