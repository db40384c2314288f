#include "hplcast/study/sweep_plan.hpp"

#include <algorithm>
#include <istream>
#include <limits>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/transform.hpp"
#include "hplcast/study/yaml.hpp"

namespace hplcast::study {

namespace {

/// Factors of which all levels are known, but for HPL's parameters.
const std::map<std::string, std::vector<std::string>> levels_of_factors = {
    {"mode", {"exact", "fast", "auto"}},   {"energy", {"on", "off"}},  {"noise", {"on", "off"}},
    {"network-noise", {"on", "off"}},      {"detours", {"on", "off"}}, {"per-cpu", {"on", "off"}},
    {"kernel-model", {"full", "M1", "M2"}}};

bool is_hpl_parameter(const std::string& name) {
  const auto& fields = core::hpl_fields();
  return std::any_of(fields.begin(), fields.end(), [&](const core::HplField& field) { return name == field.name; });
}

/// Its levels are files, or `none`.
bool is_of_files(const std::string& factor) {
  return factor == "generate" || factor == "set-detours";
}

/// A whole number of ranks, or of a side of their grid.
std::optional<std::uint64_t> rank_count(const std::string& text) {
  constexpr std::size_t most_digits = 7;
  if (text.empty() || text.size() > most_digits || text.find_first_not_of("0123456789") != std::string::npos) return {};
  const std::uint64_t number = std::stoull(text);
  return number > 0 ? std::optional(number) : std::nullopt;
}

/// Reads the parts of a plan; messages name its file and line.
class PlanReader : YamlReader {
 public:
  PlanReader(std::string name, fs::path folder) : YamlReader(std::move(name)), folder_(std::move(folder)) {}

  SweepPlan plan(const YAML::Node& root) {
    if (!root.IsMap()) fail(root, "", "not a map; expected keys such as cluster, factors, seeds");
    SweepPlan plan;
    Keys keys = {{"name", [&](const auto& node) { plan.name = text(node, "name"); }},
                 {"question", [&](const auto& node) { plan.question = text(node, "question"); }}};
    for (const char* key : {"cluster", "noise", "mode", "windows", "target-error", "energy"})
      keys.emplace_back(key, [&, key](const auto& node) {
        plan.fixed.insert(plan.fixed.begin(), {key, level(key, node)});
      });
    keys.insert(
        keys.end(),
        {{"seeds", [&](const auto& node) { plan.seeds = seeds(node); }},
         {"timeout_s",
          [&](const auto& node) { plan.timeout_s = number(node, "timeout_s", 1e-300, largest_, "a number above 0"); }},
         {"fixed",
          [&](const auto& node) {
            for (const Setting& one : settings(node, "fixed")) plan.fixed.push_back(one);
          }},
         {"factors", [&](const auto& node) { plan.factors = factors(node); }},
         {"list",
          [&](const auto& node) {
            for (const YAML::Node& row : sequence(node, "list", some_entries))
              plan.list.push_back(settings(row, "list"));
          }},
         {"sample", [&](const auto& node) { plan.sample = sample(node); }}});
    read(root, "", keys);
    refuse_factors_of_two_parts(plan, root);
    check_rows(plan, root);
    return plan;
  }

 private:
  std::uint64_t count(const YAML::Node& node, const std::string& field) const {
    constexpr double largest = 9007199254740992.0;  // whole numbers are exact below it
    return static_cast<std::uint64_t>(number(node, field, 0, largest, "a whole number from 0 on", true));
  }

  std::vector<std::uint64_t> seeds(const YAML::Node& node) const {
    std::vector<std::uint64_t> result;
    each(node, "seeds", some_entries, [&](const auto& seed) { result.push_back(count(seed, "seeds")); });
    if (std::set(result.begin(), result.end()).size() != result.size()) fail(node, "seeds", "a seed stands twice");
    return result;
  }

  /// A DomainError of a value is one of the plan.
  template <typename Use>
  void require_domain(const YAML::Node& node, const std::string& field, const Use& use) const {
    try {
      use();
    } catch (const core::DomainError& error) {
      fail(node, field, error.what());
    }
  }

