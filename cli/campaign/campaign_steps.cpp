#include <algorithm>
#include <limits>
#include <optional>

#include "cli/campaign/campaign_section.hpp"
#include "cli/support/options.hpp"
#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/hpl_design.hpp"
#include "hplcast/calibration/measure_detours.hpp"
#include "hplcast/calibration/measure_power.hpp"
#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/calibration/power_design.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::cli {

namespace {

/// A step that is read. Many of its keys are options of the program, too: "set_aside" is --set-aside.
struct Step {
  Section& section;
  const CampaignCommon& common;
  calibration::CampaignStep result;
  /// Measured after it: messages without a background, dgemm without neighbours. `second_name` follows its name.
  std::optional<calibration::CampaignStep> second;
  std::string second_name;
  std::string left_out;  ///< why there is nothing to measure

  void pass(std::string key, const std::string& value) {
    std::replace(key.begin(), key.end(), '_', '-');
    result.arguments.insert(result.arguments.end(), {"--" + key, value});
  }
  void pass_number(const std::string& key, int& value) {
    section.read(key, value);
    pass(key, std::to_string(value));
  }
  void pass_seed(std::uint64_t& seed) {
    section.read("seed", seed);
    pass("seed", std::to_string(seed));
  }
  void pass_seconds(const std::string& key, double& seconds) {
    section.read_quantity(key, seconds, core::parse_seconds);
    pass(key, core::shortest(seconds));
  }
  void pass_list(const std::string& key, std::vector<std::string>& values) {
    section.read(key, values);
    if (!values.empty()) pass(key, core::joined(values, ","));
  }
  /// The text, or "" where there is none.
  std::string pass_text(const std::string& key) {
    std::string text;
    section.read(key, text);
    if (!text.empty()) pass(key, text);
    return text;
  }
  void pass_above(double limit, const std::string& key, double (*parse)(const std::string&)) {
    double value = limit;
    section.read_quantity(key, value, parse);
    if (!section.has(key)) return;
    if (!(value > limit))
      section.fail(key, "is " + core::shortest(value) + "; expected more than " + core::shortest(limit));
    pass(key, core::shortest(value));
  }

