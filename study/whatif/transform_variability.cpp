#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "study/whatif/cluster_changes.hpp"

// Transformations of how much durations differ, between calls (temporal) and between CPUs (spatial), and of detours
// (docs/use/detours.md).

namespace hplcast::study {

namespace {

/// The number of the argument. @throws core::DomainError for one that is negative or too large.
double temporal_cv(const Argument& argument) {
  // A half-normal duration is mu - sqrt(2/pi) s at least, with s = sd / sqrt(1 - 2/pi): none must be negative.
  static const double most = std::sqrt(std::acos(-1.0) / 2 - 1);
  const double cv = argument.number();
  if (cv >= 0 && cv <= most) return cv;
  throw core::DomainError("coefficient of variation", cv, "a number from 0 to 0.755: 0.02 is 2 %");
}

bool same_form(const core::PiecewiseLaw& a, const core::PiecewiseLaw& b) {
  const auto same_piece = [](const core::LawPiece& x, const core::LawPiece& y) {
    return x.from == y.from && x.law.mu().terms() == y.law.mu().terms() &&
           x.law.sigma().terms() == y.law.sigma().terms() && x.law.noise() == y.law.noise() &&
           x.law.modes() == y.law.modes();
  };
  return a.split() == b.split() &&
         std::equal(a.pieces().begin(), a.pieces().end(), b.pieces().begin(), b.pieces().end(), same_piece);
}

core::Polynomial mean(const std::vector<const core::Polynomial*>& polynomials) {
  std::vector<double> coefficients(polynomials.front()->terms().size(), 0.0);
  for (const core::Polynomial* polynomial : polynomials)
    for (std::size_t i = 0; i < coefficients.size(); ++i)
      coefficients[i] += polynomial->coefficients()[i] / static_cast<double>(polynomials.size());
  return core::Polynomial::make(polynomials.front()->terms(), std::move(coefficients));
}

/// The mean law of the CPUs of a kind of hosts. If their forms differ, that of the first; of no kind, that of the
/// cluster.
core::PiecewiseLaw mean_law(const core::Hosts& hosts, const core::KernelModel& model, int kind) {
  std::vector<const core::PiecewiseLaw*> laws;
  for (int host = 0; host < hosts.count(); ++host)
    for (int cpu = 0; hosts.kind_of(host) == kind && cpu < hosts.cpus_of(host); ++cpu)
      laws.push_back(&model.law(host, cpu));
  for (const core::PiecewiseLaw* law : laws)
    if (!same_form(*law, *laws.front())) return kind == core::Hosts::no_kind ? model.cluster_law() : *laws.front();
  if (laws.empty()) return model.cluster_law();
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
  segment.log_modes = core::with_spread(std::move(segment.log_modes), factor);
  if (segment.modes.empty()) return;
  const double expectation = segment.mean_intercept_s();
  if (factor == 0) {
    segment.modes.clear();
    segment.intercept_s = expectation;
  }
  for (core::MixtureMode& mode : segment.modes) {
    mode.mean = expectation + factor * (mode.mean - expectation);
    mode.sd *= factor;
  }
}

/// dgemm of every CPU becomes the mean law of its kind of hosts, its durations multiplied by a number drawn from N(1,
/// cv^2) for each CPU (below 0.1 and above 10: drawn again). Draws depend on seed, host and CPU only.
ClusterModel with_spatial_cv(ClusterModel cluster, const Argument& argument) {
  const int seed = argument.integer_or(1, 1);
  if (seed < 0) argument.fail();
  const double cv = argument.number(0);
  if (!(cv >= 0 && cv <= 1)) throw core::DomainError("coefficient of variation", cv, "a number from 0 to 1");
  core::KernelModel& dgemm = kernel_of(cluster, "dgemm");
  const core::KernelModel mean = with_mean_laws(cluster.hosts, dgemm);
  std::vector<core::CpuLaw> laws = mean.overrides();
  if (cv > 0) laws.clear();
  for (int host = 0; cv > 0 && host < cluster.hosts.count(); ++host)
    for (int cpu = 0; cpu < cluster.hosts.cpus_of(host); ++cpu)
      laws.push_back(
          {host, cpu, slowed(mean.law(host, cpu), draw_factor(cv, static_cast<std::uint64_t>(seed), host, cpu))});
  dgemm = core::KernelModel::make(dgemm.level(), mean.cluster_law(), std::move(laws), dgemm.range());
  return cluster;
}

/// "3" or "0-3", each below `cores_of_host`.
std::vector<int> detoured_cores(const Argument& argument, const std::string& range, int cores_of_host) {
  const std::size_t dash = range.find('-');
  const int first = argument.whole(range.substr(0, dash));
  const int last = dash == std::string::npos ? first : argument.whole(range.substr(dash + 1));
  if (last < first) argument.fail();
  core::require(last < cores_of_host, "cores of detours", range,
                "below " + std::to_string(cores_of_host) + ", the cores of a host");
  std::vector<int> cores(static_cast<std::size_t>(last - first) + 1);
  std::iota(cores.begin(), cores.end(), first);
  return cores;
}

/// One more source: a detour in every period, with random phases. Its name is the next free of added-1, added-2 ...
/// @throws core::DomainError for a period that is not above 0, detours that leave no time for work, or a core that
/// hosts do not have.
ClusterModel add_detours(ClusterModel cluster, const Argument& argument) {
  core::DetourSource::Values added;
  added.period_s = argument.quantity(0, core::parse_seconds);
  added.duration = core::ConstantDuration{argument.quantity(1, core::parse_seconds)};
  added.per = argument.size() > 2 ? core::from_name<core::DetoursPer>(argument.text(2)) : core::DetoursPer::core;
  if (argument.size() > 3) added.cores = detoured_cores(argument, argument.text(3), cluster.hosts.most_cores());
  const auto is_taken = [&](const core::DetourSource& source) { return source.values().name == added.name; };
  int number = 0;
  do added.name = "added-" + std::to_string(++number);
  while (std::any_of(cluster.detours.begin(), cluster.detours.end(), is_taken));
  cluster.detours.push_back(core::DetourSource::make(std::move(added)));
  core::check_detours(cluster.detours);
  return cluster;
}

/// All sources edited, and validated again. @throws core::DomainError for a cluster without detours.
template <typename Edit>
ClusterModel with_detours(ClusterModel cluster, Edit edit) {
  core::require(!cluster.detours.empty(), "detours of " + cluster.name, "none", "one source or more in cluster.json",
                "add-detours adds one");
  for (core::DetourSource& source : cluster.detours) {
    core::DetourSource::Values values = source.values();
    edit(values);
    source = core::DetourSource::make(std::move(values));
  }
  core::check_detours(cluster.detours);
  return cluster;
}

ClusterModel scale_detours(ClusterModel cluster, const Argument& argument) {
  const double factor = argument.number();
  if (!(factor >= 0)) throw core::DomainError("factor of detours", factor, "a number of at least 0");
  return with_detours(std::move(cluster), [&](core::DetourSource::Values& values) {
    values.duration = core::scaled(values.duration, factor);
  });
}

/// As if whatever causes them were started by one clock.
ClusterModel synchronise_detours(ClusterModel cluster, const Argument& argument) {
  argument.require_yes();
  return with_detours(std::move(cluster),
                      [](core::DetourSource::Values& values) { values.per = core::DetoursPer::cluster; });
}

}  // namespace

void set_temporal_cv(core::KernelModel& model, double cv) {
  model = edited(model, [&](const core::DurationLaw& law) {
    if (cv == 0) return core::DurationLaw::make(law.mu(), {}, core::NoiseFamily::none);
    return core::DurationLaw::make(law.mu(), core::scaled(law.mu(), cv), core::NoiseFamily::half_normal);
  });
}

ClusterModel scale_network_noise(ClusterModel cluster, double factor) {
  if (!(factor >= 0) || !std::isfinite(factor)) throw core::DomainError("factor", factor, "a number >= 0");
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    const auto edit = [&](core::ScopeModel& scope) {
      const auto quieter = [&](core::Segment& segment) { scale_noise(segment, factor); };
      for (core::SegmentedLaw& law : scope.costs) edit_segments(law, quieter);
      if (scope.panels) edit_segments(*scope.panels, quieter);
    };
    edit(network.local);
    if (network.remote) edit(*network.remote);
  });
}

