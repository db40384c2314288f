#include "campaign_yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

#include "hplcast/calibration/collective_series.hpp"
#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/hpl_calls.hpp"
#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/calibration/topology.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/hpl_columns.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/names.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/core/units.hpp"
#include "hplcast/core/yaml_keys.hpp"
#include "quantities.hpp"

namespace hplcast::cli {

namespace fs = std::filesystem;

namespace {

/// A mapping of a YAML file whose keys are asked for one by one; what nobody asks for is an error.
class Section {
 public:
  Section(const YAML::Node& node, std::string file, std::string name)
      : node_(node), file_(std::move(file)), name_(std::move(name)) {
    if (!node_.IsDefined() || node_.IsNull()) return;
    if (!node_.IsMap()) fail("", "found something else than keys with values");
  }

  bool has(const std::string& key) {
    known_.insert(key);
    return node_.IsMap() && node_[key].IsDefined() && !node_[key].IsNull();
  }

  /// Sets `value` if the key is there.
  template <typename T>
  void read(const std::string& key, T& value) {
    if (!has(key)) return;
    try {
      value = node_[key].as<T>();
    } catch (const YAML::Exception&) {
      fail(key, "the value does not have the type expected here");
    }
  }

  /// Values with units, such as 64KiB or 30s.
  void read_quantity(const std::string& key, double& value, double (*parse)(const std::string&)) {
    std::string text;
    read(key, text);
    if (text.empty()) return;
    try {
      value = parse(text);
    } catch (const core::Error& error) {
      fail(key, error.what());
    }
  }

  YAML::Node list(const std::string& key) {
    if (!has(key)) return {};
    if (!node_[key].IsSequence()) fail(key, "expected a list");
    return node_[key];
  }

  /// Runs `action`, and says where if a value turns out to be wrong.
  template <typename Action>
  void at(const std::string& key, Action action) {
    try {
      action();
    } catch (const core::DomainError& error) {
      fail(key, error.what());
    }
  }

  /// @throws ParseError for keys that nobody has asked for.
  void finish() const {
    if (!node_.IsMap()) return;
    for (const auto& entry : node_) {
      const std::string key = entry.first.as<std::string>();
      if (known_.count(key) != 0) continue;
      throw core::ParseError(location(entry.first, key), "unknown key",
                             core::name_hint(key, {known_.begin(), known_.end()}));
    }
  }

  [[noreturn]] void fail(const std::string& key, const std::string& message) const {
    const YAML::Node at = !key.empty() && node_.IsMap() && node_[key].IsDefined() ? node_[key] : node_;
    throw core::ParseError(location(at, key), message);
  }

 private:
  core::Location location(const YAML::Node& node, const std::string& key) const {
    const int line = node.Mark().line;
    return {file_, line < 0 ? 0 : static_cast<std::size_t>(line) + 1,
            name_ + (name_.empty() || key.empty() ? "" : ".") + key};
  }