  /// The design that `make()` makes, and what `seconds(design)` says that it takes.
  template <typename Make, typename Seconds>
  void measure(Make make, Seconds seconds) {
    section.at("", [&] {
      const auto design = make();
      result.design = core::written([&](std::ostream& out) { write_design(out, design); });
      result.rows = design.size();
      result.may_be_shortened = true;
      result.estimated_s = seconds(design);
    });
  }
};

core::HplParameters read_grid(Section& section) {
  std::vector<long> values;
  section.read("for_hpl", values);
  if (values.size() != 4) section.fail("for_hpl", "expected four numbers: [N, NB, P, Q]");
  for (const long value : values)
    if (value < 1 || value > std::numeric_limits<int>::max())
      section.fail("for_hpl", "found " + std::to_string(value) + "; expected numbers from 1 to 2147483647");
  return {values[0], static_cast<int>(values[1]), static_cast<int>(values[2]), static_cast<int>(values[3])};
}

void dgemm_step(Step& step) {
  Section& section = step.section;
  calibration::DgemmDesignOptions options;
  options.seed = step.common.seed;
  section.read("nb", options.nb);
  section.read("nbmin", options.nbmin);
  section.read("max_size", options.max_size);
  section.read("count", options.count);
  section.read("repetitions", options.repetitions);
  section.read_quantity("minority", options.minority, parse_ratio);
  section.read("k", options.extra_k);
  section.read("independent", options.independent);
  bool common_shapes = true;
  section.read("common", common_shapes);
  if (common_shapes) options.common = calibration::common_shapes(options.max_size);
  section.read("seed", options.seed);
  section.read_each("content", options.contents, calibration::Content::parse);
  if (section.has("for_hpl")) {
    const core::HplParameters grid = read_grid(section);
    section.at("for_hpl", [&] { options.updates = calibration::hpl_update_shapes(grid); });
    options.transposition = grid.P > 1 ? calibration::Transposition::yes : calibration::Transposition::no;
  }
  double budget_s = 0, rate_flop_per_s = 2e10;
  section.read_quantity("budget", budget_s, core::parse_seconds);
  section.read_quantity("rate", rate_flop_per_s, core::parse_flop_per_s);
  const auto measure = [&](const calibration::DgemmDesignOptions& calls, double within_s) {
    step.measure(
        [&] {
          return within_s > 0 ? calibration::make_dgemm_design_within(calls, within_s, rate_flop_per_s)
                              : calibration::make_dgemm_design(calls);
        },
        [&](const calibration::DgemmDesign& design) { return calibration::estimated_s(design, rate_flop_per_s); });
  };
  bool alone = step.common.ranks_per_host > 1;
  section.read("alone", alone);
  if (alone) {
    constexpr long part = 6, fewest = 36;
    calibration::DgemmDesignOptions some = options;
    some.count = std::max(fewest, options.count / part);
    some.common.clear();
    measure(some, budget_s / static_cast<double>(part));
    step.second = step.result;
    step.second->arguments.push_back("--alone");
    step.second->estimated_s *= 2;  // each call twice
    step.second_name = "-alone";
  }
  options.aliased = true;
  section.read("aliased", options.aliased);
  measure(options, budget_s);
}

void mpi_step(Step& step) {
  Section& section = step.section;
  calibration::MpiDesignOptions options;
  options.seed = step.common.seed;
  double min_bytes = 1, max_bytes = 1 << 20;
  section.read_quantity("min_bytes", min_bytes, core::parse_bytes);
  section.read_quantity("max_bytes", max_bytes, core::parse_bytes);
  options.min_bytes = static_cast<long>(min_bytes);
  options.max_bytes = static_cast<long>(max_bytes);
  section.read("count", options.count);
  section.read("repetitions", options.repetitions);
  section.read("seed", options.seed);
  section.read_each("operations", options.operations, core::from_name<calibration::MpiOperation>);
  if (section.has("for_hpl")) {
    const core::HplParameters grid = read_grid(section);
    section.at("for_hpl", [&] { options.among = calibration::hpl_message_bytes(grid); });
    if (options.among.empty()) section.fail("for_hpl", "an HPL run on one process sends no messages");
  }
  for (const char* option : {"pattern", "background", "scope"}) step.pass_text(option);
  const auto seconds = [](const calibration::MpiDesign& design) { return calibration::estimated_s(design); };
  const auto measure_repetitions = [&](bool odd) {
    const auto make = [&] {
      calibration::MpiDesign design;
      for (const calibration::MpiCall& call : calibration::make_mpi_design(options))
        if ((call.repetition % 2 == 1) == odd) design.push_back(call);
      return design;
    };
    step.measure(make, seconds);
  };
  if (section.has("background")) return step.measure([&] { return calibration::make_mpi_design(options); }, seconds);
  if (options.repetitions > 1) {
    measure_repetitions(true);
    step.second = step.result;
    step.second_name = "-idle";
  }
  measure_repetitions(false);
  step.pass("background", "dgemm+iprobe");
}

/// Messages of a step that compares pairs.
struct Compared {
  std::uint64_t seed;
  int repetitions = 20;
  double bytes;

