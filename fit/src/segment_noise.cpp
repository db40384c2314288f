#include "hplcast/fit/segment_noise.hpp"

#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"
#include "reservoir.hpp"

namespace hplcast::fit {

const char* to_string(SegmentNoiseKind kind) {
  switch (kind) {
    case SegmentNoiseKind::none:
      return "none";
    case SegmentNoiseKind::n1:
      return "n1";
    case SegmentNoiseKind::mixture:
      break;
  }
  return "mixture";
}

SegmentNoiseKind segment_noise_from_name(const std::string& name) {
  for (const SegmentNoiseKind kind : {SegmentNoiseKind::none, SegmentNoiseKind::n1, SegmentNoiseKind::mixture})
    if (name == to_string(kind)) return kind;
  throw core::DomainError("noise", name, "none, n1 or mixture");
}

SegmentNoiseCollector::SegmentNoiseCollector(std::vector<FittedSegment> segments)
    : segments_(std::move(segments)), residuals_(segments_.size()) {}

void SegmentNoiseCollector::add(double x, double y) {
  constexpr std::size_t capacity = 5000;
  const FittedSegment& segment = segment_at(segments_, x);
  Residuals& residuals = residuals_[static_cast<std::size_t>(&segment - segments_.data())];
  const double residual = y - segment(x);
  ++residuals.rows;
  const double step = residual - residuals.mean;
  residuals.mean += step / static_cast<double>(residuals.rows);
  residuals.m2 += step * (residual - residuals.mean);
  detail::keep_in_reservoir(residuals.sample, capacity, residuals.rows, residual);
}

std::vector<SegmentNoise> SegmentNoiseCollector::noise(SegmentNoiseKind kind) const {
  std::vector<SegmentNoise> all;
  for (const Residuals& residuals : residuals_) {
    SegmentNoise noise;
    constexpr long coefficients = 2;  // of the line, fitted to these rows
    if (residuals.rows > coefficients && kind != SegmentNoiseKind::none) {
      noise.mean = residuals.mean;
      noise.sd = std::sqrt(residuals.m2 / static_cast<double>(residuals.rows - coefficients));
      GaussianMixture mixture;
      if (kind == SegmentNoiseKind::mixture) mixture = fit_gaussian_mixture(residuals.sample);
      if (mixture.ok) noise.modes = std::move(mixture.modes);
      noise.sample = residuals.sample;
    }
    all.push_back(std::move(noise));
  }
  return all;
}

}  // namespace hplcast::fit
