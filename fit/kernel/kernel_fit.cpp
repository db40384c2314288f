#include "hplcast/fit/kernel_fit.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>

#include "fit/kernel/kernel_regression.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/distributions.hpp"

namespace hplcast::fit {

namespace {

using core::Monomial;
using detail::RegressionResult;
using detail::ShapeRows;

constexpr Monomial constant_term{0, 0, 0};

/// The terms of mu, without the constant.
std::vector<Monomial> product_terms(const KernelFitOptions& options) {
  if (options.level == "M0") return {};
  if (!options.terms.empty()) return options.terms;
  if (options.level == "M2") return {{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
  return {{1, 1, 1}};
}

/// The product that the duration is proportional to in each piece: the split, or, if that is one size, the product of
/// all sizes that vary.
Monomial product_of_pieces(const Monomial& split, const core::ShapeRange& range) {
  if (split.m + split.n + split.k > 1) return split;
  return {range.min.m < range.max.m || split.m > 0 ? 1 : 0, range.min.n < range.max.n || split.n > 0 ? 1 : 0,
          range.min.k < range.max.k || split.k > 0 ? 1 : 0};
}

/// The terms that the regression fits: the constant too unless it is fixed beforehand or not wanted.
std::vector<Monomial> regression_terms(const KernelFitOptions& options) {
  std::vector<Monomial> terms = product_terms(options);
  if (options.level == "M0" || options.intercept == Intercept::free) terms.push_back(constant_term);
  return terms;
}

void check_terms(const std::vector<Monomial>& terms) {
  for (auto term = terms.begin(); term != terms.end(); ++term)
    if (std::find(terms.begin(), term, *term) != term)
      throw core::DomainError("terms", to_string(*term), "each term once");
}

/// Where standard errors come from. Terms are removed by robust errors where this is not classical, since sigma comes
/// after mu.
enum class StandardErrors {
  classical,  ///< all residuals, by their weights, alike
  robust,     ///< the residual of each shape speaks for itself (HC3, MacKinnon and White 1985, by shape)
  noise  ///< the fitted sigma, and a relative error of the formula where shapes are repeated (its variance by moments)
};

StandardErrors standard_errors_of(const KernelFitOptions& options) {
  if (options.published_sigma) return StandardErrors::classical;
  if (options.noise == NoiseLevel::n2 || options.noise == NoiseLevel::mixture) return StandardErrors::noise;
  return options.weighting == Weighting::ordinary ? StandardErrors::classical : StandardErrors::robust;
}

detail::RegressionRows regression_rows(const ShapeRows& shapes, Averaging averaging) {
  detail::RegressionRows rows;
  for (const ShapeSummary& summary : shapes.shapes) {
    rows.y.push_back(summary.mean_s);
    rows.counts.push_back(averaging == Averaging::calls ? static_cast<double>(summary.count) : 1.0);
    if (averaging == Averaging::calls) rows.squares.push_back(summary.squares_s2);
  }
  return rows;
}

/// Where smaller calls have a piece of their own a line may go below 0 for them: memory costs from a cache's size on.
bool is_free_line(const KernelFitOptions& options, bool is_later) {
  return is_later && options.keep_positive &&
         regression_terms(options) == std::vector<Monomial>{options.split, constant_term};
}

RegressionResult fit_mean(const ShapeRows& shapes, const KernelFitOptions& options, bool is_later) {
  const detail::RegressionRows rows = regression_rows(shapes, options.averaging);
  detail::PolynomialRegression what;
  what.terms = regression_terms(options);
  what.weighting = options.weighting;
  const bool is_free = is_free_line(options, is_later);
  what.non_negative = options.non_negative && !is_free;
  what.robust = standard_errors_of(options) != StandardErrors::classical;
  what.min_abs_t = options.remove_insignificant ? options.min_abs_t : 0;
  what.main = what.terms.front();
  if (options.intercept == Intercept::published && options.level != "M0")
    what.fixed_constant = detail::published_constant(shapes, rows.y);
  RegressionResult result = fit_polynomial(shapes, rows, what, "mu");
  const auto positive = [&] {
    const core::Polynomial& mu = result.fit.polynomial;
    const bool rises = is_free && mu.coefficient(options.split) > 0;
    return (rises || (!options.non_negative && detail::smallest_in_range(mu, range_of(shapes.shapes)) > 0)) &&
           *std::min_element(result.fitted.begin(), result.fitted.end()) > 0;
  };
  if (!options.keep_positive || what.non_negative || positive()) return result;
  what.non_negative = true;
  result = fit_polynomial(shapes, rows, what, "mu");
  result.notes.push_back("mu: coefficients held at 0 or above: without that some durations would not be positive");
  return result;
}

struct FittedPiece {
  PieceFit piece;
  core::DurationLaw law;
  RegressionResult mean;  ///< with the notes of all of the piece
};

/// Nothing, with status and reason in `failure`, if there is no acceptable one.
std::optional<FittedPiece> fit_piece(const ShapeRows& rows, const KernelFitOptions& options, bool is_later,
                                     KernelFit& failure) {
  const auto fail = [&](FitStatus status, const std::string& reason) {
    failure.status = status;
    failure.reason = reason;
    return std::nullopt;
  };
  const std::size_t terms = regression_terms(options).size();
  if (rows.size() < terms)
    return fail(FitStatus::too_few_shapes, "there are " + std::to_string(rows.size()) + " distinct shapes for " +
                                               std::to_string(terms) +
                                               " coefficients; measure more shapes or ask for fewer terms");
  FittedPiece result;
  result.mean = fit_mean(rows, options, is_later);
  if (result.mean.fit.polynomial.empty())
    return fail(FitStatus::constant,
                "no term is left in the model: the durations do not depend on the products asked for");
  if (!(*std::min_element(result.mean.fitted.begin(), result.mean.fitted.end()) > 0) && options.keep_positive)
    return fail(FitStatus::not_positive, "some predicted durations are not positive; allow a constant or other terms");
  detail::NoiseResult noise = detail::fit_noise(rows, result.mean, options, range_of(rows.shapes));
  if (standard_errors_of(options) == StandardErrors::noise && !noise.shape_variances.empty())
    set_covariance(result.mean, rows, noise.shape_variances);
  for (std::string& note : detail::leverage_notes(rows, result.mean.leverage, result.mean.fitted_terms))
    result.mean.notes.push_back(std::move(note));
  result.mean.notes.insert(result.mean.notes.end(), noise.notes.begin(), noise.notes.end());
  result.law = std::move(noise.law);
  result.piece.mu = result.mean.fit;
  result.piece.sigma = std::move(noise.sigma);
  return result;
}

/// Starts of the pieces; the first is 0.
std::vector<double> piece_starts(const ShapeRows& rows, const KernelFitOptions& options) {
  std::vector<double> starts{0};
  if (options.level != "M'") return starts;
  const std::vector<double> breaks = options.breakpoints.empty()
                                         ? detail::find_breakpoints(rows, options.split, regression_terms(options),
                                                                    options.weighting, options.max_pieces)
                                         : options.breakpoints;
  starts.insert(starts.end(), breaks.begin(), breaks.end());
  return starts;
}

/// Standard errors and t-values of all pieces, one after another; none where a piece has none.
void add_uncertainty(const std::vector<FittedPiece>& pieces, core::FitQuality& quality) {
  const auto joined = [&](const PolynomialFit PieceFit::*polynomial, const std::vector<double> PolynomialFit::*values) {
    std::vector<double> all;
    for (const FittedPiece& one : pieces) {
      const PolynomialFit& fit = one.piece.*polynomial;
      if ((fit.*values).size() != fit.polynomial.terms().size()) return std::vector<double>();
      all.insert(all.end(), (fit.*values).begin(), (fit.*values).end());
    }
    return all;
  };
  quality.mu_standard_errors = joined(&PieceFit::mu, &PolynomialFit::standard_errors);
  quality.mu_t_values = joined(&PieceFit::mu, &PolynomialFit::t_values);
  quality.sigma_standard_errors = joined(&PieceFit::sigma, &PolynomialFit::standard_errors);
  quality.sigma_t_values = joined(&PieceFit::sigma, &PolynomialFit::t_values);
}

core::FitQuality quality_of(const KernelTable& table, const std::vector<FittedPiece>& pieces,
                            const std::vector<ShapeRows>& parts) {
  core::FitQuality quality;
  quality.rows = table.rows();
  quality.shapes = static_cast<long>(table.shapes().size());
  for (const auto& [reason, rows] : table.rows_set_aside()) quality.rows_set_aside += rows;
  const double calls = static_cast<double>(table.rows()), mean = table.total_s() / calls;
  double left = 0, total = 0, relative = 0, terms = 0;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    terms += static_cast<double>(pieces[p].mean.fitted_terms);
    quality.bic += pieces[p].mean.fit.bic;
    for (std::size_t i = 0; i < parts[p].size(); ++i) {
      const ShapeSummary& summary = parts[p].shapes[i];
      const double count = static_cast<double>(summary.count);
      const double residual = summary.mean_s - pieces[p].mean.fitted[i];
      left += count * residual * residual + summary.squares_s2;
      total += count * (summary.mean_s - mean) * (summary.mean_s - mean) + summary.squares_s2;
      relative += count * std::abs(residual) / summary.mean_s;
    }
  }
  const double r2_of_all = total > 0 ? 1 - left / total : 0;
  quality.r2 = pieces.size() > 1 ? r2_of_all : pieces.front().mean.fit.r2;
  if (calls > terms) quality.residual_sd_s = std::sqrt(left / (calls - terms));
  quality.mean_abs_relative_error = relative / calls;
  add_uncertainty(pieces, quality);
  return quality;
}

/// Whether all calls take as long to the last digit, whatever their shape: a clock that ticks seldom, a kernel that
/// does nothing. Products would take the shapes for the reason.
bool is_constant(const KernelTable& table) {
  if (table.shapes().size() < 2) return false;
  const double mean_s = table.shapes().front().mean_s;
  constexpr double rounding = 1e-12;
  return std::all_of(table.shapes().begin(), table.shapes().end(), [&](const ShapeSummary& one) {
    return std::abs(one.mean_s - mean_s) <= rounding * mean_s && std::sqrt(one.squares_s2) <= rounding * mean_s;
  });
}

std::string no_rows_text(const KernelTable& table) {
  std::string text;
  for (const auto& [reason, rows] : table.rows_set_aside())
    text += (text.empty() ? " that count: " : "; ") + std::to_string(rows) + " rows set aside, " + reason;
  return "there are no measurements" + text;
}

}  // namespace

void validate(const KernelFitOptions& options) {
  if (options.level != "M0" && options.level != "M1" && options.level != "M2" && options.level != "M'")
    throw core::DomainError("level", options.level, "M0, M1, M2 or M'");
  if ((options.level == "M1" && options.terms.size() > 1) || (options.level == "M0" && !options.terms.empty()))
    throw core::DomainError("number of terms of " + options.level, options.terms.size(),
                            options.level == "M0" ? "none" : "one product; M2 takes several");
  check_terms(options.terms);
  check_terms(options.sigma_terms);
  if (std::find(options.terms.begin(), options.terms.end(), constant_term) != options.terms.end())
    throw core::DomainError("terms", "1", "products only; the constant is the option intercept");
  if (!(options.min_abs_t >= 0)) throw core::DomainError("min_abs_t", options.min_abs_t, "a number of at least 0");
  if (options.family == core::NoiseFamily::mixture && options.noise != NoiseLevel::mixture)
    throw core::DomainError("family", "mixture", "noise level `mixture` with it");
  for (std::size_t i = 0; i < options.breakpoints.size(); ++i)
    if (!(options.breakpoints[i] > (i > 0 ? options.breakpoints[i - 1] : 0)) || !std::isfinite(options.breakpoints[i]))
      throw core::DomainError("breakpoint", options.breakpoints[i], "ascending finite numbers above 0");
}

KernelFitOptions published_options(Intercept intercept) {
  KernelFitOptions options;
  options.intercept = intercept;
  options.weighting = Weighting::ordinary;
  options.averaging = Averaging::shapes;
  options.remove_insignificant = false;
  options.keep_positive = false;
  options.published_sigma = true;
  return options;
}

KernelFit fit_kernel(const KernelTable& table, const KernelFitOptions& given) {
  validate(given);
  KernelFit failure;
  if (table.rows() == 0) {
    failure.reason = no_rows_text(table);
    return failure;
  }
  KernelFitOptions options = given;
  const bool constant = !given.published_sigma && is_constant(table);
  if (constant) {
    options.level = "M0";
    options.terms.clear();
  }
  if (options.level == "M'" && options.terms.empty()) options.terms = {product_of_pieces(options.split, table.range())};
  const ShapeRows all{table.shapes(), table.sample()};
  std::vector<double> starts = piece_starts(all, options);
  std::vector<ShapeRows> parts;
  std::vector<FittedPiece> pieces;
  std::vector<core::LawPiece> laws;
  KernelFit fit;
  std::vector<std::string> notes = detail::data_notes(table, product_terms(options));
  if (constant) notes.emplace_back("mu: all durations are equal, whatever the sizes: a constant (M0)");
  for (std::size_t p = 0; p < starts.size(); ++p) {
    const double end = p + 1 < starts.size() ? starts[p + 1] : std::numeric_limits<double>::infinity();
    parts.push_back(starts.size() == 1 ? all : detail::rows_between(all, options.split, starts[p], end));
    const std::string where = starts.size() == 1 ? "" : "piece from " + detail::short_number(starts[p]) + ": ";
    std::optional<FittedPiece> piece = fit_piece(parts.back(), options, p > 0, failure);
    if (!piece) {
      failure.reason = where + failure.reason;
      return failure;
    }
    for (const std::string& note : piece->mean.notes) notes.push_back(where + note);
    const core::Polynomial& mu = piece->piece.mu.polynomial;
    const double constant_s = mu.coefficient(constant_term);
    if (const std::vector<double> calls = detail::column_of(parts.back(), options.split);
        is_free_line(options, p > 0) && constant_s < 0 &&
        (options.non_negative || mu.coefficient(options.split) * starts[p] + constant_s <= 0))
      starts[p] = *std::min_element(calls.begin(), calls.end());  // between the pieces it may be negative still
    piece->piece.from = starts[p];
    laws.push_back({starts[p], piece->law});
    fit.pieces.push_back(piece->piece);
    pieces.push_back(std::move(*piece));
  }
  const core::PiecewiseLaw law = laws.size() == 1 ? core::PiecewiseLaw(laws.front().law)
                                                  : core::PiecewiseLaw::make(options.split, std::move(laws));
  core::FitQuality quality = quality_of(table, pieces, parts);
  core::append(notes, detail::call_notes(table, law));
  quality.notes = std::move(notes);
  fit.model = core::KernelModel::make(options.level, law, {}, table.range(), std::move(quality));
  fit.status = FitStatus::ok;
  return fit;
}

namespace {

const PieceFit& piece_at(const KernelFit& fit, const core::KernelShape& shape) {
  const double where = fit.model.cluster_law().split()(shape);
  std::size_t piece = 0;
  while (piece + 1 < fit.pieces.size() && where >= fit.pieces[piece + 1].from) ++piece;
  return fit.pieces[piece];
}

double variance_at(const PolynomialFit& fit, const core::KernelShape& shape) {
  const auto& terms = fit.polynomial.terms();
  double variance = 0;
  for (std::size_t a = 0; a < fit.covariance.size(); ++a)
    for (std::size_t b = 0; b < fit.covariance.size(); ++b)
      variance += terms[a](shape) * fit.covariance[a][b] * terms[b](shape);
  return std::max(0.0, variance);
}

void validate(const KernelFit& fit, const core::KernelShape& shape, double level) {
  if (!fit.ok()) throw core::DomainError("fit", to_string(fit.status), "a fit with status ok");
  if (!(level > 0) || !(level < 1)) throw core::DomainError("level", level, "a number in (0, 1)");
  const PolynomialFit& mu = piece_at(fit, shape).mu;
  core::require(!mu.covariance.empty(), "degrees of freedom", mu.degrees_of_freedom, "more shapes than coefficients");
}

/// Degrees of freedom of the chi-squared law that the square of sigma at a shape follows: a relative standard error e
/// of sigma is that of 1/(2 e^2) squares. 0: sigma is taken as known.
double freedom_of_sigma(const PolynomialFit& sigma, const core::KernelShape& shape) {
  if (sigma.covariance.empty()) return sigma.degrees_of_freedom;
  const double value = sigma.polynomial(shape);
  const double variance = variance_at(sigma, shape);
  return variance > 0 ? std::max(1.0, value * value / (2 * variance)) : 0;
}

/// The duration of a new call when mean and standard deviation of its law are uncertain: the average of the law over
/// equally probable means and standard deviations. 15 of each leave errors of the order of 0.1 percent in the
/// probability.
class PredictiveLaw {
 public:
  PredictiveLaw(const core::DurationLaw& law, const core::KernelShape& shape, double mean_error, double sigma_freedom)
      : law_(law), shape_(shape), mean_(law.mean_s(shape)) {
    constexpr int count = 15;
    for (int i = 0; i < count; ++i) {
      const double probability = (i + 0.5) / count;
      shifts_.push_back(mean_error * normal_quantile(probability));
      if (sigma_freedom > 0)
        scales_.push_back(std::sqrt(sigma_freedom / chi_squared_quantile(sigma_freedom, probability)));
    }
    if (scales_.empty()) scales_.push_back(1);
  }

