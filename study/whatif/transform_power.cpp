#include "study/whatif/cluster_changes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace {

using core::ClusterModel;

const core::PowerModel& power_of(const ClusterModel& cluster) {
  if (cluster.power && cluster.power->values().frequency) return *cluster.power;
  throw core::DomainError("power.frequency of " + cluster.name, "not known",
                          "the frequency at which its kernels were measured, and those that can be set",
                          "`hplcast fit power` measures it; docs/formats/cluster-json.md says how to write it");
}

std::string in_ghz(double hz) {
  return core::shortest(hz / 1e9) + " GHz";
}

/// What the hardware may choose from.
std::pair<double, double> range_of(const core::FrequencyModel& frequency) {
  if (!frequency.states_hz.empty()) {
    const auto [least, most] = std::minmax_element(frequency.states_hz.begin(), frequency.states_hz.end());
    return {*least, *most};
  }
  if (frequency.least_hz) return {*frequency.least_hz, *frequency.most_hz};
  throw core::DomainError("power.frequency", "no frequencies that can be set", "states_hz, or least_hz and most_hz");
}

/// Cores of each CPU of a host.
std::vector<int> cores_of_cpus(const core::Hosts& hosts) {
  std::vector<int> cores(static_cast<std::size_t>(hosts.values().cpus), 0);
  for (int core = 0; core < hosts.values().cores; ++core) ++cores[static_cast<std::size_t>(hosts.cpu_of(core))];
  return cores;
}

/// The limits of a cluster, and what they leave of its frequencies.
class CappedFrequencies {
 public:
  explicit CappedFrequencies(const ClusterModel& cluster)
      : power_(power_of(cluster)),
        hosts_(cluster.hosts),
        frequency_(*power_.values().frequency),
        cores_(cores_of_cpus(hosts_)) {}

  /// The highest frequency of a CPU that its own cap and that of its host allow, at most `wanted_hz`.
  double of(int host, int cpu, double wanted_hz) const {
    const core::PowerCaps& caps = power_.values().caps;
    double hz = wanted_hz;
    if (caps.cpu_w)
      hz = highest("caps.cpu_w", *caps.cpu_w, hz,
                   [&](double f) { return cpu_w(core::HostPower(power_, hosts_, host, f), cpu); });
    if (caps.host_w)
      hz = highest("caps.host_w", *caps.host_w, hz, [&](double f) {
        const core::HostPower power(power_, hosts_, host, f);
        double sum_w = 0;
        for (int one = 0; one < hosts_.values().cpus; ++one) sum_w += cpu_w(power, one);
        return sum_w;
      });
    return hz;
  }

 private:
  double cpu_w(const core::HostPower& power, int cpu) const {
    return (power.idle_w() + power.awake_w()) / hosts_.values().cpus +
           cores_[static_cast<std::size_t>(cpu)] * power.core_w(cpu, core::state_of(core::KernelId::dgemm));
  }

  template <typename WattsAt>
  double highest(const char* name, double cap_w, double wanted_hz, WattsAt watts_at) const {
    if (watts_at(wanted_hz) <= cap_w) return wanted_hz;
    double least = range_of(frequency_).first;
    if (const double least_w = watts_at(least); least_w > cap_w) {
      throw core::DomainError("power." + std::string(name), core::shortest(cap_w) + " W",
                              "at least " + core::shortest(std::ceil(least_w * 100) / 100) +
                                  " W, what all cores in dgemm draw at " + in_ghz(least));
    }
    double best = least;
    for (const double state : frequency_.states_hz)
      if (state < wanted_hz && watts_at(state) <= cap_w) best = std::max(best, state);
    if (!frequency_.states_hz.empty()) return best;
    double most = wanted_hz;
    constexpr int halvings = 60;  // to the last digit
    for (int i = 0; i < halvings; ++i) {
      const double middle = least + (most - least) / 2;
      (watts_at(middle) <= cap_w ? least : most) = middle;
    }
    return least;
  }

