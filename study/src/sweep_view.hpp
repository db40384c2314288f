#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hplcast/study/sweep_database.hpp"

namespace hplcast::study {

/// A factor as reports show it.
struct ViewFactor {
  std::string name;                 ///< "NB", or "kernel-model, noise" for a plan's list
  std::string with;                 ///< names of factors that always change together with it: "Q"; mostly empty
  std::vector<std::string> levels;  ///< with HPL's names, in their natural order
  std::vector<double> numbers;      ///< of the levels; empty if they are names
  std::vector<std::size_t> of;      ///< for each result the index of its level

  bool is_order() const { return name == "N"; }
  std::string full_name() const { return with.empty() ? name : name + " (with " + with + ")"; }
};

/// The factors that take two levels or more, in the order of the plan. Such as always change together are one, and so
/// are those of `listed`, the factors of a plan's list.
std::vector<ViewFactor> view_factors(const std::vector<SweepResult>& results, const std::vector<std::string>& listed);

/// The factor N, if it is one.
const ViewFactor* order_factor(const std::vector<ViewFactor>& factors);

/// A level of a factor with HPL's name where there is one: BCAST 0 is "1ring".
std::string level_name(const std::string& factor, const std::string& level);

/// Names of the plan's factors that take two levels or more.
std::vector<std::string> varied_names(const std::vector<SweepResult>& results);

/// The level of one of them, as level_name() has it; empty if this result does not have it.
std::string level_of(const SweepResult& result, const std::string& factor);

/// "NB=128 BCAST=1ring", of these factors.
std::string described(const SweepResult& result, const std::vector<std::string>& names);

}  // namespace hplcast::study