  YAML::Node node_;
  std::string file_, name_;
  std::set<std::string> known_;
};

/// What all steps have.
struct Common {
  std::uint64_t seed = 1;
  fs::path programs;
  int ranks_per_host = 1;
  bool several_hosts = false;
  int ranks = 1;  ///< of all hosts
  bool oversubscribe = false;
};

calibration::HplGrid read_grid(Section& section) {
  std::vector<long> values;
  section.read("for_hpl", values);
  if (values.size() != 4) section.fail("for_hpl", "expected four numbers: [N, NB, P, Q]");
  return {values[0], static_cast<int>(values[1]), static_cast<int>(values[2]), static_cast<int>(values[3])};
}

template <typename Design>
std::string csv_of(const Design& design) {
  std::ostringstream text;
  write_design(text, design);
  return text.str();
}

calibration::CampaignStep dgemm_step(Section& section, const Common& common) {
  calibration::DgemmDesignOptions options;
  options.seed = common.seed;
  section.read("nb", options.nb);
  section.read("nbmin", options.nbmin);
  section.read("max_size", options.max_size);
  section.read("count", options.count);
  section.read("repetitions", options.repetitions);
  section.read("minority", options.minority);
  section.read("k", options.extra_k);
  section.read("independent", options.independent);
  bool common_shapes = true;
  section.read("common", common_shapes);
  if (common_shapes) options.common = calibration::common_shapes(options.max_size);
  section.read("seed", options.seed);
  if (section.has("content")) {
    std::vector<std::string> contents;
    section.read("content", contents);
    options.contents.clear();
    section.at("content", [&] {
      for (const std::string& text : contents) options.contents.push_back(calibration::Content::parse(text));
    });
  }
  if (section.has("for_hpl")) {
    const calibration::HplGrid grid = read_grid(section);
    section.at("for_hpl", [&] { options.updates = calibration::hpl_update_shapes(grid); });
    options.transposition = grid.P > 1 ? calibration::Transposition::yes : calibration::Transposition::no;
  }
  double budget_s = 0, rate_flop_per_s = 2e10;
  section.read_quantity("budget", budget_s, core::parse_seconds);
  section.read("rate", rate_flop_per_s);
  calibration::CampaignStep step;
  step.program = common.programs / "hplcast-measure-dgemm";
  section.at("", [&] {
    const calibration::DgemmDesign design =
        budget_s > 0 ? calibration::make_dgemm_design_within(options, budget_s, rate_flop_per_s)
                     : calibration::make_dgemm_design(options);
    step.design = csv_of(design);
    step.rows = design.size();
    step.may_be_shortened = true;
    step.estimated_s = calibration::estimated_s(design, rate_flop_per_s);
  });
  return step;
}

calibration::CampaignStep mpi_step(Section& section, const Common& common) {
  calibration::MpiDesignOptions options;
  options.seed = common.seed;
  double min_bytes = 1, max_bytes = 1 << 20;
  section.read_quantity("min_bytes", min_bytes, core::parse_bytes);
  section.read_quantity("max_bytes", max_bytes, core::parse_bytes);
  options.min_bytes = static_cast<long>(min_bytes);
  options.max_bytes = static_cast<long>(max_bytes);
  section.read("count", options.count);
  section.read("repetitions", options.repetitions);
  section.read("seed", options.seed);
  if (section.has("operations")) {
    std::vector<std::string> names;
    section.read("operations", names);
    options.operations.clear();
    section.at("operations", [&] {
      for (const std::string& name : names) options.operations.push_back(calibration::mpi_operation_from_name(name));
    });
  }
  if (section.has("for_hpl")) {
    const calibration::HplGrid grid = read_grid(section);
    section.at("for_hpl", [&] { options.among = calibration::hpl_message_bytes(grid); });
    if (options.among.empty()) section.fail("for_hpl", "an HPL run on one process sends no messages");
  }
  calibration::CampaignStep step;
  step.program = common.programs / "hplcast-measure-mpi";
  for (const char* option : {"pattern", "background", "scope"}) {
    std::string value;
    section.read(option, value);
    if (!value.empty()) step.arguments.insert(step.arguments.end(), {std::string("--") + option, value});
  }
  section.at("", [&] {
    const calibration::MpiDesign design = calibration::make_mpi_design(options);
    step.design = csv_of(design);
    step.rows = design.size();
    step.may_be_shortened = true;
    step.estimated_s = calibration::estimated_s(design);
  });
  return step;
}

/// As many pairs at once as there are ranks for, unless the file says how many. No design and a reason in `left_out` if
/// there are too few ranks for two pairs.
calibration::CampaignStep saturation_step(Section& section, const Common& common, std::string& left_out) {
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
  calibration::CampaignStep step;
  step.program = common.programs / "hplcast-measure-mpi";
  step.arguments = {"--pattern", "saturated"};
  std::string scope, background;
  section.read("scope", scope);
  section.read("background", background);
  if (!scope.empty()) step.arguments.insert(step.arguments.end(), {"--scope", scope});
  if (!background.empty()) step.arguments.insert(step.arguments.end(), {"--background", background});
  const bool between_hosts = common.several_hosts && scope != "local";
  const int most = between_hosts ? common.ranks_per_host : common.ranks_per_host / 2;
  options.pairs = calibration::doubling_pairs(std::max(1, most));
  section.read("pairs", options.pairs);
  if (most < 2) {
    left_out = "two pairs of ranks at once need " +
               std::string(between_hosts ? "two ranks on each host" : "four ranks on the host") + ", and there " +
               (common.ranks_per_host == 1 ? "is 1" : "are " + std::to_string(common.ranks_per_host)) +
               "; the capacity for several messages stays unknown";
    return step;
  }
  if (!options.pairs.empty() && *std::max_element(options.pairs.begin(), options.pairs.end()) > most)
    section.fail("pairs", "there are ranks for at most " + std::to_string(most) + " pairs at once");
  section.at("", [&] {
    const calibration::MpiDesign design = calibration::make_saturation_design(options);
    step.design = csv_of(design);
    step.rows = design.size();
    step.may_be_shortened = true;
    step.estimated_s = calibration::estimated_s(design) * (between_hosts ? 2 : 1);
  });
  return step;
}

calibration::CampaignStep thresholds_step(Section& section, const Common& common) {
  calibration::CampaignStep step;
  step.program = common.programs / "hplcast-measure-thresholds";
  step.extension = "json";
  step.estimated_s = 10;
  double max_bytes = 0;
  section.read_quantity("max_bytes", max_bytes, core::parse_bytes);
  if (max_bytes > 0) step.arguments = {"--max-bytes", core::shortest(max_bytes)};
  std::string scope;
  section.read("scope", scope);
  if (!scope.empty()) step.arguments.insert(step.arguments.end(), {"--scope", scope});
  return step;
}

/// A study of what a detector of detours sees (docs/detours.md). `left_out` says why there is nothing to measure.
calibration::CampaignStep detours_step(Section& section, const Common& common, std::string& left_out) {
  calibration::CampaignStep step;
  step.program = common.programs / "hplcast-measure-detours";
  step.arguments = {"--method", "collectives"};
  calibration::SeriesPlan series;
  std::vector<std::string> levels = {"1%"};
  std::string operation;
  double run_time_s = 5, size_bytes = 0, period_s = 0;
  section.read("operation", operation);
  section.read("levels", levels);
  section.read("runs", series.runs);
  section.read("warm_up", series.warm_up);
  section.read("seed", series.seed);
  section.read_quantity("run_time", run_time_s, core::parse_seconds);
  section.read_quantity("period", period_s, core::parse_seconds);
  section.read_quantity("size", size_bytes, core::parse_bytes);
  std::string all_levels;
  for (const std::string& level : levels) {
    std::string share = level;
    const std::string problem = as_percentage()(share);
    if (!problem.empty()) section.fail("levels", problem);
    series.levels.push_back(std::stod(share));
    all_levels += (all_levels.empty() ? "" : ",") + level;
  }
  section.at("",
             [&] { step.estimated_s = 1 + run_time_s * static_cast<double>(calibration::make_series(series).size()); });
  const auto add = [&](const char* option, const std::string& value) {
    step.arguments.insert(step.arguments.end(), {option, value});
  };
  add("--levels", all_levels);
  add("--runs", std::to_string(series.runs));
  add("--warm-up", std::to_string(series.warm_up));
  add("--seed", std::to_string(series.seed));
  add("--run-time", core::shortest(run_time_s));
  if (!operation.empty()) add("--operation", operation);
  if (period_s > 0) add("--period", core::shortest(period_s));
  if (size_bytes > 0) add("--size", core::shortest(size_bytes));
  if (common.ranks < 2) left_out = "a collective of one rank waits for nobody";
  return step;
}

/// What hplcast-measure-kernels will read: looked at before anything is measured.
std::vector<core::HplParameters> runs_of(const Section& section, const std::string& table) {
  std::vector<core::HplParameters> runs;
  try {
    std::istringstream rows(table);
    core::CsvReader csv(rows, "runs");
    core::refuse_unknown_hpl_columns(csv);
    csv.column("N");
    while (csv.next()) runs.push_back(core::read_hpl_fields(csv, {}));
  } catch (const core::Error& error) {
    section.fail("runs", error.what());
  }
  return runs;
}

/// A table of HPL parameters by name, as hplcast-measure-kernels reads it.
calibration::CampaignStep kernels_step(Section& section, const Common& common) {
  calibration::CampaignStep step;
  step.program = common.programs / "hplcast-measure-kernels";
  step.design_option = "--configurations";
  step.is_mpi = false;
  step.estimated_s = 0;
  long max_rows = 0;
  section.read("max_rows", max_rows);
  if (section.has("max_rows") && max_rows < 1) section.fail("max_rows", "expected at least 1");
  if (max_rows > 0) step.arguments = {"--max-rows", std::to_string(max_rows)};
  const YAML::Node runs = section.list("runs");
  if (!runs.IsDefined() || runs.size() == 0)
    section.fail("runs", "expected a list of runs such as {N: 2000, NB: 128, P: 1, Q: 2}");
  std::vector<std::string> columns;
  for (const auto& field : runs[0]) columns.push_back(field.first.as<std::string>());
  for (std::size_t i = 0; i < columns.size(); ++i) step.design += (i == 0 ? "" : ",") + columns[i];
  step.design += '\n';
  for (const YAML::Node& run : runs) {
    if (!run.IsMap() || run.size() != columns.size())
      section.fail("runs", "all runs must have the same keys as the first");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!run[columns[i]].IsDefined()) section.fail("runs", "a run lacks `" + columns[i] + "`");
      step.design += (i == 0 ? "" : ",") + run[columns[i]].as<std::string>();
    }
    step.design += '\n';
  }
  for (const core::HplParameters& run : runs_of(section, step.design)) {
    if (run.P * run.Q > common.ranks && !common.oversubscribe) {
      section.fail("runs", "P x Q = " + std::to_string(run.P) + " x " + std::to_string(run.Q) + " needs " +
                               std::to_string(run.P * run.Q) + " ranks; expected at most " +
                               std::to_string(common.ranks) + ", those of the campaign");
    }
    ++step.rows;
    step.estimated_s += 2 + core::hpl_flop(static_cast<double>(run.N)) / 1e10;
  }
  return step;
}

