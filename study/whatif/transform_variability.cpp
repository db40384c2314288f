#include <algorithm>
#include <cmath>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "study/whatif/cluster_changes.hpp"

namespace hplcast::study {

namespace {

core::DurationLaw with_cv(const core::DurationLaw& law, double cv) {
  if (cv == 0) return core::DurationLaw::make(law.mu(), {}, core::NoiseFamily::none);
  return core::DurationLaw::make(law.mu(), core::scaled(law.mu(), cv), core::NoiseFamily::half_normal);
}

bool same_form(const core::DurationLaw& a, const core::DurationLaw& b) {
  return a.mu().terms() == b.mu().terms() && a.sigma().terms() == b.sigma().terms() && a.noise() == b.noise() &&
         a.modes() == b.modes();
}

bool same_form(const core::PiecewiseLaw& a, const core::PiecewiseLaw& b) {
  const auto same_piece = [](const core::LawPiece& x, const core::LawPiece& y) {
    return x.from == y.from && same_form(x.law, y.law);
  };
  return a.split() == b.split() &&
         std::equal(a.pieces().begin(), a.pieces().end(), b.pieces().begin(), b.pieces().end(), same_piece);
}

core::Polynomial mean(const std::vector<const core::Polynomial*>& polynomials) {
  std::vector<double> coefficients(polynomials.front()->terms().size(), 0.0);
  for (const core::Polynomial* polynomial : polynomials) {
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      coefficients[i] += polynomial->coefficients()[i] / static_cast<double>(polynomials.size());
    }
  }
  return core::Polynomial::make(polynomials.front()->terms(), std::move(coefficients));
}

double draw_factor(double cv, std::uint64_t seed, int host, int cpu) {
  core::RandomStream random(
      {seed, core::stream_generate, static_cast<std::uint32_t>(host), static_cast<std::uint32_t>(cpu)});
  for (;;) {
    const double factor = 1 + cv * random.normal();
    if (factor > 0.1 && factor < 10) return factor;
  }
}

/// Modes and standard deviation around the same expectation, times `factor`.
void scale_noise(core::Segment& segment, double factor) {
  segment.sd_s *= factor;
  if (segment.modes.empty()) return;
  double expectation = 0;
  for (const core::MixtureMode& mode : segment.modes) expectation += mode.probability * mode.mean;
  if (factor == 0) {
    segment.modes.clear();
    segment.intercept_s = expectation;
  }
  for (core::MixtureMode& mode : segment.modes) {
    mode.mean = expectation + factor * (mode.mean - expectation);
    mode.sd *= factor;
  }
}

}  // namespace

core::ClusterModel with_temporal_cv(core::ClusterModel cluster, const std::optional<std::string>& kernel, double cv) {
  // A half-normal duration is mu - sqrt(2/pi) s at least, with s = sd / sqrt(1 - 2/pi): none must be negative.
  static const double most = std::sqrt(std::acos(-1.0) / 2 - 1);
  if (!(cv >= 0 && cv <= most))
    throw core::DomainError("coefficient of variation", cv, "a number from 0 to 0.755: 0.02 is 2 %");
  const auto edit = [&](core::KernelModel& model) {
    model = edited(model, [&](const core::DurationLaw& law) { return with_cv(law, cv); });
  };
  if (kernel) {
    edit(kernel_of(cluster, *kernel));
  } else {
    for (auto& [name, model] : cluster.kernels) edit(model);
  }
  return cluster;
}

core::ClusterModel scale_network_noise(core::ClusterModel cluster, double factor) {
  if (!(factor >= 0) || !std::isfinite(factor)) throw core::DomainError("factor", factor, "a number >= 0");
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    const auto edit = [&](core::ScopeModel& scope) {
      for (core::SegmentedLaw& law : scope.costs) {
        edit_segments(law, [&](core::Segment& segment) { scale_noise(segment, factor); });
      }
    };
    edit(network.local);
    if (network.remote) edit(*network.remote);
  });
}

