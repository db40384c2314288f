#include "fit_notes.hpp"

#include <algorithm>
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

/// 8 standard deviations: less than one call in a million for each family of noise used here.
constexpr double far = 8;

/// Calls far from the model: because something interrupted them, or because the formula does not suit their shape,
/// which then is off with all its calls.
void note_far_calls(const KernelTable& table, const core::PiecewiseLaw& law, std::vector<std::string>& notes) {
  double calls = 0, outliers = 0, outlier_time = 0, misfits = 0, time = 0;
  for (const SampledCall& call : table.sample()) {
    const ShapeSummary& summary = table.shapes()[call.shape];
    const core::DurationLaw& one = law.at(summary.shape);
    calls += 1;
    time += call.duration_s;
    const double sd = one.sd_s(summary.shape), mean = one.mean_s(summary.shape);
    if (!(sd > 0) || std::abs(call.duration_s - mean) <= far * sd) continue;
    if (summary.count > 1 && (summary.min_s > mean + far * sd || summary.max_s < mean - far * sd)) {
      misfits += 1;
    } else {
      outliers += 1;
      outlier_time += call.duration_s;
    }
  }
  constexpr double noteworthy = 0.01;  // a few rare shapes need no other formula
  if (misfits > noteworthy * calls)
    notes.push_back("formula: it does not suit some shapes; " + percent(misfits / calls) +
                    " of the calls are of shapes all of whose calls are more than 8 standard deviations from the "
                    "model; ask for other"
                    " terms or pieces");
  if (outliers > 0)
    notes.push_back("calls: " + percent(outliers / calls) +
                    " are more than 8 standard deviations from the model, with " + percent(outlier_time / time) +
                    " of the time (interrupts?); they are part of the fit");
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
  note_far_calls(table, law, notes);
  return notes;
}

std::vector<std::string> leverage_notes(const ShapeRows& shapes, const std::vector<double>& leverage,
                                        std::size_t fitted_terms) {
  constexpr double alone = 0.95;
  if (leverage.empty() || shapes.size() <= fitted_terms) return {};
  const auto largest = std::max_element(leverage.begin(), leverage.end());
  if (*largest < alone) return {};
  const core::KernelShape& shape = shapes.shapes[static_cast<std::size_t>(largest - leverage.begin())].shape;
  const auto size = [](double value) { return std::to_string(std::lround(value)); };
  return {"mu: the shape " + size(shape.m) + " x " + size(shape.n) + " x " + size(shape.k) +
          " alone decides a coefficient; measure more shapes of about its size"};
}

}  // namespace hplcast::fit::detail
