#include "hplcast/fit/row_rules.hpp"

#include "hplcast/core/environment.h"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

/// Content of the matrices of HPL's own calls.
constexpr const char* hpl_content = "hpl";

bool is_one_way(const core::MpiMeasurement& row) {
  return row.operation == "one_way";
}

}  // namespace

std::string reason_to_set_aside(const core::KernelMeasurement& row, bool all_contents) {
  const bool random = row.content.empty() || row.content == "random" || row.content == hpl_content;
  if (!random && !all_contents) return "the matrices do not hold random numbers, as those of HPL do";
  if (is_alone(row)) return "the other ranks of the host slept";
  if (is_beside(row)) return "it belongs to a call whose other ranks slept";
  if (is_of_columns(row)) return "it belongs to a pair that differs in the leading dimension";
  if (is_empty(row)) return "it had no work to do (a size was 0)";
  return row.error.empty() ? "" : "the call failed: " + row.error;
}

bool is_empty(const core::KernelMeasurement& row) {
  return core::ends_with(row.kernel, HPLCAST_EMPTY_CALLS);
}

bool is_designed(const core::KernelMeasurement& row) {
  return row.content != hpl_content;
}

void add_row(const core::KernelMeasurement& row, KernelTable& table, bool all_contents) {
  const std::string reason = reason_to_set_aside(row, all_contents);
  reason.empty() ? table.add(row.shape, row.duration_s) : table.set_aside(reason);
}

MpiRows rows_of_messages(const MpiRows& rows, bool all_backgrounds, std::vector<std::string>& notes) {
  long of_several = 0, left_out = 0;
  std::map<std::pair<std::string, std::string>, long> loaded, unloaded;  // by scope and operation
  rows([&](const core::MpiMeasurement& row) {
    if (is_one_way(row) || !row.error.empty()) return;
    ++(row.pairs > 1 ? of_several : (is_loaded(row) ? loaded : unloaded)[{row.scope, row.operation}]);
  });
  if (all_backgrounds) loaded.clear();
  for (const auto& entry : loaded) left_out += unloaded[entry.first];
  if (of_several > 0)
    notes.push_back(std::to_string(of_several) +
                    " rows are left out: several pairs exchanged messages at once (of those, `one_way` counts)");
  if (left_out > 0)
    notes.push_back(std::to_string(left_out) +
                    " rows are left out: others were measured with the background dgemm+iprobe, as in HPL");
  return [rows, loaded](const std::function<void(const core::MpiMeasurement&)>& each) {
    rows([&](const core::MpiMeasurement& row) {
      if (!is_one_way(row) && row.pairs <= 1 && (is_loaded(row) || loaded.count({row.scope, row.operation}) == 0))
        each(row);
    });
  };
}

MpiRows rows_of(const std::vector<core::MpiMeasurement>& rows) {
  return [&rows](const std::function<void(const core::MpiMeasurement&)>& each) {
    for (const core::MpiMeasurement& row : rows) each(row);
  };
}

}  // namespace hplcast::fit
