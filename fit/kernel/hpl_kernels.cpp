#include "hplcast/fit/hpl_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "fit/kernel/kernel_regression.hpp"

namespace hplcast::fit {

namespace {

using core::KernelId;
using core::Monomial;

constexpr Monomial mnk{1, 1, 1}, mn{1, 1, 0}, mk{1, 0, 1}, nk{0, 1, 1}, m1{1, 0, 0}, n1{0, 1, 0}, k1{0, 0, 1},
    n2{0, 2, 0};

/// Sets of terms of a kernel of HPL, the simplest first.
std::vector<std::vector<Monomial>> terms_of_kernel(KernelId kernel) {
  if (kernel == KernelId::dgemm) return {{mnk, mn, mk, nk}};
  // From the left (P = 1) and from the right (P > 1) it runs at different speeds: mk and nk tell them apart, since
  // k = m or n.
  if (kernel == KernelId::dtrsm) return {{mnk}, {mnk, mn}, {mnk, mn, mk, nk}};
  if (kernel == KernelId::dtrsv) return {{n2}, {n1}, {n2, n1}};
  const auto has = [sizes = core::kernel_sizes[static_cast<std::size_t>(kernel)]](char size) {
    return sizes.find(size) != std::string_view::npos;
  };
  return detail::terms_of_sizes(has('m'), has('n'), has('k'));
}

/// How far a fit is off, and what it costs in coefficients.
struct Score {
  double by_weight = 0;  ///< root mean square of relative errors of shapes, by the time in them, or as asked for
  double by_call = 0;    ///< mean of their absolute values, by calls
  double bic = 0;        ///< n log(by_weight^2) + coefficients log n
};

/// A shape weighs as much in the BIC as the time spent in it: thousands of tiny calls must not choose the formula of
/// the few that take the time.
Score score_of(const KernelTable& table, const KernelFit& fit, const std::vector<double>& weights) {
  double squares = 0, sum = 0, coefficients = 0;
  for (std::size_t i = 0; i < table.shapes().size(); ++i) {
    const ShapeSummary& one = table.shapes()[i];
    const double error = fit.model.cluster_law().at(one.shape).mean_s(one.shape) / one.mean_s - 1;
    const double weight = weights.empty() ? static_cast<double>(one.count) * one.mean_s : weights[i];
    squares += weight * error * error;
    sum += weight;
  }
  for (const PieceFit& piece : fit.pieces)
    coefficients += static_cast<double>(piece.mu.polynomial.terms().size()) + 1;  // and its place
  const double shapes = static_cast<double>(table.shapes().size());
  constexpr double exact = 1e-20;  // errors of 1e-10 are rounding
  const double mean_square = std::max(squares / sum, exact);
  return {std::sqrt(mean_square), fit.model.quality().mean_abs_relative_error,
          shapes * std::log(mean_square) + coefficients * std::log(shapes)};
}

/// Very strong evidence (Kass and Raftery 1995) and a tenth less error: many calls make any difference significant.
bool is_worth_it(const Score& further, const Score& simpler) {
  constexpr double very_strong_evidence = 10, much_less = 0.9;
  if (further.bic >= simpler.bic - very_strong_evidence) return false;
  return further.by_weight <= much_less * simpler.by_weight || further.by_call <= much_less * simpler.by_call;
}

/// A formula that lost its main product to noise would be far off for other sizes.
bool has_main_product(const KernelFit& fit, const KernelFitOptions& options) {
  // The last piece counts: larger sizes are its business.
  return options.terms.empty() || fit.pieces.back().mu.polynomial.coefficient(options.terms.front()) > 0;
}

/// The forms of a kernel that are physically sensible, as forms_with() has them: dgemm M2; the others one product M1
/// (dtrsm mnk, dgemv and dger mn, vector kernels n, dtrsv n^2 or n, copies and row swaps mn), then that product with
/// the lower ones (mn, m, n) as M2. An unknown kernel gets the products of the sizes that vary. dgemm is half-normal,
/// and in one piece its coefficients may be negative.
std::vector<KernelFitOptions> hpl_kernel_forms(const std::string& kernel, const KernelTable& table) {
  const std::optional<KernelId> id = core::kernel_from_name(kernel);
  const auto [least, most] = table.range();
  const auto terms = id ? terms_of_kernel(*id)  // unknown: sizes that vary
                        : detail::terms_of_sizes(most.m > least.m, most.n > least.n, most.k > least.k);
  std::vector<KernelFitOptions> forms = detail::forms_with(terms);
  if (id != KernelId::dgemm) return forms;
  for (KernelFitOptions& form : forms) {
    form.non_negative = form.level == "M'";
    form.remove_insignificant = true;
    form.family = core::NoiseFamily::half_normal;
  }
  return forms;
}

}  // namespace

KernelFitOptions detail::form_of(std::vector<Monomial> terms) {
  KernelFitOptions options;
  options.level = terms.empty() ? "M0" : terms.size() == 1 ? "M1" : "M2";
  options.terms = std::move(terms);
  options.non_negative = true;
  options.remove_insignificant = false;
  options.family.reset();
  return options;
}

std::vector<KernelFitOptions> detail::forms_with(const std::vector<std::vector<Monomial>>& sets) {
  std::vector<KernelFitOptions> forms;
  for (const std::vector<Monomial>& terms : sets)
    forms.push_back(form_of(terms.front() == Monomial{} ? std::vector<Monomial>() : terms));
  const std::size_t whole = forms.size();
  for (std::size_t i = 0; i < whole; ++i) {
    if (forms[i].level == "M0") continue;
    KernelFitOptions pieces = forms[i];
    pieces.level = "M'";
    pieces.split = pieces.terms.front();
    pieces.max_pieces = 3;
    forms.push_back(std::move(pieces));
  }
  return forms;
}

std::vector<std::vector<Monomial>> detail::terms_of_sizes(bool m, bool n, bool k) {
  const Monomial product{m ? 1 : 0, n ? 1 : 0, k ? 1 : 0};
  if (m && n && k) return {{mnk}, {mnk, mn, mk, nk}};
  if (m && n) return {{product}, {product, m1, n1}};
  if (m && k) return {{product}, {product, m1, k1}};
  if (n && k) return {{product}, {product, n1, k1}};
  return {{product}};
}

KernelFit fit_best_form(const KernelTable& table, const std::vector<KernelFitOptions>& forms,
                        const std::vector<double>& weights) {
  KernelFit best;
  Score best_score;
  for (const KernelFitOptions& options : forms) {
    KernelFit fit = fit_kernel(table, options);
    if (!fit.ok() || !has_main_product(fit, options)) continue;
    const Score score = score_of(table, fit, weights);
    if (best.ok() && !is_worth_it(score, best_score)) continue;
    best_score = score;
    best = std::move(fit);
  }
  return best;
}

KernelFit fit_hpl_kernel(const std::string& kernel, const KernelTable& table) {
  const std::vector<KernelFitOptions> forms = hpl_kernel_forms(kernel, table);
  KernelFit best = fit_best_form(table, forms);
  if (best.ok()) return best;
  KernelFitOptions simplest = forms.front();
  simplest.intercept = Intercept::none;
  simplest.level = "M1";
  if (simplest.terms.size() > 1) simplest.terms.resize(1);
  if (!simplest.terms.empty()) best = fit_kernel(table, simplest);
  if (best.ok()) return best;
  simplest.level = "M0";
  simplest.terms.clear();
  return fit_kernel(table, simplest);
}

core::KernelModel with_cpu_laws(const core::KernelModel& model, const TablesByCpu& tables, const CpuFit& fit,
                                std::vector<std::string>& notes) {
  const auto was_measured = [](const TablesByCpu::value_type& entry) { return entry.second.rows() > 0; };
  if (std::count_if(tables.begin(), tables.end(), was_measured) < 2) return model;
  constexpr std::size_t enough_shapes = 20;  // twice over those that the ten coefficients of M2 (mu and sigma) need
  std::vector<core::CpuLaw> laws;
  for (const auto& [place, table] : tables) {
    if (table.rows() == 0) continue;  // whatever was measured there does not count
    const std::string where = "CPU " + std::to_string(place.second) + " of host " + std::to_string(place.first);
    if (table.shapes().size() < enough_shapes) {
      notes.push_back(where + " has the law of all: " + std::to_string(table.shapes().size()) +
                      " shapes were measured on it, at least " + std::to_string(enough_shapes) + " are needed");
      continue;
    }
    const KernelFit one = fit(place, table);
    if (one.ok()) {
      laws.push_back({place.first, place.second, one.model.cluster_law()});
    } else {
      notes.push_back(where + " has the law of all: " + one.reason);
    }
  }
  for (const core::CpuLaw& own : model.overrides()) {  // of their kind of hosts
    const auto same = [&](const core::CpuLaw& law) { return law.host == own.host && law.cpu == own.cpu; };
    if (std::none_of(laws.begin(), laws.end(), same)) laws.push_back(own);
  }
  return core::KernelModel::make(model.level(), model.cluster_law(), std::move(laws), model.range(), model.quality());
}

}  // namespace hplcast::fit