/// Number of hosts of the Slurm job around us; 0: there is none.
int slurm_hosts() {
  const char* count = std::getenv("SLURM_JOB_NUM_NODES");
  return count == nullptr ? 0 : std::max(1, std::atoi(count));
}

/// Who measures: the hosts of the file, those of the Slurm job (the launcher knows them), or this machine.
void read_launch(Section& section, calibration::CampaignPlan& plan, Common& common) {
  const int cores = static_cast<int>(calibration::Topology::of_this_machine().cores().size());
  std::vector<std::string> hosts;
  section.read("hosts", hosts);
  plan.hosts = hosts;
  int ranks_per_host = cores;
  section.read("ranks_per_host", ranks_per_host);
  if (ranks_per_host < 1) section.fail("ranks_per_host", "expected at least 1");
  section.read("allow_oversubscription", plan.launch.oversubscribe);
  const bool alone = hosts.empty() && slurm_hosts() == 0;
  if (alone && ranks_per_host > cores && !plan.launch.oversubscribe) {
    section.fail("ranks_per_host", "this machine has " + std::to_string(cores) +
                                       " cores; `allow_oversubscription: true` allows it, and marks the results");
  }
  section.read("bind", plan.launch.bind);
  const int host_count = static_cast<int>(hosts.empty() ? std::max(1, slurm_hosts()) : hosts.size());
  plan.launch.ranks = ranks_per_host * host_count;
  common.ranks_per_host = ranks_per_host;
  common.several_hosts = host_count > 1;
  common.ranks = plan.launch.ranks;
  common.oversubscribe = plan.launch.oversubscribe;
  section.read("launcher", plan.launch.mpirun);
  // Slurm's own launcher knows the nodes of the job; Open MPI's is for lists of hosts.
  if (!section.has("launcher") && hosts.empty() && slurm_hosts() > 0 && !core::find_program("srun").empty())
    plan.launch.mpirun = "srun";
  std::string slots;
  for (const std::string& host : hosts) {
    slots += (slots.empty() ? "" : ",") + host + ":" + std::to_string(ranks_per_host);
  }
  if (!slots.empty()) plan.launch.options = {"--host", slots};
  std::vector<std::string> more;
  section.read("launcher_options", more);
  plan.launch.options.insert(plan.launch.options.end(), more.begin(), more.end());
}