  const core::PowerModel& power_;
  const core::Hosts& hosts_;
  const core::FrequencyModel& frequency_;
  std::vector<int> cores_;
};

/// A frequency for each CPU of each host, in Hz.
using Frequencies = std::vector<std::vector<double>>;

template <typename Choose>
Frequencies for_each_cpu(const core::Hosts& hosts, Choose choose) {
  Frequencies all;
  for (int host = 0; host < hosts.count(); ++host) {
    all.emplace_back();
    for (int cpu = 0; cpu < hosts.values().cpus; ++cpu) all.back().push_back(choose(host, cpu));
  }
  return all;
}

/// Likewise with the same for all hosts, where no host has watts of its own.
template <typename Choose>
Frequencies choose_frequencies(const ClusterModel& cluster, Choose choose) {
  const std::vector<core::PowerOverride>& overrides = cluster.power->values().overrides;
  const bool alike = std::none_of(overrides.begin(), overrides.end(), [](const auto& one) { return one.host; });
  if (!alike) return for_each_cpu(cluster.hosts, choose);
  std::vector<double> of_host;
  for (int cpu = 0; cpu < cluster.hosts.values().cpus; ++cpu) of_host.push_back(choose(0, cpu));
  return Frequencies(static_cast<std::size_t>(cluster.hosts.count()), of_host);
}

double at(const Frequencies& frequencies, int host, int cpu) {
  return frequencies[static_cast<std::size_t>(host)][static_cast<std::size_t>(cpu)];
}

/// One number, if it is the same everywhere.
std::optional<double> common(const Frequencies& frequencies) {
  const double first = frequencies.front().front();
  for (const std::vector<double>& host : frequencies)
    for (const double hz : host)
      if (hz != first) return std::nullopt;
  return first;
}

/// The kernel at other frequencies: how much longer it takes on each CPU.
core::KernelModel slowed_on_cpus(const core::KernelModel& model, const Frequencies& factors) {
  if (const auto factor = common(factors)) return slowed(model, *factor);
  std::vector<core::CpuLaw> laws;
  double sum = 0;
  for (std::size_t host = 0; host < factors.size(); ++host)
    for (std::size_t cpu = 0; cpu < factors[host].size(); ++cpu) {
      const int h = static_cast<int>(host), c = static_cast<int>(cpu);
      laws.push_back({h, c, slowed(model.law(h, c), factors[host][cpu])});
      sum += factors[host][cpu];
    }
  const double mean = sum / static_cast<double>(laws.size());
  return core::KernelModel::make(model.level(), slowed(model.cluster_law(), mean), std::move(laws), model.range());
}

/// The frequencies of single CPUs, in place of those that overrides have had.
void set_overrides(std::vector<core::PowerOverride>& overrides, const Frequencies& frequencies, bool equal) {
  for (core::PowerOverride& one : overrides) one.hz.reset();
  if (!equal)
    for (std::size_t host = 0; host < frequencies.size(); ++host)
      for (std::size_t cpu = 0; cpu < frequencies[host].size(); ++cpu) {
        const int h = static_cast<int>(host), c = static_cast<int>(cpu);
        const auto place = std::find_if(overrides.begin(), overrides.end(),
                                        [&](const core::PowerOverride& one) { return one.host == h && one.cpu == c; });
        core::PowerOverride& own = place != overrides.end() ? *place : overrides.emplace_back();
        own.host = h;
        own.cpu = c;
        own.hz = frequencies[host][cpu];
      }
  const auto is_empty = [](const core::PowerOverride& one) {
    return !one.hz && !one.idle && !one.awake && !one.off_w && one.states.empty();
  };
  overrides.erase(std::remove_if(overrides.begin(), overrides.end(), is_empty), overrides.end());
}