  Compared(Step& step, double usual_bytes) : seed(step.common.seed), bytes(usual_bytes) {
    step.section.read("repetitions", repetitions);
    step.section.read_quantity("bytes", bytes, core::parse_bytes);
    step.section.read("seed", seed);
    if (repetitions < 1 || repetitions > 100000) step.section.fail("repetitions", "expected 1 to 100000");
    if (!(bytes >= 64 * 1024 && bytes <= std::numeric_limits<int>::max()))
      step.section.fail("bytes", "expected 64 KiB to 2 GiB: of the messages that show the bandwidth");
  }
  long size() const { return static_cast<long>(bytes); }
  /// All calls so often, in random order, each with so many turns.
  void measure(Step& step, const std::vector<calibration::MpiCall>& calls, std::uint32_t stream, double turns) const {
    calibration::MpiDesign design;
    for (int repetition = 0; repetition < repetitions; ++repetition)
      for (const calibration::MpiCall& call : calls)
        design.push_back({call.operation, call.size_bytes, repetition, call.pairs});
    core::RandomStream random({seed, core::stream_design, stream, 0, 0});
    core::shuffle(design, random);
    step.measure([&] { return design; },
                 [&](const calibration::MpiDesign& rows) { return calibration::estimated_s(rows) * turns; });
  }
};

/// Latency and bandwidth between all pairs of hosts, or of the ranks of one. Left out if there are fewer than three.
void pairs_step(Step& step) {
  const CampaignCommon& common = step.common;
  const Compared messages(step, 1 << 20);
  step.pass("pattern", "all-pairs");
  const bool local = step.pass_text("scope") == "local";
  step.pass_text("background");
  const int places = local ? common.ranks_per_host : common.ranks / std::max(1, common.ranks_per_host);
  if (places < 3) {
    step.left_out = std::string("all pairs need three ") + (local ? "ranks on a host" : "hosts") + ", and there " +
                    (places == 1 ? "is 1" : "are " + std::to_string(places)) + "; see `fit topology`";
    return;
  }
  messages.measure(step,
                   {{calibration::MpiOperation::pingpong, 1}, {calibration::MpiOperation::pingpong, messages.size()}},
                   2, places);
}

/// Messages between each CPU of a host and each of another, one pair of ranks after the other; then (`second`) of many
/// pairs of one CPU, and of two, at once.
void rails_step(Step& step) {
  const Compared messages(step, 1 << 22);
  int pairs = 8;
  step.section.read("pairs", pairs);
  if (pairs < 2 || pairs > 4096) step.section.fail("pairs", "expected 2 to 4096: one pair may not fill a card");
  step.pass("pattern", "cpus");
  step.pass_text("background");
  if (!step.common.several_hosts) {
    step.left_out = "cards are told by messages between two hosts, and there is one";
    return;
  }
  constexpr double turns = 4;  // of two CPUs
  messages.measure(step, {{calibration::MpiOperation::one_way, messages.size(), 0, pairs}}, 4, turns);
  step.second = step.result;
  step.second_name = "-together";
  messages.measure(step,
                   {{calibration::MpiOperation::pingpong, 1}, {calibration::MpiOperation::pingpong, messages.size()}},
                   3, turns);
}

/// As many pairs at once as there are ranks for, unless the file says how many. Left out if there are too few ranks for
/// two pairs.
void saturation_step(Step& step) {
  Section& section = step.section;
  const CampaignCommon& common = step.common;
  calibration::SaturationDesignOptions options;
  options.seed = common.seed;
  double max_bytes = static_cast<double>(options.max_bytes), min_bytes = 0;
  section.read_quantity("max_bytes", max_bytes, core::parse_bytes);
  section.read_quantity("min_bytes", min_bytes, core::parse_bytes);
  options.max_bytes = static_cast<long>(max_bytes);
  options.min_bytes = min_bytes > 0 ? static_cast<long>(min_bytes) : std::min(options.min_bytes, options.max_bytes);
  section.read("count", options.count);
  section.read("repetitions", options.repetitions);
  section.read("seed", options.seed);
  step.pass("pattern", "saturated");
  const bool between_hosts = step.pass_text("scope") != "local" && common.several_hosts;
  step.pass_text("background");
  const int most = between_hosts ? common.ranks_per_host : common.ranks_per_host / 2;
  options.pairs = calibration::doubling_pairs(std::max(1, most));
  section.read("pairs", options.pairs);
  if (most < 2) {
    step.left_out = "two pairs of ranks at once need " +
                    std::string(between_hosts ? "two ranks on each host" : "four ranks on the host") + ", and there " +
                    (common.ranks_per_host == 1 ? "is 1" : "are " + std::to_string(common.ranks_per_host)) +
                    "; the capacity for several messages stays unknown";
    return;
  }
  if (!options.pairs.empty() && *std::max_element(options.pairs.begin(), options.pairs.end()) > most)
    section.fail("pairs", "there are ranks for at most " + std::to_string(most) + " pairs at once");
  step.measure(
      [&] { return calibration::make_saturation_design(options); },
      [&](const calibration::MpiDesign& design) { return calibration::estimated_s(design) * (between_hosts ? 2 : 1); });
}

void thresholds_step(Step& step) {
  step.result.extension = "json";
  step.result.estimated_s = 10;
  step.pass_above(0, "max_bytes", core::parse_bytes);
  step.pass_text("scope");
}

/// A study of what a detector of detours sees (docs/use/detours.md).
void detours_step(Step& step) {
  calibration::SeriesPlan series;
  std::vector<std::string> levels = {"1%"};
  double run_time_s = 5;
  step.pass("method", "collectives");
  step.pass_list("levels", levels);
  step.pass_number("runs", series.runs);
  step.pass_number("warm_up", series.warm_up);
  step.pass_seed(series.seed);
  step.pass_seconds("run_time", run_time_s);
  step.pass_text("operation");
  step.pass_above(0, "period", core::parse_seconds);
  step.pass_above(0, "size", core::parse_bytes);
  step.section.at("levels", [&] {
    for (const std::string& level : levels) series.levels.push_back(parse_percentage(level));
  });
  step.section.at("", [&] {
    step.result.estimated_s = 1 + run_time_s * static_cast<double>(calibration::make_series(series).size());
  });
  if (step.common.ranks < 2) step.left_out = "a collective of one rank waits for nobody";
}

/// The runs that hplcast-measure-kernels will read: checked before anything is measured.
std::vector<core::HplParameters> runs_of(const Section& section, const std::string& table) {
  std::vector<core::HplParameters> runs;
  section.at("runs", [&] {
    core::CsvReader csv(core::TextStream(table), "runs");
    core::refuse_unknown_hpl_columns(csv);
    csv.column("N");
    while (csv.next()) runs.push_back(core::read_hpl_fields(csv, {}));
  });
  return runs;
}

/// A table of HPL parameters by name, as hplcast-measure-kernels reads it.
void kernels_step(Step& step) {
  Section& section = step.section;
  const CampaignCommon& common = step.common;
  calibration::CampaignStep& result = step.result;
  result.design_option = "--configurations";
  result.is_mpi = false;
  long max_rows = 0;
  section.read("max_rows", max_rows);
  if (section.has("max_rows") && max_rows < 1) section.fail("max_rows", "expected at least 1");
  if (max_rows > 0) step.pass("max_rows", std::to_string(max_rows));
  const YAML::Node runs = section.list("runs");
  if (!runs.IsDefined() || runs.size() == 0 || !runs[0].IsMap())
    section.fail("runs", "expected a list of runs such as {N: 2000, NB: 128, P: 1, Q: 2}");
  std::vector<std::string> columns;
  for (const auto& field : runs[0]) columns.push_back(field.first.as<std::string>());
  result.design = core::joined(columns, ",") + "\n";
  for (const YAML::Node& run : runs) {
    if (!run.IsMap() || run.size() != columns.size())
      section.fail("runs", "all runs must have the same keys as the first");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!run[columns[i]].IsDefined()) section.fail("runs", "a run lacks `" + columns[i] + "`");
      result.design += (i == 0 ? "" : ",") + run[columns[i]].as<std::string>();
    }
    result.design += '\n';
  }
  const std::vector<core::HplParameters> configurations = runs_of(section, result.design);
  bool aliased = true;
  section.read("aliased", aliased);
  for (const core::HplParameters& run : configurations) {
    if (run.P * run.Q > common.ranks && !common.oversubscribe)
      section.fail("runs", core::printed("P x Q = %d x %d needs %d ranks; expected at most %d, those of the campaign",
                                         run.P, run.Q, run.P * run.Q, common.ranks));
    section.at("runs", [&] { core::require_real_size(run, 1, common.free_bytes); });
  }
  constexpr double flop_per_s = 1e10;  // of a core
  result.rows = configurations.size();
  result.estimated_s = calibration::estimated_s(configurations, flop_per_s);
  if (!aliased) return;
  step.second = step.result;
  step.second_name = "-aliased";
  const std::vector<core::HplParameters> pairs = calibration::make_aliased_design(configurations);
  step.second->design = core::written([&](std::ostream& out) { calibration::write_design(out, pairs); });
  step.second->rows = pairs.size();
  step.second->estimated_s = calibration::estimated_s(pairs, flop_per_s);
}

