#include "fit/program/program_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "fit/kernel/kernel_regression.hpp"

namespace hplcast::fit::detail {

namespace {

double time_of(const ShapeSummary& shape) {
  return static_cast<double>(shape.count) * shape.mean_s;
}

/// Sums over shapes of neighbouring sizes.
struct Bin {
  double first = 0, last = 0;  ///< sizes
  double calls = 0, time_s = 0, amount = 0;
  double weight = 0, linear = 0, square = 0;  ///< of the weighted squares of (rate amount / time - 1)

  void add(const Bin& other) {
    if (calls == 0) first = other.first;
    last = other.last;
    calls += other.calls;
    time_s += other.time_s;
    amount += other.amount;
    weight += other.weight;
    linear += other.linear;
    square += other.square;
  }

  /// Squared relative errors at the rate that keeps the total time, which is that of the fit (Weighting::totals).
  double squares() const {
    const double rate = time_s / amount;
    return std::max(0.0, square * rate * rate - 2 * linear * rate + weight);
  }
};

/// In ascending order of sizes, at most 64; equal sizes are in one.
std::vector<Bin> bins_of(const KernelTable& table, const core::Monomial& term, const core::Monomial& split,
                         const std::vector<double>& weights) {
  std::map<double, Bin> by_size;
  for (std::size_t i = 0; i < table.shapes().size(); ++i) {
    const ShapeSummary& one = table.shapes()[i];
    const double size = split(one.shape), count = static_cast<double>(one.count), amount = term(one.shape);
    const double ratio = amount / one.mean_s;
    by_size[size].add(
        {size, size, count, time_of(one), count * amount, weights[i], weights[i] * ratio, weights[i] * ratio * ratio});
  }
  constexpr double most_bins = 64;
  const double width = static_cast<double>(by_size.size()) > most_bins
                           ? std::log(by_size.rbegin()->first / by_size.begin()->first) / most_bins
                           : 0;
  std::vector<Bin> bins;
  for (const auto& [size, bin] : by_size) {
    if (bins.empty() || !(std::log(size / bins.back().first) < width)) bins.emplace_back();
    bins.back().add(bin);
  }
  return bins;
}

/// The part of the mean square error that is due to the scatter of the calls, whatever the form.
double square_by_chance(const KernelTable& table, const std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < table.shapes().size(); ++i) {
    const ShapeSummary& one = table.shapes()[i];
    sum += weights[i] * one.variance_s2() / static_cast<double>(one.count) / (one.mean_s * one.mean_s);
  }
  return sum;
}

/// For each number of pieces the least mean square error of all bins, and the first bin of each piece but the first.
struct Division {
  double square = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> starts;
};

std::vector<Division> divisions_of(const std::vector<Bin>& bins, std::size_t most_pieces) {
  constexpr double fewest_calls = 3;
  // best[p][j]: the first j bins in p + 1 pieces.
  std::vector<std::vector<Division>> best(most_pieces, std::vector<Division>(bins.size() + 1));
  for (std::size_t j = 1; j <= bins.size(); ++j) {
    Bin last;
    for (std::size_t i = j; i-- > 0;) {  // the last piece begins at i
      Bin longer = bins[i];
      longer.add(last);
      last = last.calls == 0 ? bins[i] : longer;
      const bool is_all = i == 0 && j == bins.size();
      if (last.calls < fewest_calls && !is_all) continue;
      const double square = last.squares();
      if (i == 0) best[0][j] = {square, {}};
      for (std::size_t p = 1; p < most_pieces && i > 0; ++p) {
        const Division& before = best[p - 1][i];
        if (!(before.square + square < best[p][j].square)) continue;
        best[p][j] = {before.square + square, before.starts};
        best[p][j].starts.push_back(i);
      }
    }
  }
  std::vector<Division> divisions;
  for (std::vector<Division>& row : best) divisions.push_back(std::move(row.back()));
  return divisions;
}

}  // namespace

ShapeWeights weights_of(const KernelTable& table, const core::Monomial& product) {
  const auto range_of_size = [&](const ShapeSummary& one) { return std::floor(std::log2(product(one.shape))); };
  double time_s = 0;
  std::map<double, double> range_times;
  for (const ShapeSummary& one : table.shapes()) {
    time_s += time_of(one);
    range_times[range_of_size(one)] += time_of(one);
  }
  ShapeWeights weights;
  for (const ShapeSummary& one : table.shapes()) {
    const double by_time = time_of(one) / time_s;
    const double by_size = time_of(one) / range_times[range_of_size(one)] / static_cast<double>(range_times.size());
    weights.by_time.push_back(by_time);
    weights.by_size.push_back(by_size);
    weights.both.push_back((by_time + by_size) / 2);
  }
  return weights;
}