core::KernelModel with_mean_laws(const core::Hosts& hosts, const core::KernelModel& model) {
  std::vector<core::CpuLaw> laws;
  for (int kind = 0; kind < static_cast<int>(hosts.values().kinds.size()); ++kind) {
    const core::PiecewiseLaw mean = mean_law(hosts, model, kind);
    for (int host = 0; host < hosts.count(); ++host)
      for (int cpu = 0; hosts.kind_of(host) == kind && cpu < hosts.cpus_of(host); ++cpu)
        laws.push_back({host, cpu, mean});
  }
  return core::KernelModel::make(model.level(), mean_law(hosts, model, core::Hosts::no_kind), std::move(laws),
                                 model.range());
}

std::vector<KnownTransformation> variability_changes() {
  return {
      {{"temporal-cv", "CV", "coefficient of variation between calls of dgemm; 0: none"},
       [](ClusterModel cluster, const Argument& argument) {
         const double cv = temporal_cv(argument);
         set_temporal_cv(kernel_of(cluster, "dgemm"), cv);
         return cluster;
       }},
      {{"kernels-temporal-cv", "CV", "the same for all kernels"},
       [](ClusterModel cluster, const Argument& argument) {
         const double cv = temporal_cv(argument);
         edit_models(cluster, [&](core::KernelModel& model) { set_temporal_cv(model, cv); });
         return cluster;
       }},
      {{"scale-network-noise", "FACTOR", "scatter of message costs; 0: none"},
       [](ClusterModel cluster, const Argument& argument) {
         return scale_network_noise(std::move(cluster), argument.number());
       }},
      {{"spatial-cv", "CV[:SEED]", "coefficient of variation of dgemm between CPUs; 0: all alike"}, with_spatial_cv}};
}

std::vector<KnownTransformation> detour_changes() {
  return {{{"set-detours", "FILE", "those of a file that `fit detours` wrote, in place of the cluster's"},
           [](ClusterModel cluster, const Argument& argument) {
             cluster.detours = core::read_from(argument.text(), core::read_detours);
             return cluster;
           },
           Argument::nothing},
          {{"add-detours", "PERIOD:DURATION[:core|host|cluster[:CORES]]",
            "one more cause of detours, 1s:10ms:core; what is hit at the same instant (core); on these cores of each "
            "host only, 0 or 0-3 (all)"},
           add_detours},
          {{"scale-detours", "FACTOR", "durations of all detours; 0: none"}, scale_detours},
          {{"synchronise-detours", "yes", "all detours hit all cores at the same instant"}, synchronise_detours}};
}

}  // namespace hplcast::study