/// The power of hosts (docs/use/power-measuring.md).
void power_step(Step& step) {
  calibration::PowerDesignOptions design;
  design.seed = step.common.seed;
  std::vector<std::string> frequencies, sensors;
  step.section.read("states", design.states);
  step.pass("states", core::joined(design.states, ","));  // the program refuses none: it would take its own
  step.section.read("counts", design.counts);
  if (!design.counts.empty())
    step.pass("counts", core::joined(design.counts, ",", [](int count) { return std::to_string(count); }));
  step.pass_list("frequencies", frequencies);
  step.pass_list("sensors", sensors);
  step.pass_number("repetitions", design.repetitions);
  step.pass_seed(design.seed);
  step.pass_seconds("piece", design.piece_s);
  step.pass_seconds("warm_up", design.warm_up_s);
  step.pass_above(0, "period", core::parse_seconds);
  step.pass_above(-1, "set_aside", core::parse_seconds);
  step.pass_above(-1, "set_aside_end", core::parse_seconds);
  const std::string word = frequencies.size() == 1 ? frequencies.front() : "";
  const std::size_t count = word == "all"     ? calibration::FrequencyControl().states_hz().size()
                            : word == "three" ? 3
                                              : frequencies.size();
  step.section.at("", [&] {
    const double pieces = calibration::estimated_s(calibration::make_power_design(design, step.common.ranks_per_host));
    step.result.estimated_s = pieces * static_cast<double>(std::max<std::size_t>(1, count));
  });
}

