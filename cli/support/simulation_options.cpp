#include "cli/support/simulation_options.hpp"

#include <algorithm>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/study/plot.hpp"

namespace hplcast::cli {

namespace {

/// "swap_threshold" to "--swap-threshold"; N, P and Q are one letter long.
std::string option_name(std::string field) {
  if (field == "N" || field == "P" || field == "Q") return "-" + field;
  std::replace(field.begin(), field.end(), '_', '-');
  return "--" + core::folded(field);
}

std::string description(const core::HplField& field, const core::HplParameters& defaults) {
  const std::string names = core::hpl_value_names(field.name);
  return "HPL's " + std::string(field.name) + (names.empty() ? "" : ": " + names) + " (default " +
         std::to_string(field.get(defaults)) + ")";
}

/// @throws as refuse_value()
long long value_of(const std::string& field, const std::string& text) {
  if (const auto value = core::hpl_value(field, text)) return *value;
  refuse_value(option_name(field),
               "cannot read `" + text + "`; expected " + core::hpl_value_expected(field) +
                   (text.find(',') == std::string::npos
                        ? ""
                        : "; several configurations are an HPL.dat, or a CSV with columns N, NB, P, Q"));
}

}  // namespace

Option* add_hpl_options(Command& command, core::HplParameters& parameters, const Setting& of_each) {
  Option* first = nullptr;
  for (const core::HplField& field : core::hpl_fields()) {
    const auto set = [&parameters, &field](const std::string& text) {
      field.set(parameters, value_of(field.name, text));
    };
    Option* option =
        command.add_option_function<std::string>(option_name(field.name), set, description(field, parameters));
    option->with(of_type(core::hpl_value_names(field.name).empty() ? "INT" : "INT|NAME"), in_group("HPL parameters"),
                 of_each);
    if (first == nullptr) first = option;
  }
  return first;
}

Option* add_hpl_levels(Command& command, const std::string& field, std::vector<int>& levels, const std::string& help) {
  const auto set = [&levels, field](const std::vector<std::string>& texts) {
    levels.clear();
    for (const std::string& text : texts) levels.push_back(static_cast<int>(value_of(field, text)));
  };
  const std::string otherwise = core::joined(levels, ",", [](int level) { return std::to_string(level); });
  const std::string names = core::hpl_value_names(field);
  return command.add_option_function<std::vector<std::string>>(
      option_name(field), set, "levels of " + field + help + (names.empty() ? "" : ": " + names), by_commas,
      of_type(names.empty() ? "INT" : "INT|NAME"), default_text(otherwise));
}

Option* add_for_hpl(Command& command, std::vector<long>& values, const std::string& help) {
  return command.add_option("--for-hpl", values, "N,NB,P,Q: " + help, by_commas, value_count(4),
                            between(1L, 2147483647L));
}

core::HplParameters grid_of(const std::vector<long>& values) {
  return {values[0], static_cast<int>(values[1]), static_cast<int>(values[2]), static_cast<int>(values[3])};
}

void add_simulation_mode(Command& command, study::SimulationMode& mode, const std::string& note) {
  add_choice(
      command, "--mode", mode,
      "exact: every message of HPL; fast: most exchanges inside panels are computed at once; auto: fast where it saves "
      "more than some seconds" +
          note);
}

void add_simulator(Command& command, study::SimulatorPrograms& programs) {
  command.add_option("--xhpl", programs.xhpl,
                     "the simulated HPL (default: xhpl-smpi next to hplcast, or $HPLCAST_XHPL_SMPI)", of_type("PATH"));
  command.add_option("--smpirun", programs.smpirun,
                     "SimGrid's smpirun (default: that of the SimGrid that hplcast was built with)", of_type("PATH"));
}

void add_timeout(Command& command, double& timeout_s, const std::string& what) {
  command.add_option("--timeout", timeout_s, "stop a " + what + " that takes longer (default: never)", as_time_limit);
}

void add_window_rule(Command& command, study::WindowRule& rule, const std::string& panels) {
  const auto take_rule = [&rule](const std::string& text) {
    try {
      rule = study::WindowRule::from(text);
    } catch (const core::DomainError& error) {
      refuse_value("--windows", error.what());
    }
  };
  command.add_option_function<std::string>(
      "--windows", take_rule,
      panels + ", off (all), or K windows of WIDTH panels after WARMUP panels (docs/use/sampled.md)",
      of_type("auto|off|K[:WIDTH[:WARMUP]]"), in_group("Sampled prediction"));
}

void add_windows(Command& command, study::PredictionRequest& request) {
  add_window_rule(command, request.windows,
                  "panels that are simulated: auto (a few windows of a run that would take more than 5 s)");
  command.add_option(
      "--target-error", request.target_error,
      "add windows until the 95 % error of a sampled prediction is at most this share of its time: 0.5%; that "
      "error is of the sampling only, not of the models",
      as_percentage, in_group("Sampled prediction"));
  request.window_jobs = 0;
  command.add_option("--windows-jobs", request.window_jobs,
                     "windows at a time, each in a process of its own; the result does not depend on it (default: as "
                     "many as there are cores for each of --jobs, and memory)",
                     between(1, 4096), in_group("Sampled prediction"));
  command.add_option(
      "--only-window", request.only_window,
      "simulate this window alone, counted from 0, into the folder of --keep: for job arrays (docs/use/sampled.md)",
      at_least_zero, in_group("Sampled prediction"));
}

void add_trace(Command& command, study::Observation& observation) {
  command.add_option("--trace", observation.trace, "trace of every rank, for Perfetto (Chrome's JSON)", writes("FILE"),
                     named_file, in_group("Observation"));
  command.add_option("--trace-ranks", observation.trace_ranks, "only these ranks in the trace: 0-31",
                     of_type("FIRST-LAST"), in_group("Observation"), needs("--trace"), first_to_last);
  const auto take_time = [&observation](const std::string& text) {
    const std::size_t colon = text.find(':');
    try {
      if (colon == std::string::npos) throw core::UsageError("expected BEGIN:END, such as 10s:12s");
      observation.trace_begin_s = core::parse_seconds(text.substr(0, colon));
      observation.trace_end_s = core::parse_seconds(text.substr(colon + 1));
      if (!(observation.trace_end_s > observation.trace_begin_s))
        throw core::UsageError("it ends before it begins; expected BEGIN:END, such as 10s:12s");
    } catch (const core::UsageError& error) {
      refuse_value("--trace-time", "found `" + text + "`: " + error.what());
    }
  };
  command.add_option_function<std::string>("--trace-time", take_time,
                                           "only what happens in this simulated time: 10s:12s", of_type("BEGIN:END"),
                                           in_group("Observation"), needs("--trace"));
}

void add_energy(Command& command, study::Observation& observation) {
  command.add_flag("--energy", observation.energy,
                   "energy, mean power and Gflop/s per W; the cluster must have `power` (docs/use/energy.md)",
                   in_group("Energy"));
  Option* trace = command.add_option("--power-trace", observation.power_trace,
                                     "power over time: CSV, or a picture (.svg, .png); turns on --energy",
                                     writes("FILE"), in_group("Energy"));
  command.add_option("--bin", observation.bin_s, "time that a row of --power-trace is the mean of (default 1s)",
                     as_time_limit, needs(trace), of_type("DURATION"), in_group("Energy"));
  command.add_flag("--power-hosts", observation.power_hosts, "a column for every host in --power-trace", needs(trace),
                   in_group("Energy"));
}

PowerTraceFile::PowerTraceFile(study::Observation& observation) {
  if (!observation.power_trace.empty()) observation.energy = true;
  const std::string ending = observation.power_trace.extension();
  if (ending == ".pdf" || ending == ".eps" || ending == ".jpg" || ending == ".jpeg")
    throw core::UsageError("--power-trace " + observation.power_trace.string() +
                           ": expected a name in .csv, or of a picture in .svg or .png");
  if (ending != ".svg" && ending != ".png") return;
  require_picture(observation.power_trace);
  picture_ = observation.power_trace;
  folder_.emplace("hplcast-power");
  csv_ = folder_->path() / "power.csv";
  observation.power_trace = csv_;
}

void PowerTraceFile::finish(const std::string& run) const {
  if (picture_.empty()) return;
  study::PlotPanel panel{"Power over time", "time [s]", "power [W]"};
  panel.y_from_0 = true;
  core::read_file(csv_, [&](std::istream& in, const std::string& name) {
    core::CsvReader reader(in, name);
    const std::size_t first = reader.column("power_w");
    const std::size_t begin = reader.column("time_s"), length = reader.column("duration_s");
    std::vector<study::PlotSeries*> columns;
    for (std::size_t column = first; column < reader.header().size(); ++column)
      columns.push_back(&panel.line(column == first ? "all hosts and the network" : reader.header()[column]));
    int rows = 0;
    for (; reader.next(); ++rows)
      for (const double at_s : {reader.number(begin), reader.number(begin) + reader.number(length)})
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i]->add(at_s, reader.number(first + i));
    constexpr int few = 10;
    if (rows < few) panel.note = "Means over the time of --bin: a shorter one shows more.";
  });
  write_picture(picture_, study::picture_file({run, {panel}}));
}

void tell_warnings(const std::vector<study::RunPlan>& plans) {
  std::set<std::string> warnings;
  for (const study::RunPlan& plan : plans) warnings.insert(plan.warnings().begin(), plan.warnings().end());
  for (const std::string& warning : warnings) warn(warning);
}

}  // namespace hplcast::cli
