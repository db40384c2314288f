#include "cli/campaign/campaign_yaml.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "cli/campaign/campaign_section.hpp"
#include "cli/support/options.hpp"
#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/hpl_design.hpp"
#include "hplcast/calibration/measure_detours.hpp"
#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/calibration/power_design.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/units.hpp"

namespace hplcast::cli {

namespace {

core::HplParameters read_grid(Section& section) {
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

calibration::CampaignStep dgemm_step(Section& section, const CampaignCommon& common) {
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
    const core::HplParameters grid = read_grid(section);
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

calibration::CampaignStep mpi_step(Section& section, const CampaignCommon& common) {
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
    const core::HplParameters grid = read_grid(section);
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
calibration::CampaignStep saturation_step(Section& section, const CampaignCommon& common, std::string& left_out) {
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

calibration::CampaignStep thresholds_step(Section& section, const CampaignCommon& common) {
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

/// As an option takes a list.
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

/// A study of what a detector of detours sees (docs/use/detours.md). `left_out` says why there is nothing to measure.
calibration::CampaignStep detours_step(Section& section, const CampaignCommon& common, std::string& left_out) {
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
  for (const std::string& level : levels) {
    std::string share = level;
    const std::string problem = as_percentage().problem(share);
    if (!problem.empty()) section.fail("levels", problem);
    series.levels.push_back(std::stod(share));
  }
  section.at("",
             [&] { step.estimated_s = 1 + run_time_s * static_cast<double>(calibration::make_series(series).size()); });
  const auto add = [&](const char* option, const std::string& value) {
    step.arguments.insert(step.arguments.end(), {option, value});
  };
  add("--levels", joined(levels));
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
calibration::CampaignStep kernels_step(Section& section, const CampaignCommon& common) {
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

/// What hosts draw (docs/use/power-measuring.md).
calibration::CampaignStep power_step(Section& section, const CampaignCommon& common) {
  calibration::CampaignStep step;
  step.program = common.programs / "hplcast-measure-power";
  calibration::PowerDesignOptions design;
  design.seed = common.seed;
  std::vector<std::string> frequencies, sensors;
  double period_s = 0, aside_s = -1, aside_end_s = -1;
  section.read("states", design.states);
  section.read("counts", design.counts);
  section.read("frequencies", frequencies);
  section.read("repetitions", design.repetitions);
  section.read("sensors", sensors);
  section.read("seed", design.seed);
  section.read_quantity("piece", design.piece_s, core::parse_seconds);
  section.read_quantity("warm_up", design.warm_up_s, core::parse_seconds);
  section.read_quantity("period", period_s, core::parse_seconds);
  section.read_quantity("set_aside", aside_s, core::parse_seconds);
  section.read_quantity("set_aside_end", aside_end_s, core::parse_seconds);
  section.at("", [&] {
    const double pieces = calibration::estimated_s(calibration::make_power_design(design, common.ranks_per_host));
    step.estimated_s = pieces * static_cast<double>(std::max<std::size_t>(1, frequencies.size()));
  });
  const auto add = [&](const char* option, const std::string& value) {
    step.arguments.insert(step.arguments.end(), {option, value});
  };
  std::vector<std::string> counts;
  for (const int count : design.counts) counts.push_back(std::to_string(count));
  add("--states", joined(design.states));
  if (!counts.empty()) add("--counts", joined(counts));
  if (!frequencies.empty()) add("--frequencies", joined(frequencies));
  if (!sensors.empty()) add("--sensors", joined(sensors));
  add("--repetitions", std::to_string(design.repetitions));
  add("--seed", std::to_string(design.seed));
  add("--piece", core::shortest(design.piece_s));
  add("--warm-up", core::shortest(design.warm_up_s));
  if (period_s > 0) add("--period", core::shortest(period_s));
  if (aside_s >= 0) add("--set-aside", core::shortest(aside_s));
  if (aside_end_s >= 0) add("--set-aside-end", core::shortest(aside_end_s));
  return step;
}

}  // namespace

calibration::CampaignStep read_step(const YAML::Node& node, const std::string& file, std::size_t number,
                                    CampaignCommon common, std::string& left_out) {
  const std::string place = "steps[" + std::to_string(number) + "]";
  Section outer(node, file, place);
  if (!node.IsMap() || node.size() != 1)
    outer.fail("", "expected one of detours, dgemm, kernels, mpi, power, saturation or thresholds with its values");
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
  } else if (kind == "power") {
    step = power_step(section, common);
  } else if (kind == "kernels") {
    step = kernels_step(section, common);
  } else {
    outer.fail(kind, "unknown step; expected one of detours, dgemm, kernels, mpi, power, saturation, thresholds");
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

}  // namespace hplcast::cli