double root_mean_square_error(const KernelTable& table, const core::PiecewiseLaw& law,
                              const std::vector<double>& weights) {
  double squares = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const ShapeSummary& one = table.shapes()[i];
    const double error = law.at(one.shape).mean_s(one.shape) / one.mean_s - 1;
    squares += weights[i] * error * error;
  }
  return std::sqrt(squares);
}

ModelError range_errors(const KernelTable& table, const core::PiecewiseLaw& law) {
  struct Cell {
    double observed_s = 0, predicted_s = 0;
  };
  std::map<std::array<double, 3>, Cell> cells;
  for (const ShapeSummary& one : table.shapes()) {
    const auto range = [](double size) { return std::floor(std::log2(size)); };
    Cell& cell = cells[{range(one.shape.m), range(one.shape.n), range(one.shape.k)}];
    cell.observed_s += time_of(one);
    cell.predicted_s += static_cast<double>(one.count) * law.at(one.shape).mean_s(one.shape);
  }
  ModelError errors;
  double time_s = 0;
  for (const auto& [range, cell] : cells) {
    const double error_s = std::abs(cell.predicted_s - cell.observed_s);
    time_s += cell.observed_s;
    errors.by_time += error_s;
    errors.by_size += error_s / cell.observed_s / static_cast<double>(cells.size());
  }
  errors.by_time /= time_s;
  return errors;
}

std::optional<KernelFitOptions> form_by_size(const KernelTable& table, const core::Monomial& term,
                                             const core::Monomial& split) {
  const std::vector<double> weights = weights_of(table, split).both;
  const std::vector<Bin> bins = bins_of(table, term, split, weights);
  constexpr std::size_t most_pieces = 5;  // three caches, memory, and memory of more pages than the TLB holds
  const std::vector<Division> divisions = divisions_of(bins, std::min(most_pieces, bins.size()));
  constexpr double as_runs_vary = 0.05;
  const double floor = std::max(as_runs_vary * as_runs_vary, square_by_chance(table, weights));
  const double count = static_cast<double>(bins.size());
  const Division* best = nullptr;
  double least_bic = std::numeric_limits<double>::infinity();
  for (const Division& one : divisions) {
    const double parameters = 2 * static_cast<double>(one.starts.size()) + 1;  // rates, and where they begin
    const double bic = count * std::log(std::max(one.square, floor)) + parameters * std::log(count);
    if (!(bic < least_bic)) continue;
    least_bic = bic;
    best = &one;
  }
  if (best == nullptr || best->starts.empty()) return std::nullopt;
  KernelFitOptions form;
  form.level = "M'";
  form.terms = {term};
  form.intercept = Intercept::none;
  form.non_negative = true;
  form.remove_insignificant = false;
  form.family.reset();
  form.sigma_terms = {term};  // a piece may have one size
  form.split = split;
  for (const std::size_t start : best->starts)
    form.breakpoints.push_back(std::sqrt(bins[start - 1].last * bins[start].first));
  return form;
}

KernelFit with_pieces(KernelFit fit, const core::Monomial& split, std::vector<core::LawPiece> pieces,
                      const core::ShapeRange& range, const std::vector<std::string>& notes) {
  core::FitQuality quality = fit.model.quality();
  quality.notes.insert(quality.notes.end(), notes.begin(), notes.end());
  quality.mu_standard_errors.clear();
  quality.mu_t_values.clear();
  quality.sigma_standard_errors.clear();
  quality.sigma_t_values.clear();
  fit.model =
      core::KernelModel::make("M'", core::PiecewiseLaw::make(split, std::move(pieces)), {}, range, std::move(quality));
  return fit;
}

KernelFit joined(const KernelFit& inside, const KernelFit& outside, const core::Monomial& split, double from,
                 const core::ShapeRange& range) {
  KernelFit fit = inside;
  std::vector<core::LawPiece> laws;
  fit.pieces.clear();
  const auto add = [&](const KernelFit& part, double begin, double end) {
    const std::vector<core::LawPiece>& pieces = part.model.cluster_law().pieces();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const double piece_end = i + 1 < pieces.size() ? pieces[i + 1].from : std::numeric_limits<double>::infinity();
      if (piece_end <= begin || pieces[i].from >= end) continue;
      laws.push_back({std::max(begin, pieces[i].from), pieces[i].law});
      fit.pieces.push_back(part.pieces[i]);
      fit.pieces.back().from = laws.back().from;
    }
  };
  add(inside, 0, from);
  add(outside, from, std::numeric_limits<double>::infinity());
  std::vector<std::string> notes;
  for (const std::string& note : outside.model.quality().notes)
    notes.push_back("from " + to_string(split) + " = " + short_number(from) + ": " + note);
  return with_pieces(std::move(fit), split, std::move(laws), range, notes);
}

}  // namespace hplcast::fit::detail
