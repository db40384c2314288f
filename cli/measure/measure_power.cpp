#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "cli/measure/measuring_program.hpp"
#include "cli/support/options.hpp"
#include "hplcast/calibration/measure_power.hpp"

namespace {

using namespace hplcast;
using namespace hplcast::cli;

struct Options {
  MeasuringOptions common;
  calibration::PowerDesignOptions design;
  calibration::PowerMeasureOptions measure;
  std::vector<std::string> frequencies;
  std::string root = "/";
  std::string meter;   ///< CSV of a wattmeter
  std::string pieces;  ///< file for begins and ends; with `join` read, not written
  double most_offset_s = 300;
  bool join = false;
  bool dry_run = false;
  int cores = 0;
};

/// Clock and gaps of a wattmeter are told; its rows become samples.
std::vector<core::PowerSample> wattmeter_samples(const Options& options,
                                                 const std::vector<calibration::PieceRun>& pieces) {
  calibration::WattmeterDoubts doubts;
  const auto rows = read_from(options.meter, calibration::read_wattmeter, doubts);
  for (const std::string& note : doubts.notes) warn(note + "; pieces in them have fewer samples");
  const calibration::ClockOffset clock = calibration::estimate_offset(rows, pieces, options.most_offset_s);
  std::cerr << "the wattmeter's clock is ahead by " << significant(clock.offset_s, 4) << " s (+- "
            << significant(clock.error_s, 2) << " s); the pieces explain " << significant(100 * clock.explained, 4)
            << " % of its variance\n";
  if (std::abs(clock.offset_s) > 10)
    warn("the wattmeter's clock is off by " + significant(clock.offset_s, 4) +
         " s: set it, or its zone, if that is not meant");
  return calibration::place_wattmeter(rows, pieces, options.measure.aside, clock, doubts.period_s);
}

std::string csv_of(const std::vector<core::PowerSample>& samples) {
  return core::written([&](std::ostream& csv) {
    csv << core::power_csv_header << '\n';
    for (const core::PowerSample& sample : samples) core::write_row(csv, sample);
  });
}

/// Mean power of each kind of piece, of the sensors that are the host's power, for people.
void print_summary(std::ostream& out, const std::vector<core::PowerSample>& samples) {
  struct Row {
    double sum_w = 0;
    std::size_t used = 0, aside = 0;
  };
  std::map<std::string, std::map<std::pair<std::string, int>, Row>> rows;  // by sensor
  for (const core::PowerSample& sample : samples) {
    Row& row = rows[sample.host + " " + sample.sensor][{sample.state, sample.active_cores}];
    sample.used ? ++row.used : ++row.aside;
    if (sample.used) row.sum_w += sample.power_w;
  }
  TextTable table({"sensor", "state", "active cores", "mean [W]", "samples", "set aside"});
  for (const auto& [sensor, kinds] : rows)
    for (const auto& [kind, row] : kinds)
      table.add({sensor, kind.first, std::to_string(kind.second),
                 row.used > 0 ? significant(row.sum_w / static_cast<double>(row.used)) : "-", std::to_string(row.used),
                 std::to_string(row.aside)});
  table.write(out);
}

/// The CSV; a summary is printed. @throws core::Error if no sample is used: nobody can fit that.
std::string summarized(const std::vector<core::PowerSample>& samples) {
  if (std::none_of(samples.begin(), samples.end(), [](const core::PowerSample& one) { return one.used; }))
    throw InputError(
        "nothing was measured: no sample is within a piece, less what is set aside\n  hint: longer pieces "
        "(--piece), a shorter --period; warnings above tell of sensors that stand still");
  print_summary(std::cerr, samples);
  return csv_of(samples);
}

void join(const Options& options) {
  write_rows(options.common.output,
             summarized(wattmeter_samples(options, read_from(options.pieces, calibration::read_pieces))));
}

/// Frequencies in Hz from "1.2GHz", "2300MHz"; "all" or "three" (the least, a middle one, the most) of those that can
/// be set below `root`. @throws core::UsageError for other texts and frequencies there twice, core::Error (bad_input)
/// if this host does not say which it can.
std::vector<double> frequencies_of(const std::vector<std::string>& texts, const std::string& root) {
  if (texts.empty()) return {};
  if (texts.size() == 1 && (texts.front() == "all" || texts.front() == "three")) {
    const calibration::FrequencyControl control(root);
    const std::vector<double>& states = control.states_hz();
    if (states.empty())
      throw InputError(
          "this host does not say which frequencies it has: no "
          "/sys/devices/system/cpu/cpu*/cpufreq\n  hint: without --frequencies they are left alone");
    if (texts.front() == "all" || states.size() <= 3) return states;
    return {states.back(), states[states.size() / 2], states.front()};
  }
  std::vector<double> frequencies = core::mapped(texts, core::parse_hertz);
  if (std::set<double>(frequencies.begin(), frequencies.end()).size() != frequencies.size())
    throw core::UsageError("--frequencies has one twice");
  return frequencies;
}

void complete(Options& options) {
  options.measure.root = options.root;
  options.measure.needs_sensors = options.meter.empty();
  options.measure.seed = options.design.seed;
  options.design.frequencies_hz = frequencies_of(options.frequencies, options.root);
  if (!(options.measure.period_s >= 0.01))
    throw core::UsageError("--period is " + significant(options.measure.period_s) + " s; expected at least 10 ms");
  const double least_s = options.measure.aside.begin_s + options.measure.aside.end_s + 2 * options.measure.period_s;
  if (least_s > options.design.piece_s)
    throw core::UsageError("--piece is " + significant(options.design.piece_s) + " s; expected at least " +
                           significant(least_s) + " s: what is set aside, and two readings");
}

/// Does the work that needs no MPI (--join, --dry-run). True if that was all.
bool without_mpi(Options& options) {
  require_other_file(options.common.output, {options.meter, options.pieces});
  if (!options.join) require_other_file(options.pieces, {options.meter});
  if (options.join) {
    if (options.meter.empty() || options.pieces.empty())
      throw core::UsageError("--join needs --meter, the wattmeter's rows, and --pieces, written while it measured");
    join(options);
    return true;
  }
  require_own_files({options.pieces, options.common.output, options.common.machine, options.common.monitoring});
  complete(options);
  if (!options.dry_run) return false;
  const int cores =
      options.cores > 0 ? options.cores : static_cast<int>(calibration::Topology::of_this_machine().cores().size());
  const auto design = of_options([&] { return calibration::make_power_design(options.design, cores); });
  write_result(options.common.output, [&](std::ostream& out) { calibration::write_design(out, design); });
  std::cerr << design.size() << " pieces, about " << significant(calibration::estimated_s(design) / 60, 3) << " min\n";
  return true;
}

/// The same number of ranks on every host: a piece has so many active cores on each.
int ranks_per_host(const calibration::World& world) {
  const double most = world.max(world.local_size()), least = -world.max(-world.local_size());
  if (most != least)
    throw InputError("hosts have " + significant(least, 6) + " to " + significant(most, 6) +
                     " ranks; expected one rank per core on each of them");
  return world.local_size();
}

/// Rows of all ranks, on rank 0. `mine`: a CSV, or nothing.
template <typename Row>
std::vector<Row> gathered(const calibration::World& world, const std::string& mine,
                          std::vector<Row> (*read)(std::istream& in, const std::string& name)) {
  std::vector<Row> rows;
  for (const std::string& text : world.gather(mine))
    if (!text.empty()) core::append(rows, read(core::TextStream(text), "rows of a rank"));
  return rows;
}

std::string measure(Options& options, const MeasuringRank& rank) {
  const bool root = rank.world.rank() == 0;
  const int ranks = ranks_per_host(rank.world);
  const auto design = of_options([&] { return calibration::make_power_design(options.design, ranks); });
  if (!options.meter.empty() && options.pieces.empty())
    options.pieces = (options.common.output.empty() ? "samples.csv" : options.common.output) + ".pieces.csv";
  if (root) require_writable(options.pieces);
  calibration::check_power_measurement(rank.world, design, options.measure);
  if (root && ranks < static_cast<int>(rank.topology.cores().size()))
    warn(std::to_string(ranks) + " ranks on a host with " + std::to_string(rank.topology.cores().size()) +
         " cores: the others stay idle");
  if (options.common.check) return "";
  Progress progress;
  if (root) {
    std::cerr << design.size() << " pieces, about " << significant(calibration::estimated_s(design) / 60, 3)
              << " min\n";
    options.measure.progress = [&](double fraction) { progress.update(fraction, "pieces"); };
  }
  const auto result = calibration::measure_power(rank.world, rank.place, design, options.measure);
  progress.clear();
  warn_all(result.troubles);
  const auto write_own = [&](std::ostream& out) { calibration::write_pieces(out, result.pieces); };
  auto samples = gathered(rank.world, csv_of(result.samples), core::read_power_csv);
  const auto runs =
      gathered(rank.world, result.pieces.empty() ? "" : core::written(write_own), calibration::read_pieces);
  if (!root) return "";
  if (!options.pieces.empty())
    write_rows(options.pieces, core::written([&](std::ostream& out) { calibration::write_pieces(out, runs); }));
  try {
    if (!options.meter.empty()) core::append(samples, wattmeter_samples(options, runs));
  } catch (const core::Error& error) {  // not all is lost
    const std::string text = std::string(error.what()) + "\n  --join takes " + options.pieces + " with other rows";
    if (samples.empty()) throw InputError(text);
    warn(text);
  }
  return summarized(samples);
}

void add_design_options(Command& app, Options& options) {
  app.add_option("--states", options.design.states,
                 "what active cores do besides being idle: " + core::comma_separated(calibration::power_states()),
                 by_commas, default_text(core::comma_separated(options.design.states)));
  app.add_option("--counts", options.design.counts, "how many cores are active (default: 1, a quarter, half, all)",
                 by_commas);
  app.add_option(
      "--frequencies", options.frequencies,
      "frequencies to set (cpufreq): such as 1.2GHz,2.3GHz; all; or three, the least, a middle one, the most "
      "(default: left alone)",
      by_commas);
  app.add_option("--repetitions", options.design.repetitions, "of all pieces, each in another random order",
                 with_default);
  app.add_option("--piece", options.design.piece_s, "length of a piece", as_seconds, with_default);
  app.add_option("--warm-up", options.design.warm_up_s, "dgemm on all cores before the first piece", as_seconds,
                 with_default);
  add_seed(app, options.design.seed, "of the random order");
  app.add_flag("--dry-run", options.dry_run, "print the pieces and their time, measure nothing");
  app.add_option("--cores", options.cores, "with --dry-run: cores of a host (default: of this machine)",
                 between(1, 100000));
}

void add_meter_options(Command& app, Options& options) {
  add_choices(app, "--sensors", options.measure.kinds, calibration::meter_kinds_by_name, "kinds of sensors to read");
  app.add_option("--root", options.root, "folder in which sys and dev are looked for", of_type("DIR"), existing_folder,
                 with_default);
  app.add_option("--period", options.measure.period_s, "between two readings", as_seconds, with_default);
  app.add_option("--set-aside", options.measure.aside.begin_s, "of each piece at its begin: marked, not used",
                 as_seconds, with_default);
  app.add_option("--set-aside-end", options.measure.aside.end_s, "the same at its end", as_seconds, with_default);
  app.add_option("--meter", options.meter, "CSV that a wattmeter writes meanwhile: time_s or time, power_w, maybe host",
                 of_type("METER.csv"));
  app.add_option("--most-offset", options.most_offset_s, "by which the wattmeter's clock may be off", as_seconds,
                 with_default);
  app.add_option("--pieces", options.pieces,
                 "CSV to write: when which piece ran (default: with --meter OUTPUT.pieces.csv)", of_type("PIECES.csv"));
  app.add_flag("--join", options.join, "measure nothing: join --pieces of an earlier measurement with --meter");
}

}  // namespace

int main(int argc, char** argv) {
  Command app("Measures what hosts draw while their cores compute, poll, wait and sleep.", "hplcast-measure-power");
  set_example(app, "hplcast-measure-power --dry-run --cores 4");
  Options options;
  options.common.takes_design = false;
  add_design_options(app, options);
  add_meter_options(app, options);
  add_measuring_options(app, options.common);
  options.common.without_mpi = [&] { return without_mpi(options); };
  return run_measuring_program(app, options.common, argc, argv,
                               [&](const MeasuringRank& rank, const std::string&) { return measure(options, rank); });
}
