#include "fit_notes.hpp"

#include <cmath>

#include "shape_rows.hpp"

namespace hplcast::fit::detail {

namespace {

void note_size(const char* name, double least, double most, bool used, std::vector<std::string>& notes) {
  if (!used) return;
  if (least == most) {
    notes.push_back(std::string("data: ") + name + " is always " + short_number(least) +
                    "; the model says nothing about other values of " + name);
  } else if (most < 2 * least) {
    notes.push_back(std::string("data: ") + name + " only goes from " + short_number(least) + " to " +
                    short_number(most) + "; its effect is badly known, measure a wider range");
  }
}

std::string percent(double share) {
  return short_number(100 * share) + " percent";
}

}  // namespace

std::vector<std::string> data_notes(const KernelTable& table, const std::vector<core::Monomial>& terms) {
  std::vector<std::string> notes;
  bool m = false, n = false, k = false;
  for (const core::Monomial& term : terms) {
    m = m || term.m > 0;
    n = n || term.n > 0;
    k = k || term.k > 0;
  }
  const core::ShapeRange range = table.range();
  note_size("m", range.min.m, range.max.m, m, notes);
  note_size("n", range.min.n, range.max.n, n, notes);
  note_size("k", range.min.k, range.max.k, k, notes);
  const std::size_t shapes = table.shapes().size();
  if (shapes < 3 * (terms.size() + 1))
    notes.push_back("data: only " + std::to_string(shapes) + " distinct shapes for " + std::to_string(terms.size()) +
                    " products; measure at least " + std::to_string(3 * (terms.size() + 1)));
  for (const auto& [reason, rows] : table.rows_set_aside())
    notes.push_back("data: " + std::to_string(rows) + " rows set aside, " + reason);
  return notes;
}

std::vector<std::string> call_notes(const KernelTable& table, const core::PiecewiseLaw& law) {
  std::vector<std::string> notes;
  const auto expected = [&](const SampledCall& call) {
    const core::KernelShape& shape = table.shapes()[call.shape].shape;
    return law.at(shape).mean_s(shape);
  };
  // A warm-up shows only against many later calls.
  if (table.rows() >= 10 * static_cast<long>(KernelTable::first_calls_kept)) {
    double measured = 0, predicted = 0;
    for (const SampledCall& call : table.first_calls()) {
      measured += call.duration_s;
      predicted += expected(call);
    }
    if (measured > 1.1 * predicted)
      notes.push_back("calls: the first " + std::to_string(table.first_calls().size()) + " took " +
                      percent(measured / predicted - 1) +
                      " more than the model says (warm-up?); they are part of the fit");
  }
  // 8 standard deviations: less than one call in a million for each family of noise used here.
  constexpr double far = 8;
  long outliers = 0;
  double outlier_time = 0, time = 0;
  for (const SampledCall& call : table.sample()) {
    const core::KernelShape& shape = table.shapes()[call.shape].shape;
    const core::DurationLaw& one = law.at(shape);
    time += call.duration_s;
    const double sd = one.sd_s(shape);
    if (!(sd > 0) || std::abs(call.duration_s - one.mean_s(shape)) <= far * sd) continue;
    ++outliers;
    outlier_time += call.duration_s;
  }
  if (outliers > 0)
    notes.push_back("calls: " + percent(static_cast<double>(outliers) / static_cast<double>(table.sample().size())) +
                    " are more than 8 standard deviations from the model, with " + percent(outlier_time / time) +
                    " of the time (interrupts?); they are part of the fit");
  return notes;
}

}  // namespace hplcast::fit::detail