  double cdf(double duration_s) const {
    double sum = 0;
    for (double shift : shifts_)
      for (double scale : scales_) sum += duration_cdf(law_, shape_, mean_ + (duration_s - shift - mean_) / scale);
    return sum / static_cast<double>(shifts_.size() * scales_.size());
  }

  double quantile(double probability) const {
    double step = law_.sd_s(shape_) + (shifts_.back() - shifts_.front());
    double lower = mean_ - step, upper = mean_ + step;
    while (cdf(lower) > probability) lower -= (step *= 2);
    while (cdf(upper) < probability) upper += (step *= 2);
    boost::uintmax_t most_steps = 100;
    const auto bracket = boost::math::tools::toms748_solve([&](double x) { return cdf(x) - probability; }, lower, upper,
                                                           boost::math::tools::eps_tolerance<double>(30), most_steps);
    return (bracket.first + bracket.second) / 2;
  }

 private:
  const core::DurationLaw& law_;
  core::KernelShape shape_;
  double mean_;
  std::vector<double> shifts_, scales_;
};

}  // namespace

Bounds mean_interval_s(const KernelFit& fit, const core::KernelShape& shape, double level) {
  validate(fit, shape, level);
  const PolynomialFit& mu = piece_at(fit, shape).mu;
  const double quantile = students_t_quantile(mu.degrees_of_freedom, (1 + level) / 2);
  const double half = quantile * std::sqrt(variance_at(mu, shape)), mean = mu.polynomial(shape);
  return {mean - half, mean + half, level};
}

Bounds prediction_interval_s(const KernelFit& fit, const core::KernelShape& shape, double level) {
  validate(fit, shape, level);
  const PieceFit& piece = piece_at(fit, shape);
  const core::DurationLaw& law = fit.model.cluster_law().at(shape);
  if (!(law.sd_s(shape) > 0)) return mean_interval_s(fit, shape, level);
  const PredictiveLaw predictive(law, shape, std::sqrt(variance_at(piece.mu, shape)),
                                 freedom_of_sigma(piece.sigma, shape));
  return {predictive.quantile((1 - level) / 2), predictive.quantile((1 + level) / 2), level};
}

}  // namespace hplcast::fit