core::PiecewiseLaw mean_law(const core::Hosts& hosts, const core::KernelModel& model) {
  std::vector<const core::PiecewiseLaw*> laws;
  for (int host = 0; host < hosts.count(); ++host) {
    for (int cpu = 0; cpu < hosts.values().cpus; ++cpu) laws.push_back(&model.law(host, cpu));
  }
  for (const core::PiecewiseLaw* law : laws) {
    if (!same_form(*law, *laws.front())) return model.cluster_law();
  }
  std::vector<core::LawPiece> pieces = laws.front()->pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::vector<const core::Polynomial*> mu, sigma;
    for (const core::PiecewiseLaw* law : laws) {
      mu.push_back(&law->pieces()[i].law.mu());
      sigma.push_back(&law->pieces()[i].law.sigma());
    }
    const core::DurationLaw& first = laws.front()->pieces()[i].law;
    pieces[i].law = core::DurationLaw::make(mean(mu), mean(sigma), first.noise(), first.modes());
  }
  return core::PiecewiseLaw::make(laws.front()->split(), std::move(pieces));
}

core::ClusterModel with_spatial_cv(core::ClusterModel cluster, double cv, std::uint64_t seed) {
  if (!(cv >= 0 && cv <= 1)) throw core::DomainError("coefficient of variation", cv, "a number from 0 to 1");
  core::KernelModel& dgemm = kernel_of(cluster, "dgemm");
  const core::PiecewiseLaw mean = mean_law(cluster.hosts, dgemm);
  std::vector<core::CpuLaw> laws;
  for (int host = 0; cv > 0 && host < cluster.hosts.count(); ++host) {
    for (int cpu = 0; cpu < cluster.hosts.values().cpus; ++cpu) {
      const double factor = draw_factor(cv, seed, host, cpu);
      laws.push_back({host, cpu, slowed(mean, factor)});
    }
  }
  dgemm = core::KernelModel::make(dgemm.level(), mean, std::move(laws), dgemm.range());
  return cluster;
}

namespace {

void require_some(const core::ClusterModel& cluster) {
  if (cluster.detours.empty())
    throw core::DomainError("detours of " + cluster.name, "none", "one source or more in cluster.json",
                            "add-detours adds one");
}

/// All sources edited, and validated again.
template <typename Edit>
core::ClusterModel edited(core::ClusterModel cluster, Edit edit) {
  require_some(cluster);
  for (core::DetourSource& source : cluster.detours) {
    core::DetourSource::Values values = source.values();
    edit(values);
    source = core::DetourSource::make(std::move(values));
  }
  core::check_detours(cluster.detours);
  return cluster;
}

}  // namespace

core::ClusterModel add_detours(core::ClusterModel cluster, double period_s, double duration_s, core::DetoursPer per,
                               std::vector<int> cores) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(cluster.detours.begin(), cluster.detours.end(),
                       [&](const core::DetourSource& source) { return source.values().name == name; });
  };
  int number = 1;
  while (is_taken("added-" + std::to_string(number))) ++number;
  cluster.detours.push_back(
      core::DetourSource::make({"added-" + std::to_string(number), core::PeriodicDetours(), period_s,
                                core::ConstantDuration{duration_s}, per, false, std::move(cores)}));
  core::check_detours(cluster.detours);
  core::check_detour_cores(cluster.detours, cluster.hosts.values().cores);
  return cluster;
}

core::ClusterModel scale_detours(core::ClusterModel cluster, double factor) {
  if (!(factor >= 0)) throw core::DomainError("factor of detours", factor, "a number of at least 0");
  return edited(std::move(cluster),
                [&](core::DetourSource::Values& values) { values.duration = core::scaled(values.duration, factor); });
}

core::ClusterModel synchronise_detours(core::ClusterModel cluster) {
  return edited(std::move(cluster), [](core::DetourSource::Values& values) { values.per = core::DetoursPer::cluster; });
}

}  // namespace hplcast::study