double mean(const Frequencies& factors) {
  double sum = 0, count = 0;
  for (const std::vector<double>& host : factors)
    for (const double factor : host) {
      sum += factor;
      ++count;
    }
  return sum / count;
}

/// FrequencyModel::time_factor() of code that is no kernel of HPL: the share of `default`.
double other_factor(const core::FrequencyModel& frequency, double from_hz, double to_hz) {
  const auto found = frequency.scaling.find(core::default_state);
  const double share = found == frequency.scaling.end() ? 1 : found->second;
  const double reference_hz = frequency.scaling_hz.value_or(frequency.hz);
  return (share * reference_hz / to_hz + 1 - share) / (share * reference_hz / from_hz + 1 - share);
}

ClusterModel with_frequencies(ClusterModel cluster, const Frequencies& frequencies) {
  const core::PowerModel power = *cluster.power;
  core::PowerModel::Values values = power.values();
  // How much longer code of that name takes on each CPU.
  const auto slower = [&](const std::string& name) {
    const auto kernel = core::kernel_from_name(name);
    return for_each_cpu(cluster.hosts, [&](int host, int cpu) {
      const double from_hz = *power.frequency_hz(host, cpu), to_hz = at(frequencies, host, cpu);
      return kernel ? values.frequency->time_factor(*kernel, from_hz, to_hz)
                    : other_factor(*values.frequency, from_hz, to_hz);
    });
  };
  const auto slow = [&](core::KernelModel& model, const std::string& name) {
    model = slowed_on_cpus(model, slower(name));
  };
  for (auto& [name, model] : cluster.kernels)
    if (core::kernel_from_name(name)) slow(model, name);
  if (cluster.program) slow_program(*cluster.program, slow, mean(slower("")));
  const auto equal = common(frequencies);
  double slowest = at(frequencies, 0, 0);
  for (const auto& host : frequencies) slowest = std::min(slowest, *std::min_element(host.begin(), host.end()));
  values.frequency->scaling_hz = values.frequency->scaling_hz.value_or(values.frequency->hz);
  values.frequency->hz = slowest;
  set_overrides(values.overrides, frequencies, equal.has_value());
  cluster.power = core::PowerModel::make(std::move(values));
  return cluster;
}

}  // namespace

ClusterModel at_frequency(ClusterModel cluster, double hz) {
  require_positive("frequency", hz);
  const core::FrequencyModel& frequency = *power_of(cluster).values().frequency;
  if (!frequency.covers(hz)) {
    const auto [least, most] = range_of(frequency);
    throw core::DomainError("frequency", in_ghz(hz),
                            frequency.states_hz.empty() ? in_ghz(least) + " to " + in_ghz(most)
                                                        : "one of the " + std::to_string(frequency.states_hz.size()) +
                                                              " states from " + in_ghz(least) + " to " + in_ghz(most));
  }
  const CappedFrequencies capped(cluster);
  const Frequencies chosen = choose_frequencies(cluster, [&](int host, int cpu) { return capped.of(host, cpu, hz); });
  return with_frequencies(cluster, chosen);
}

ClusterModel with_power_cap(ClusterModel cluster, double cap_w, bool per_host) {
  require_positive("power cap", cap_w);
  const core::PowerModel before = power_of(cluster);
  const double most_hz = range_of(*before.values().frequency).second;
  const bool was_capped = before.values().caps.cpu_w || before.values().caps.host_w;
  core::PowerModel::Values values = before.values();
  (per_host ? values.caps.host_w : values.caps.cpu_w) = cap_w;
  cluster.power = core::PowerModel::make(std::move(values));
  const CappedFrequencies capped(cluster);
  const Frequencies chosen = choose_frequencies(cluster, [&](int host, int cpu) {
    return capped.of(host, cpu, was_capped ? most_hz : *before.frequency_hz(host, cpu));
  });
  return with_frequencies(cluster, chosen);
}

}  // namespace hplcast::study
