#include "study/report/report_sections.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

std::string raw_level(const SweepResult& result, const std::string& factor) {
  for (const Setting& setting : result.factors)
    if (setting.factor == factor) return setting.value;
  return "";
}

/// HPL's name of a level, where it has one.
std::string level_name(const std::string& factor, const std::string& level) {
  std::istringstream names(core::hpl_value_names(factor));  // "0 left, 1 crout, 2 right"
  for (std::string number, name; names >> number >> name;) {
    if (!name.empty() && name.back() == ',') name.pop_back();
    if (number == level) return name;
  }
  return level;
}

/// The number in a level: "4:slowest" is 4, "none" of a number of hosts is 0; "2x8" and names are none.
std::optional<double> number_in(const std::string& factor, const std::string& level) {
  if (!core::hpl_value_names(factor).empty()) return std::nullopt;
  if (level == "none" && core::ends_with(factor, "-nodes")) return 0;
  double value = 0;
  if (core::parse_double(level.substr(0, level.find(':')), value)) return value;
  return std::nullopt;
}

/// Levels in order: by number where all have one, HPL's names by HPL's numbers, the rest by text.
ViewFactor view_of(const std::vector<SweepResult>& results, const std::string& name) {
  std::set<std::string> different;
  for (const SweepResult& result : results) different.insert(raw_level(result, name));
  std::vector<std::string> raw(different.begin(), different.end());
  const auto is_number = [&](const std::string& level) { return number_in(name, level).has_value(); };
  ViewFactor factor;
  factor.name = name;
  if (std::all_of(raw.begin(), raw.end(), is_number)) {
    std::stable_sort(raw.begin(), raw.end(), [&](const auto& a, const auto& b) {
      return number_in(name, a).value() < number_in(name, b).value();
    });
    for (const std::string& level : raw) factor.numbers.push_back(number_in(name, level).value());
    // Two levels of one number, such as 4:slowest and 4:fastest, are names.
    if (std::adjacent_find(factor.numbers.begin(), factor.numbers.end()) != factor.numbers.end())
      factor.numbers.clear();
  }
  for (const std::string& level : raw) factor.levels.push_back(level.empty() ? "default" : level_name(name, level));
  for (const SweepResult& result : results) {
    const auto at = std::find(raw.begin(), raw.end(), raw_level(result, name));
    factor.of.push_back(static_cast<std::size_t>(at - raw.begin()));
  }
  return factor;
}

bool change_together(const ViewFactor& a, const ViewFactor& b) {
  if (a.levels.size() != b.levels.size()) return false;
  std::map<std::size_t, std::size_t> partner;
  for (std::size_t i = 0; i < a.of.size(); ++i)
    if (partner.emplace(a.of[i], b.of[i]).first->second != b.of[i]) return false;
  return true;  // as many levels on both sides: the map is one to one
}

/// One factor in the place of several: a level is a combination that is there.
ViewFactor combined(const std::vector<ViewFactor>& parts) {
  std::vector<std::vector<std::size_t>> rows(parts.front().of.size());
  ViewFactor result;
  for (const ViewFactor& part : parts) {
    result.name += (result.name.empty() ? "" : ", ") + part.name;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(part.of[i]);
  }
  const std::set<std::vector<std::size_t>> different(rows.begin(), rows.end());
  for (const auto& row : different) {
    std::string level;
    for (std::size_t k = 0; k < row.size(); ++k) level += (k == 0 ? "" : ", ") + parts[k].levels[row[k]];
    result.levels.push_back(level);
  }
  for (const auto& row : rows)
    result.of.push_back(static_cast<std::size_t>(std::distance(different.begin(), different.find(row))));
  return result;
}

/// "b.json", or as many of its folders as tell it apart from `others`: "a/b.json".
std::string short_path(const std::filesystem::path& path, const std::set<std::string>& others) {
  std::filesystem::path name;
  const auto ends_alike = [&](const std::string& other) {
    return other != path.string() && core::ends_with("/" + other, "/" + name.string());
  };
  const std::vector<std::filesystem::path> parts(path.begin(), path.end());
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    name = name.empty() ? *part : *part / name;
    if (std::none_of(others.begin(), others.end(), ends_alike)) break;
  }
  return name.string();
}

}  // namespace

ReportData with_file_names(ReportData data) {
  std::map<std::string, std::set<std::string>> paths;
  for (const SweepResult& result : data.sweep)
    for (const Setting& setting : result.factors)
      if (std::filesystem::path(setting.value).is_absolute()) paths[setting.factor].insert(setting.value);
  std::map<std::string, std::map<std::string, std::string>> names;
  for (const auto& [factor, of_factor] : paths)
    for (const std::string& path : of_factor) names[factor][path] = short_path(path, of_factor);
  for (SweepResult& result : data.sweep)
    for (Setting& setting : result.factors)
      if (const auto& known = names[setting.factor]; known.count(setting.value) > 0)
        setting.value = known.at(setting.value);
  return data;
}

std::vector<std::string> varied_names(const std::vector<SweepResult>& results) {
  std::vector<std::string> names;
  for (const SweepResult& result : results)
    for (const Setting& setting : result.factors)
      if (std::find(names.begin(), names.end(), setting.factor) == names.end()) names.push_back(setting.factor);
  const auto one_level = [&](const std::string& name) {
    return std::all_of(results.begin(), results.end(),
                       [&](const auto& r) { return raw_level(r, name) == raw_level(results.front(), name); });
  };
  names.erase(std::remove_if(names.begin(), names.end(), one_level), names.end());
  return names;
}

std::string level_of(const SweepResult& result, const std::string& factor) {
  return level_name(factor, raw_level(result, factor));
}

std::string described(const SweepResult& result, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const std::string level = level_of(result, name);
    if (!level.empty()) text += (text.empty() ? "" : " ") + name + "=" + level;
  }
  return text;
}

std::vector<ViewFactor> view_factors(const std::vector<SweepResult>& results, const std::vector<std::string>& listed) {
  std::vector<ViewFactor> factors, of_list;
  std::size_t place_of_list = 0;
  for (const std::string& name : varied_names(results)) {
    ViewFactor factor = view_of(results, name);
    const bool is_listed = std::find(listed.begin(), listed.end(), name) != listed.end();
    std::vector<ViewFactor>& group = is_listed ? of_list : factors;
    const auto twin = std::find_if(group.begin(), group.end(),
                                   [&](const ViewFactor& other) { return change_together(other, factor); });
    if (twin != group.end()) {
      twin->with += (twin->with.empty() ? "" : ", ") + name;
      continue;
    }
    if (is_listed && of_list.empty()) place_of_list = factors.size();
    group.push_back(std::move(factor));
  }
  if (!of_list.empty())
    factors.insert(factors.begin() + static_cast<std::ptrdiff_t>(place_of_list),
                   of_list.size() == 1 ? of_list.front() : combined(of_list));
  return factors;
}

const ViewFactor* order_factor(const std::vector<ViewFactor>& factors) {
  const auto found = std::find_if(factors.begin(), factors.end(), [](const auto& factor) { return factor.is_order(); });
  return found == factors.end() ? nullptr : &*found;
}

}  // namespace hplcast::study