  /// A level as it will be used: HPL's names become numbers, paths absolute, ranges are checked later.
  std::string level(const std::string& factor, const YAML::Node& node) const {
    const std::string value = text(node, factor);
    for (const core::HplField& field : core::hpl_fields()) {
      if (factor != field.name) continue;
      const auto known = core::hpl_value(factor, value);
      if (!known) {
        const std::string names = core::hpl_value_names(factor);
        fail(node, factor,
             "found `" + value + "`; expected a whole number" + (names.empty() ? "" : " or a name: " + names));
      }
      // A value that no run can have; what depends on other parameters is looked at when the runs are made.
      core::HplParameters one;
      field.set(one, *known);
      require_domain(node, factor, [&] { one.validate(); });
      return std::to_string(*known);
    }
    if (factor == "cluster" || (is_of_files(factor) && value != "none"))
      return fs::path(value).is_absolute() ? value : (folder_ / value).lexically_normal().string();
    if (factor == "grid") {
      const std::size_t x = value.find('x');
      if (x == std::string::npos || !rank_count(value.substr(0, x)) || !rank_count(value.substr(x + 1)))
        fail(node, factor, "found `" + value + "`; expected PxQ such as 30x32");
    }
    if (factor == "windows") require_domain(node, factor, [&] { (void)WindowRule::from(value); });
    if (factor == "target-error") require_domain(node, factor, [&] { (void)target_error_of(value); });
    if (const auto known = levels_of_factors.find(factor); known != levels_of_factors.end()) {
      const auto& [name, levels] = *known;
      if (std::find(levels.begin(), levels.end(), value) == levels.end())
        fail(node, factor, "found `" + value + "`; expected " + core::joined(levels, " or "));
    }
    return value;
  }

  void require_factor(const YAML::Node& node, const std::string& factor) const {
    if (is_hpl_parameter(factor) || levels_of_factors.count(factor) > 0 || factor == "grid" || factor == "cluster" ||
        factor == "windows" || factor == "target-error" || (factor.size() > 1 && factor.front() == '/') ||
        is_transformation(factor))
      return;
    fail(node, factor,
         "unknown factor; expected an HPL parameter (N, NB, P, Q, BCAST ...), grid, cluster, mode, windows, "
         "target-error, energy, noise, network-noise, detours, per-cpu, kernel-model, a transformation (hplcast "
         "transform --help), or /field/of/cluster.json");
  }

  Configuration settings(const YAML::Node& node, const std::string& field) const {
    if (!node.IsMap()) fail(node, field, "expected a map of factors to values");
    Configuration result;
    for (const auto& entry : node) {
      const std::string factor = entry.first.as<std::string>();
      require_factor(entry.first, factor);
      result.push_back({factor, level(factor, entry.second)});
    }
    return result;
  }

  /// "30x32" is one grid; "960" is all grids of so many ranks, the others beside those that are there.
  void add_grids(const YAML::Node& node, std::vector<std::string>& levels) const {
    const std::string value = text(node, "grid");
    const auto add = [&](const std::string& grid) {
      if (std::find(levels.begin(), levels.end(), grid) == levels.end()) levels.push_back(grid);
    };
    if (value.find('x') != std::string::npos) return levels.push_back(level("grid", node));
    const std::optional<std::uint64_t> ranks = rank_count(value);
    if (!ranks) fail(node, "grid", "found `" + value + "`; expected PxQ such as 30x32, or a number of ranks");
    for (std::uint64_t P = 1; P <= *ranks; ++P)
      if (*ranks % P == 0) add(std::to_string(P) + "x" + std::to_string(*ranks / P));
  }

  std::vector<std::string> levels(const std::string& factor, const YAML::Node& node) const {
    std::vector<std::string> result;
    each(node, factor, some_entries, [&](const auto& value) {
      if (factor == "grid") return add_grids(value, result);
      result.push_back(level(factor, value));
    });
    if (std::set(result.begin(), result.end()).size() != result.size()) fail(node, factor, "a level stands twice");
    return result;
  }

  std::vector<Factor> factors(const YAML::Node& node) const {
    if (!node.IsMap()) fail(node, "factors", "expected a map of factors to lists of levels");
    std::vector<Factor> result;
    for (const auto& entry : node) {
      const std::string factor = entry.first.as<std::string>();
      require_factor(entry.first, factor);
      result.push_back({factor, levels(factor, entry.second)});
    }
    return result;
  }