/// A command of the user (docs/use/doctor.md#a-step-of-your-own).
void own_step(Step& step) {
  calibration::CampaignStep& result = step.result;
  std::vector<std::string> words;
  std::string name;
  int repetitions = 10;
  step.section.read("name", name);
  if (name.empty() ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos)
    step.section.fail("name", "expected letters, digits and _");
  step.section.read("command", words);
  if (words.empty()) step.section.fail("command", "expected a list of words, such as [./stream, --csv]");
  step.section.read("repetitions", repetitions);
  if (repetitions < 1 || repetitions > 100000) step.section.fail("repetitions", "expected 1 to 100000");
  double each_s = 1;
  result.time_limit_s = 600;
  step.section.read_quantity("seconds", each_s, core::parse_seconds);
  step.section.read_quantity("time_limit", result.time_limit_s, core::parse_seconds);
  if (!(each_s > 0)) step.section.fail("seconds", "expected a time above 0");
  if (!(result.time_limit_s > 0)) step.section.fail("time_limit", "expected a time above 0");
  const bool is_path = words.front().find('/') != std::string::npos;
  result.program = is_path ? std::filesystem::absolute(words.front()) : core::find_program(words.front());
  if (result.program.empty() || !std::filesystem::exists(result.program))
    step.section.fail("command", "there is no program " + words.front());
  result.arguments.assign(words.begin() + 1, words.end());
  result.is_own = true;
  result.is_mpi = false;
  result.rows = static_cast<std::size_t>(repetitions);
  result.estimated_s = each_s * repetitions;
  result.name = "own-" + name;
}

struct Kind {
  const char* program;
  void (*read)(Step& step);
};

const std::map<std::string, Kind> kinds = {{"detours", {"hplcast-measure-detours", detours_step}},
                                           {"dgemm", {"hplcast-measure-dgemm", dgemm_step}},
                                           {"kernels", {"hplcast-measure-kernels", kernels_step}},
                                           {"mpi", {"hplcast-measure-mpi", mpi_step}},
                                           {"own", {"", own_step}},
                                           {"pairs", {"hplcast-measure-mpi", pairs_step}},
                                           {"power", {"hplcast-measure-power", power_step}},
                                           {"rails", {"hplcast-measure-mpi", rails_step}},
                                           {"saturation", {"hplcast-measure-mpi", saturation_step}},
                                           {"thresholds", {"hplcast-measure-thresholds", thresholds_step}}};

}  // namespace

std::vector<calibration::CampaignStep> read_step(const YAML::Node& node, const std::string& file, std::size_t number,
                                                 CampaignCommon common, std::string& left_out) {
  const std::string place = "steps[" + std::to_string(number) + "]";
  Section outer(node, file, place);
  const std::string names = "expected one of " + core::joined(kinds, ", ", [](const auto& kind) { return kind.first; });
  if (!node.IsMap() || node.size() != 1) outer.fail("", names + " with its values");
  const std::string name = node.begin()->first.as<std::string>();
  Section section(node.begin()->second, file, place + "." + name);
  const auto kind = kinds.find(name);
  if (kind == kinds.end()) outer.fail(name, "unknown step; " + names);
  common.seed += number;  // two steps of one kind measure different calls
  Step step{section, common, {}, {}, {}, {}};
  if (*kind->second.program != '\0') step.result.program = common.programs / kind->second.program;
  kind->second.read(step);
  std::vector<std::string> options;
  section.read("options", options);
  section.finish();
  step.result.name = core::printed("%02zu-", number + 1) + (step.result.is_own ? step.result.name : name);
  left_out = step.left_out;
  std::vector<calibration::CampaignStep> steps = {step.result};
  if (step.second) {
    steps.push_back(*step.second);
    steps.back().name = step.result.name + step.second_name;
  }
  for (calibration::CampaignStep& one : steps)
    one.arguments.insert(one.arguments.end(), options.begin(), options.end());
  return steps;
}

}  // namespace hplcast::cli