/// `left_out` says why there is nothing to measure; empty: there is.
calibration::CampaignStep read_step(const YAML::Node& node, const std::string& file, std::size_t number, Common common,
                                    std::string& left_out) {
  const std::string place = "steps[" + std::to_string(number) + "]";
  Section outer(node, file, place);
  if (!node.IsMap() || node.size() != 1)
    outer.fail("", "expected one of detours, dgemm, kernels, mpi, saturation or thresholds with its values");
  const std::string kind = node.begin()->first.as<std::string>();
  Section section(node.begin()->second, file, place + "." + kind);
  common.seed += number;  // two steps of one kind measure different calls
  calibration::CampaignStep step;
  if (kind == "dgemm") {
    step = dgemm_step(section, common);
  } else if (kind == "mpi") {
    step = mpi_step(section, common);
  } else if (kind == "saturation") {
    step = saturation_step(section, common, left_out);
  } else if (kind == "thresholds") {
    step = thresholds_step(section, common);
  } else if (kind == "detours") {
    step = detours_step(section, common, left_out);
  } else if (kind == "kernels") {
    step = kernels_step(section, common);
  } else {
    outer.fail(kind, "unknown step; expected one of detours, dgemm, kernels, mpi, saturation, thresholds");
  }
  std::vector<std::string> options;
  section.read("options", options);
  step.arguments.insert(step.arguments.end(), options.begin(), options.end());
  section.finish();
  char prefix[8];
  std::snprintf(prefix, sizeof prefix, "%02zu-", number + 1);
  step.name = prefix + kind;
  return step;
}

