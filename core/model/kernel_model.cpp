#include "hplcast/core/kernel_model.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace {

constexpr double sqrt_two_over_pi = 0.79788456080286535588;
constexpr double two_over_pi = 0.63661977236758134308;
constexpr double mixture_tolerance = 1e-6;  // published mixtures are printed with 7 digits

void check_modes(const std::vector<MixtureMode>& modes) {
  double probability = 0;
  double mean = 0;
  for (const MixtureMode& mode : modes) {
    if (!(mode.probability >= 0) || !std::isfinite(mode.mean) || !(mode.sd >= 0))
      throw DomainError("mixture mode",
                        "{" + std::to_string(mode.probability) + ", " + std::to_string(mode.mean) + ", " +
                            std::to_string(mode.sd) + "}",
                        "probability >= 0, finite mean, sd >= 0");
    probability += mode.probability;
    mean += mode.probability * mode.mean;
  }
  require(std::abs(probability - 1) <= mixture_tolerance, "sum of mixture probabilities", probability, "1");
  require(std::abs(mean - 1) <= mixture_tolerance, "expectation of the mixture", mean, "1 (relative to mu)");
}

}  // namespace

DurationLaw DurationLaw::make(Polynomial mu, Polynomial sigma, NoiseFamily noise, std::vector<MixtureMode> modes) {
  if (noise == NoiseFamily::mixture) {
    if (modes.empty()) throw DomainError("modes", "empty", "at least one mode for noise `mixture`");
    check_modes(modes);
  } else if (!modes.empty()) {
    throw DomainError("modes", std::to_string(modes.size()), "none unless the noise is `mixture`");
  }
  DurationLaw law;
  law.mu_ = std::move(mu);
  law.sigma_ = std::move(sigma);
  law.noise_ = noise;
  law.modes_ = std::move(modes);
  return law;
}

double DurationLaw::sd_s(const KernelShape& shape) const noexcept {
  switch (noise_) {
    case NoiseFamily::none:
      break;
    case NoiseFamily::half_normal:
    case NoiseFamily::normal:
    case NoiseFamily::log_normal:
      return std::abs(sigma_(shape));
    case NoiseFamily::mixture: {
      double second_moment = 0;
      for (const MixtureMode& mode : modes_)
        second_moment += mode.probability * (mode.sd * mode.sd + mode.mean * mode.mean);
      return std::abs(mu_(shape)) * std::sqrt(std::max(0.0, second_moment - 1));
    }
  }
  return 0;
}

double half_normal(double mean, double sd, double normal) noexcept {
  static const double scale_of_sd = 1 / std::sqrt(1 - two_over_pi);
  const double scale = sd * scale_of_sd;
  return mean + std::abs(normal) * scale - scale * sqrt_two_over_pi;
}

double DurationLaw::sample_s(const KernelShape& shape, const Draw& draw) const noexcept {
  const double mu = mu_(shape);
  switch (noise_) {
    case NoiseFamily::none:
      return mu;
    case NoiseFamily::half_normal:
      return half_normal(mu, sigma_(shape), draw.normal);
    case NoiseFamily::normal:
      return mu + sigma_(shape) * draw.normal;
    case NoiseFamily::log_normal: {
      if (!(mu > 0)) return mu;
      const double ratio = sigma_(shape) / mu;
      const double variance = std::log1p(ratio * ratio);
      return mu * std::exp(std::sqrt(variance) * draw.normal - variance / 2);
    }
    case NoiseFamily::mixture: {
      const MixtureMode& mode = pick_mode(modes_, draw.uniform);
      return mu * (mode.mean + mode.sd * draw.normal);
    }
  }
  return mu;
}

const MixtureMode& pick_mode(const std::vector<MixtureMode>& modes, double uniform) noexcept {
  for (const MixtureMode& mode : modes) {
    if (uniform < mode.probability) return mode;
    uniform -= mode.probability;
  }
  return modes.back();
}

PiecewiseLaw::PiecewiseLaw(DurationLaw law) : pieces_{LawPiece{0, std::move(law)}} {}

PiecewiseLaw PiecewiseLaw::make(Monomial split, std::vector<LawPiece> pieces) {
  if (pieces.empty()) throw DomainError("pieces", "empty", "at least one");
  for (std::size_t i = 1; i < pieces.size(); ++i)
    if (!(pieces[i - 1].from < pieces[i].from))
      throw DomainError("from", pieces[i].from, "strictly ascending starts of the pieces");
  PiecewiseLaw result;
  result.split_ = split;
  result.pieces_ = std::move(pieces);
  return result;
}

const DurationLaw& PiecewiseLaw::at(const KernelShape& shape) const noexcept {
  if (pieces_.size() == 1) return pieces_.front().law;
  const double where = split_(shape);
  const auto after = std::upper_bound(pieces_.begin() + 1, pieces_.end(), where,
                                      [](double value, const LawPiece& piece) { return value < piece.from; });
  return std::prev(after)->law;
}

bool contains(const ShapeRange& range, const KernelShape& shape) noexcept {
  return range.min.m <= shape.m && shape.m <= range.max.m && range.min.n <= shape.n && shape.n <= range.max.n &&
         range.min.k <= shape.k && shape.k <= range.max.k;
}

KernelModel KernelModel::make(std::string level, PiecewiseLaw law, std::vector<CpuLaw> overrides,
                              std::optional<ShapeRange> range, FitQuality quality) {
  require(level == "M0" || level == "M1" || level == "M2" || level == "M'", "level", level, "M0, M1, M2 or M'");
  const auto key = [](const CpuLaw& o) { return std::tuple(o.host, o.cpu); };
  std::sort(overrides.begin(), overrides.end(), [&](const CpuLaw& a, const CpuLaw& b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    if (overrides[i].host < 0 || overrides[i].cpu < 0)
      throw DomainError("host or cpu of an override", "negative", "an index from 0");
    if (i > 0 && key(overrides[i - 1]) == key(overrides[i]))
      throw DomainError(
          "overrides",
          "host " + std::to_string(overrides[i].host) + " cpu " + std::to_string(overrides[i].cpu) + " twice",
          "each CPU once");
  }
  constexpr double most = 1e15;  // instructions of a stretch; no machine holds such a matrix
  if (range) {
    for (const double size : {range->min.m, range->min.n, range->min.k})
      if (!(size >= 0)) throw DomainError("range", size, "sizes of at least 0");
    for (const double size : {range->max.m, range->max.n, range->max.k})
      if (!(size <= most)) throw DomainError("range", size, "sizes of at most 1e15");
  }
  KernelModel model;
  model.level_ = std::move(level);
  model.law_ = std::move(law);
  model.overrides_ = std::move(overrides);
  model.range_ = range;
  model.quality_ = std::move(quality);
  return model;
}

const PiecewiseLaw& KernelModel::law(int host, int cpu) const noexcept {
  const auto found =
      std::lower_bound(overrides_.begin(), overrides_.end(), std::tuple(host, cpu),
                       [](const CpuLaw& o, const std::tuple<int, int>& k) { return std::tuple(o.host, o.cpu) < k; });
  if (found != overrides_.end() && found->host == host && found->cpu == cpu) return found->law;
  return law_;
}

}  // namespace hplcast::core