  SampledFactor sampled_factor(const std::string& factor, const YAML::Node& node) {
    SampledFactor result;
    result.name = factor;
    if (!node.IsMap()) {
      result.levels = levels(factor, node);
      return result;
    }
    if (is_of_files(factor) || (!is_hpl_parameter(factor) && factor.front() != '/' && !is_transformation(factor)))
      fail(node, factor, "found a map; expected a list of levels");
    const bool is_whole = is_hpl_parameter(factor);
    const double most = is_whole ? std::numeric_limits<int>::max() : largest_;
    result.step = is_whole ? 1 : 0;
    const auto into = [&](double* value) {
      return [&, value](const YAML::Node& found) {
        *value =
            number(found, factor, -most, most, is_whole ? "whole numbers of at most 2147483647" : "a number", is_whole);
      };
    };
    read(node, factor + ".",
         {{"min", into(&result.min)},
          {"max", into(&result.max)},
          {"step", into(&result.step)},
          {"log", [&](const YAML::Node& found) {
             const std::string log = text(found, factor);
             if (log != "true" && log != "false") fail(found, factor, "log is `" + log + "`; expected true or false");
             result.logarithmic = log == "true";
           }}});
    if (!node["min"] || !node["max"])
      fail(node, factor, "found a range without min or max; expected {min: ..., max: ...}");
    if (!(result.min < result.max) || result.step < (is_whole ? 1 : 0) || (result.logarithmic && !(result.min > 0)))
      fail(node, factor, "expected min < max, step >= 0 (of whole numbers >= 1), and min > 0 with log");
    return result;
  }

  Sample sample(const YAML::Node& node) {
    if (!node.IsMap()) fail(node, "sample", "expected a map with count and factors");
    Sample result;
    read(node, "",
         {{"method",
           [&](const auto& value) {
             const std::string method = text(value, "method");
             if (method != "random" && method != "latin-hypercube")
               fail(value, "method", "found `" + method + "`; expected random or latin-hypercube");
             result.latin_hypercube = method == "latin-hypercube";
           }},
          {"count",
           [&](const auto& value) {
             constexpr double most = 1e7;  // some gigabytes, and years of predictions
             result.count =
                 static_cast<int>(number(value, "count", 1, most, "a whole number from 1 to 10000000", true));
           }},
          {"seed", [&](const auto& value) { result.seed = count(value, "seed"); }},
          {"factors", [&](const auto& factors) {
             if (!factors.IsMap()) fail(factors, "sample", "expected a map of factors to their ranges or levels");
             for (const auto& factor : factors) {
               const std::string name = factor.first.template as<std::string>();
               require_factor(factor.first, name);
               result.factors.push_back(sampled_factor(name, factor.second));
             }
           }}});
    if (result.count < 1 || result.factors.empty()) fail(node, "sample", "expected count >= 1 and factors");
    return result;
  }

  /// Changes of a cluster would act twice, and results have one of both levels only.
  void refuse_factors_of_two_parts(const SweepPlan& plan, const YAML::Node& root) const {
    std::map<std::string, std::set<std::string>> parts;
    for (const Factor& factor : plan.factors) parts[factor.name].insert("factors");
    for (const Configuration& row : plan.list)
      for (const Setting& one : row) parts[one.factor].insert("list");
    if (plan.sample)
      for (const SampledFactor& factor : plan.sample->factors) parts[factor.name].insert("sample");
    for (const auto& [factor, where] : parts)
      if (where.size() > 1) fail(root, factor, "found in " + core::joined(where, " and ") + "; expected one of them");
  }

  /// A grid beside P or Q: the later of both would win, and the results name levels that no run had. Without a cluster
  /// or N: a default would be a study of something that nobody asked for.
  void check_rows(const SweepPlan& plan, const YAML::Node& root) const {
    SweepPlan one_of_each = plan;
    one_of_each.fixed.clear();
    for (Factor& factor : one_of_each.factors) factor.levels.resize(1);
    if (one_of_each.sample) one_of_each.sample->count = 1;
    const auto names_of = [](const Configuration& row) {
      std::set<std::string> names;
      for (const Setting& one : row) names.insert(one.factor);
      return names;
    };
    const std::set<std::string> fixed = names_of(plan.fixed);
    std::vector<std::set<std::string>> rows = core::mapped(configurations(one_of_each), names_of);
    for (const auto& [factor, expected] :
         {std::pair("cluster", "the path of a cluster.json"), {"N", "the order of the matrix, fixed or as a factor"}})
      for (const std::set<std::string>& names : rows)
        if (names.count(factor) + fixed.count(factor) == 0)
          fail(root, factor, "missing; expected " + std::string(expected));
    rows.push_back(fixed);
    for (const std::set<std::string>& names : rows)
      if (names.count("grid") > 0 && names.count("P") + names.count("Q") > 0)
        fail(root, "grid", "found beside P or Q, which it says, too; expected one of both");
  }

  fs::path folder_;
  static constexpr double largest_ = std::numeric_limits<double>::max();
};

}  // namespace

SweepPlan read_plan(std::istream& in, const std::string& name, const fs::path& folder) {
  return with_yaml(core::read_text(in, name, "is this a plan of a sweep?", core::most_bytes_of_plan), name,
                   [&](const YAML::Node& root) { return PlanReader(name, folder).plan(root); });
}

}  // namespace hplcast::study