calibration::CampaignPlan plan_of(const YAML::Node& root, const std::string& text, const std::string& name,
                                  const fs::path& programs) {
  core::require_unique_keys(root, name);
  Section section(root, name, "");
  calibration::CampaignPlan plan;
  plan.source = text;
  plan.measure_dgemm = programs / "hplcast-measure-dgemm";
  Common common;
  common.programs = programs;
  section.read("name", plan.name);
  if (plan.name.empty() || plan.name.find('/') != std::string::npos)
    section.fail("name", "expected a name, without slashes");
  section.read("seed", common.seed);
  section.read_quantity("warm_up", plan.warm_up_s, core::parse_seconds);
  section.read_quantity("chunk", plan.chunk_s, core::parse_seconds);
  section.read("monitoring", plan.monitoring);
  section.read("strict", plan.strict);
  read_launch(section, plan, common);
  const YAML::Node steps = section.list("steps");
  if (!steps.IsDefined() || steps.size() == 0) section.fail("steps", "expected a list with at least one step");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::string left_out;
    calibration::CampaignStep step = read_step(steps[i], name, i, common, left_out);
    if (left_out.empty()) {
      plan.steps.push_back(std::move(step));
    } else {
      plan.notes.push_back(step.name + " is left out: " + left_out);
    }
  }
  if (plan.steps.empty()) section.fail("steps", "nothing to measure: " + plan.notes.front());
  if (double total_s = 0; section.has("duration")) {
    section.read_quantity("duration", total_s, core::parse_seconds);
    section.at("duration", [&] { shorten(plan, total_s); });
  }
  section.finish();
  return plan;
}

}  // namespace

calibration::CampaignPlan read_campaign(const std::string& text, const std::string& name, const fs::path& programs) {
  try {
    return plan_of(YAML::Load(text), text, name, programs);
  } catch (const YAML::Exception& error) {  // syntax, and lists or mappings where a word is expected
    throw core::ParseError({name, static_cast<std::size_t>(std::max(0, error.mark.line + 1)), ""}, error.msg);
  }
}

}  // namespace hplcast::cli
