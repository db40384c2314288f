#include <algorithm>
#include <cmath>

#include "fit/kernel/kernel_regression.hpp"
#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::fit {

namespace {

using detail::short_number;

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
constexpr double far_in_sds = 8;

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
    if (!(sd > 0) || std::abs(call.duration_s - mean) <= far_in_sds * sd) continue;
    if (summary.count > 1 && (summary.min_s > mean + far_in_sds * sd || summary.max_s < mean - far_in_sds * sd)) {
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

std::vector<std::string> detail::data_notes(const KernelTable& table, const std::vector<core::Monomial>& terms) {
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

std::vector<std::string> detail::call_notes(const KernelTable& table, const core::PiecewiseLaw& law) {
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

std::vector<std::string> detail::leverage_notes(const ShapeRows& shapes, const std::vector<double>& leverage,
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

namespace {

std::string polynomial_text(const core::Polynomial& polynomial) {
  std::string text;
  for (std::size_t i = 0; i < polynomial.terms().size(); ++i) {
    const double coefficient = polynomial.coefficients()[i];
    if (i > 0) text += coefficient < 0 ? " - " : " + ";
    text += short_number(i > 0 ? std::abs(coefficient) : coefficient);
    const std::string term = to_string(polynomial.terms()[i]);
    if (term != "1") text += " " + term;
  }
  return text.empty() ? "0" : text;
}

std::string range_text(const core::ShapeRange& range) {
  const auto one = [](const char* name, double least, double most) {
    return std::string(name) + " " + short_number(least) + (least == most ? "" : " to " + short_number(most));
  };
  return one("m", range.min.m, range.max.m) + ", " + one("n", range.min.n, range.max.n) + ", " +
         one("k", range.min.k, range.max.k);
}

std::string noise_text(const core::DurationLaw& law) {
  switch (law.noise()) {
    case core::NoiseFamily::none:
      return "calls of one size all take the same time";
    case core::NoiseFamily::mixture: {
      std::string text = "calls scatter around";
      for (std::size_t i = 0; i < law.modes().size(); ++i)
        text += std::string(i > 0 ? "," : "") + " " + short_number(law.modes()[i].mean) + " times the time expected (" +
                short_number(100 * law.modes()[i].probability) + " percent of them)";
      return text;
    }
    case core::NoiseFamily::half_normal:
    case core::NoiseFamily::normal:
    case core::NoiseFamily::log_normal:
      break;
  }
  return std::string("calls scatter (") + to_string(law.noise()) + ") with a standard deviation in s of " +
         polynomial_text(law.sigma());
}

/// Terms whose coefficient is known to worse than a tenth.
std::string uncertainty_text(const PolynomialFit& mu) {
  if (mu.standard_errors.empty()) return "  there are too few shapes to say how well the coefficients are known\n";
  std::string text;
  for (std::size_t i = 0; i < mu.standard_errors.size(); ++i) {
    const double relative = mu.standard_errors[i] / std::abs(mu.polynomial.coefficients()[i]);
    if (!(relative > 0.05)) continue;
    text += std::string(text.empty() ? "" : ", ") + to_string(mu.polynomial.terms()[i]) + " to about " +
            short_number(std::round(200 * relative)) + " percent";
  }
  return text.empty() ? "" : "  least certain (95 percent confidence): " + text + "\n";
}

}  // namespace

std::string describe(const std::string& kernel, const KernelFit& fit) {
  if (!fit.ok()) return kernel + ": no fit (" + to_string(fit.status) + "): " + fit.reason + "\n";
  const core::FitQuality& quality = fit.model.quality();
  std::string text = kernel + " (" + fit.model.level() + "), from " + std::to_string(quality.rows) + " calls of " +
                     std::to_string(quality.shapes) + " shapes: " + range_text(*fit.model.range()) + "\n";
  const core::PiecewiseLaw& law = fit.model.cluster_law();
  for (std::size_t i = 0; i < fit.pieces.size(); ++i) {
    if (fit.pieces.size() > 1)
      text += "  where " + to_string(law.split()) + " >= " + short_number(fit.pieces[i].from) + ":\n";
    text += "  expected time in s = " + polynomial_text(fit.pieces[i].mu.polynomial) + "\n";
    text += "  " + noise_text(law.pieces()[i].law) + "\n";
    text += uncertainty_text(fit.pieces[i].mu);
  }
  text += "  mean of a shape against the formula: " + short_number(100 * quality.mean_abs_relative_error) +
          " percent off on average; the formula explains " + short_number(100 * quality.r2) +
          " percent of the variation of single calls\n";
  for (const std::string& note : quality.notes) text += "  note: " + note + "\n";
  return text;
}

}  // namespace hplcast::fit
