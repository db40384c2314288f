#include "hplcast/fit/report.hpp"

#include <cmath>

#include "shape_rows.hpp"

namespace hplcast::fit {

namespace {

using detail::short_number;

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
