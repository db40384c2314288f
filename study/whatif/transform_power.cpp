#include "study/whatif/cluster_changes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

// Changes of the frequency of a cluster, as a person sets it or as a limit of power leaves it. Kernels take
// b f0/f + 1 - b of their time, with b of power.frequency.scaling; so does the code of an observed program, with b of
// `default` where it is no kernel of HPL. Network and MPI stay as they are. Limits are kept as hardware does it with
// all cores in dgemm: by the highest frequency that can be set at which
//   idle + awake + sum over cores of p(dgemm, f)
// is at most the limit. A CPU has its share 1/cpus of its host's idle and awake watts. All watts are behind the power
// supply, as RAPL's are. Some states may be at a frequency of their own while a run goes on: their watts are those of
// that frequency from then on, whatever the cluster's. Frequencies that change at instants of the run are kept beside
// all that (core::FrequencySchedule, core::PowerController): the simulation applies them.

namespace hplcast::study {

namespace {

constexpr const char* states_change = "state-frequency";

const core::PowerModel& power_of(const ClusterModel& cluster) {
  if (cluster.provenance.find(std::string("\"") + states_change + "=") != std::string::npos)
    throw core::DomainError("frequency of " + cluster.name, "some states have one of their own (state-frequency)",
                            "all states at that of the cluster", "change the frequency, or the limit of power, before");
  if (cluster.power && cluster.power->values().frequency) return *cluster.power;
  throw core::DomainError("power.frequency of " + cluster.name, "not known",
                          "the frequency at which its kernels were measured, and those that can be set",
                          "`hplcast fit power` measures it; docs/formats/cluster-json.md says how to write it");
}

/// For a change of the frequencies that later ones are relative to.
const core::PowerModel& power_before_changes(const ClusterModel& cluster) {
  const core::PowerModel& power = power_of(cluster);
  core::require(!power.values().frequency->changes(), "frequency of " + cluster.name, "changes while a run goes on",
                "one frequency, before it changes",
                "frequency-at, power-cap-at and power-control come after other changes of the power");
  return power;
}

std::string in_ghz(double hz) {
  return core::shortest(hz / 1e9) + " GHz";
}

/// Frequencies that the hardware may choose from: least and most, in Hz.
std::pair<double, double> range_of(const core::FrequencyModel& frequency) {
  if (!frequency.states_hz.empty()) {
    const auto [least, most] = std::minmax_element(frequency.states_hz.begin(), frequency.states_hz.end());
    return {*least, *most};
  }
  if (frequency.least_hz) return {*frequency.least_hz, *frequency.most_hz};
  throw core::DomainError("power.frequency", "no frequencies that can be set", "states_hz, or least_hz and most_hz");
}

int cores_of_cpu(const core::Hosts& hosts, int host, int cpu) {
  int cores = 0;
  for (int core = 0; core < hosts.cores_of(host); ++core) cores += hosts.cpu_of(host, core) == cpu ? 1 : 0;
  return cores;
}

/// The limits of a cluster, and what they leave of its frequencies.
class CappedFrequencies {
 public:
  explicit CappedFrequencies(const ClusterModel& cluster)
      : power_(power_of(cluster)), hosts_(cluster.hosts), frequency_(*power_.values().frequency) {}

  /// The highest frequency of a CPU that its own cap and that of its host allow, at most `wanted_hz`.
  double of(int host, int cpu, double wanted_hz) const {
    const core::PowerCaps& caps = power_.values().caps;
    double hz = wanted_hz;
    if (caps.cpu_w)
      hz = highest("caps.cpu_w", *caps.cpu_w, hz,
                   [&](double f) { return cpu_w(core::HostPower(power_, hosts_, host, f), host, cpu); });
    if (caps.host_w)
      hz = highest("caps.host_w", *caps.host_w, hz, [&](double f) {
        const core::HostPower power(power_, hosts_, host, f);
        double sum_w = 0;
        for (int one = 0; one < hosts_.cpus_of(host); ++one) sum_w += cpu_w(power, host, one);
        return sum_w;
      });
    return hz;
  }

 private:
  double cpu_w(const core::HostPower& power, int host, int cpu) const {
    return (power.idle_w() + power.awake_w()) / hosts_.cpus_of(host) +
           cores_of_cpu(hosts_, host, cpu) * power.core_w(cpu, core::state_of(core::KernelId::dgemm));
  }

  template <typename WattsAt>
  double highest(const char* name, double cap_w, double wanted_hz, WattsAt watts_at) const {
    if (watts_at(wanted_hz) <= cap_w) return wanted_hz;
    double least = range_of(frequency_).first;
    if (const double least_w = watts_at(least); least_w > cap_w)
      throw core::DomainError("power." + std::string(name), core::shortest(cap_w) + " W",
                              "at least " + core::shortest(std::ceil(least_w * 100) / 100) +
                                  " W, what all cores in dgemm draw at " + in_ghz(least));
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
};

/// A number for each CPU of each host: its frequency in Hz, or how much longer code takes on it.
struct OnCpu {
  int host = 0, cpu = 0;
  double value = 0;
};
using OnCpus = std::vector<OnCpu>;

template <typename Choose>
OnCpus for_each_cpu(const core::Hosts& hosts, Choose choose) {
  OnCpus all;
  for (int host = 0; host < hosts.count(); ++host)
    for (int cpu = 0; cpu < hosts.cpus_of(host); ++cpu) all.push_back({host, cpu, choose(host, cpu)});
  return all;
}

/// for_each_cpu() with the same for all hosts, where no host has watts of its own.
template <typename Choose>
OnCpus choose_frequencies(const ClusterModel& cluster, Choose choose) {
  const std::vector<core::PowerOverride>& overrides = cluster.power->values().overrides;
  const bool alike = !cluster.hosts.has_kinds() &&
                     std::none_of(overrides.begin(), overrides.end(), [](const auto& one) { return one.host; });
  if (!alike) return for_each_cpu(cluster.hosts, choose);
  std::vector<double> of_host;
  for (int cpu = 0; cpu < cluster.hosts.values().cpus; ++cpu) of_host.push_back(choose(0, cpu));
  return for_each_cpu(cluster.hosts, [&](int, int cpu) { return of_host[static_cast<std::size_t>(cpu)]; });
}

bool are_equal(const OnCpus& cpus) {
  return std::all_of(cpus.begin(), cpus.end(), [&](const OnCpu& one) { return one.value == cpus.front().value; });
}

double mean(const OnCpus& cpus) {
  const auto add = [](double sum, const OnCpu& one) { return sum + one.value; };
  return std::accumulate(cpus.begin(), cpus.end(), 0.0, add) / static_cast<double>(cpus.size());
}

/// The kernel at other frequencies: how much longer it takes on each CPU.
core::KernelModel slowed_on_cpus(const core::KernelModel& model, const OnCpus& factors) {
  if (are_equal(factors)) return slowed(model, factors.front().value);
  std::vector<core::CpuLaw> laws;
  for (const auto& [host, cpu, factor] : factors) laws.push_back({host, cpu, slowed(model.law(host, cpu), factor)});
  return core::KernelModel::make(model.level(), slowed(model.cluster_law(), mean(factors)), std::move(laws),
                                 model.range());
}

/// The frequencies of single CPUs, in place of those that overrides have had.
void set_overrides(std::vector<core::PowerOverride>& overrides, const OnCpus& frequencies) {
  for (core::PowerOverride& one : overrides) one.hz.reset();
  for (const OnCpu& set : are_equal(frequencies) ? OnCpus() : frequencies) {
    const auto place = std::find_if(overrides.begin(), overrides.end(), [&](const core::PowerOverride& one) {
      return one.host == set.host && one.cpu == set.cpu;
    });
    core::PowerOverride& own = place != overrides.end() ? *place : overrides.emplace_back();
    own.host = set.host;
    own.cpu = set.cpu;
    own.hz = set.value;
  }
  const auto is_empty = [](const core::PowerOverride& one) {
    return !one.hz && !one.idle && !one.awake && !one.off_w && one.states.empty();
  };
  overrides.erase(std::remove_if(overrides.begin(), overrides.end(), is_empty), overrides.end());
}

ClusterModel with_frequencies(ClusterModel cluster, const OnCpus& frequencies) {
  const core::PowerModel power = *cluster.power;
  core::PowerModel::Values values = power.values();
  // How much longer code of that name takes on each CPU.
  const auto slower = [&](const std::string& name) {
    const auto kernel = core::kernel_from_name(name);
    OnCpus factors = frequencies;
    for (OnCpu& one : factors) {
      const double from_hz = *power.frequency_hz(one.host, one.cpu);
      one.value = values.frequency->time_factor(kernel, from_hz, one.value);
    }
    return factors;
  };
  const auto slow = [&](core::KernelModel& model, const std::string& name) {
    model = slowed_on_cpus(model, slower(name));
  };
  for (auto& [name, model] : cluster.kernels)
    if (core::kernel_from_name(name)) slow(model, name);
  for (auto& [name, duration_s] : cluster.empty_call_s) duration_s *= mean(slower(name));
  if (cluster.program) slow_program(*cluster.program, slow, mean(slower("")));
  const auto by_value = [](const OnCpu& a, const OnCpu& b) { return a.value < b.value; };
  values.frequency->scaling_hz = values.frequency->scaling_hz.value_or(values.frequency->hz);
  values.frequency->hz = std::min_element(frequencies.begin(), frequencies.end(), by_value)->value;
  set_overrides(values.overrides, frequencies);
  cluster.power = core::PowerModel::make(std::move(values));
  return cluster;
}

/// @throws core::DomainError for a frequency that cannot be set.
double require_covered(double hz, const core::FrequencyModel& frequency) {
  require_positive("frequency", hz);
  if (!frequency.covers(hz)) {
    const auto [least, most] = range_of(frequency);
    throw core::DomainError("frequency", in_ghz(hz),
                            frequency.states_hz.empty() ? in_ghz(least) + " to " + in_ghz(most)
                                                        : "one of the " + std::to_string(frequency.states_hz.size()) +
                                                              " states from " + in_ghz(least) + " to " + in_ghz(most));
  }
  return hz;
}

double wanted_hz(const Argument& argument, const ClusterModel& cluster) {
  const double hz = argument.quantity(0, core::parse_hertz);  // a wrong word first
  return require_covered(hz, *power_before_changes(cluster).values().frequency);
}

/// All CPUs at this frequency, or below it where the caps of the cluster do not allow it.
ClusterModel at_frequency(ClusterModel cluster, const Argument& argument) {
  const double hz = wanted_hz(argument, cluster);
  const CappedFrequencies capped(cluster);
  const OnCpus chosen = choose_frequencies(cluster, [&](int host, int cpu) { return capped.of(host, cpu, hz); });
  return with_frequencies(cluster, chosen);
}

/// Another limit of each CPU, or of each host. CPUs that have been below the limit before stay as fast as they are;
/// those that a cap has kept slow get faster with a higher one: up to the frequency at which the kernels were measured
/// or, if a cap has kept them slow there, too, to the highest. @throws core::DomainError for a cap below what a CPU or
/// host draws at its lowest frequency (says how much), and for power that does not depend on the frequency or says of
/// no frequency that can be set.
ClusterModel with_cap(ClusterModel cluster, double cap_w, const std::string& limited) {
  require_positive("power cap", cap_w);
  const core::PowerModel before = power_of(cluster);
  const core::FrequencyModel& frequency = *before.values().frequency;
  const double most_hz = range_of(frequency).second;
  const ClusterModel earlier = cluster;
  const CappedFrequencies allowed(earlier);
  core::PowerModel::Values values = before.values();
  (limited == "host" ? values.caps.host_w : values.caps.cpu_w) = cap_w;
  cluster.power = core::PowerModel::make(std::move(values));
  const CappedFrequencies capped(cluster);
  const OnCpus chosen = choose_frequencies(cluster, [&](int host, int cpu) {
    const double hz = *before.frequency_hz(host, cpu);
    const bool kept_slow = hz >= allowed.of(host, cpu, most_hz) * (1 - 1e-9);
    return capped.of(host, cpu, kept_slow ? std::max(hz, frequency.scaling_hz.value_or(most_hz)) : hz);
  });
  return with_frequencies(cluster, chosen);
}

ClusterModel with_power_cap(ClusterModel cluster, const Argument& argument) {
  const std::string limited = argument.size() > 1 ? argument.text(1) : "cpu";
  if (limited != "cpu" && limited != "host") argument.fail();
  const double cap_w = argument.quantity(0, core::parse_watts);
  power_before_changes(cluster);
  return with_cap(std::move(cluster), cap_w, limited);
}

/// The watts of a state at one frequency, whatever that of the CPUs. @throws core::DomainError for a state that is no
/// kernel with the same at all.
void set_watts(core::PowerModel::Values& values, const std::string& state, bool is_kernel, double hz) {
  const bool has_own = values.states.count(state) > 0;
  bool any_varies = false;
  const auto fix = [&](std::map<std::string, core::Watts>& states, bool by_default) {
    auto law = states.find(state);
    if (law == states.end() && by_default) law = states.find(core::default_state);
    if (law == states.end()) return;
    any_varies = any_varies || law->second.varies();
    states[state] = core::Watts(law->second.at(hz));
  };
  fix(values.states, is_kernel);
  for (core::PowerOverride& one : values.overrides) fix(one.states, is_kernel && !has_own);
  if (!any_varies && !is_kernel)  // kernels take another time
    throw core::DomainError("watts of " + state, "the same at all frequencies", "watts that depend on the frequency",
                            "docs/formats/cluster-json.md#power; those of a state that is not there are 0 W");
}

/// The cores are at this frequency whenever they are in one of these states, and change it in no time.
ClusterModel with_state_frequency(ClusterModel cluster, const Argument& argument) {
  const double hz = wanted_hz(argument, cluster);
  const core::PowerModel power = power_of(cluster);
  core::PowerModel::Values values = power.values();
  const std::vector<std::string> list = core::split(argument.text(1), ',');
  const std::set<std::string> states(list.begin(), list.end());
  if (states.empty()) argument.fail();
  for (const std::string& name : states) {
    const auto kernel = core::kernel_from_name(name);
    if (!kernel && !core::core_state_from_name(name))
      throw core::DomainError("state of " + std::string(states_change), name,
                              "kernels of HPL (dgemm, dlaswp00N ...), polling, blocked or messages, with commas");
    set_watts(values, name, kernel.has_value(), hz);
    if (!kernel) continue;
    const OnCpus slower = for_each_cpu(cluster.hosts, [&](int host, int cpu) {
      return values.frequency->time_factor(*kernel, *power.frequency_hz(host, cpu), hz);
    });
    if (const auto model = cluster.kernels.find(name); model != cluster.kernels.end())
      model->second = slowed_on_cpus(model->second, slower);
    if (const auto empty = cluster.empty_call_s.find(name); empty != cluster.empty_call_s.end())
      empty->second *= mean(slower);
    if (!cluster.program) continue;
    for (auto& [routine, model] : cluster.program->routines)
      if (routine.substr(0, routine.find('/')) == name) model = slowed_on_cpus(model, slower);
  }
  cluster.power = core::PowerModel::make(std::move(values));
  return cluster;
}

// --- frequencies that change while a run goes on

/// "FIRST[;KEY=VALUE]...": the value of a key, or nothing.
std::optional<std::string> option_of(const Argument& argument, const std::string& key) {
  for (std::size_t i = 1; i < argument.size(); ++i)
    if (argument.text(i).rfind(key + "=", 0) == 0) return argument.text(i).substr(key.size() + 1);
  return std::nullopt;
}

void require_options(const Argument& argument, const std::vector<std::string>& keys) {
  for (std::size_t i = 1; i < argument.size(); ++i) {
    const std::string key = argument.text(i).substr(0, argument.text(i).find('='));
    if (std::find(keys.begin(), keys.end(), key) == keys.end() || key.size() == argument.text(i).size())
      argument.fail();
  }
}

std::optional<double> quantity_of(const Argument& argument, const char* key, double (*parse)(const std::string&)) {
  const std::optional<std::string> text = option_of(argument, key);
  if (!text) return std::nullopt;
  return require_positive(key, argument.quantity(*text, parse));
}

/// "120s:VALUE,300s:VALUE;every=TIME;on=HOSTS", with the values in place of frequencies.
core::FrequencySchedule instants_of(const Argument& argument, double (*parse)(const std::string&)) {
  core::FrequencySchedule result;
  for (const std::string& one : core::split(argument.text(), ',')) {
    const std::size_t colon = one.find(':');
    if (colon == std::string::npos) argument.fail();
    result.at_s.push_back(argument.quantity(one.substr(0, colon), core::parse_seconds));
    result.hz.push_back(argument.quantity(one.substr(colon + 1), parse));
  }
  if (result.at_s.empty()) argument.fail();
  result.period_s = quantity_of(argument, "every", core::parse_seconds);
  result.hosts = option_of(argument, "on").value_or("");
  return result;
}

ClusterModel with_changes(ClusterModel cluster, const std::function<void(core::FrequencyModel&)>& edit) {
  core::PowerModel::Values values = power_of(cluster).values();
  edit(*values.frequency);
  cluster.power = core::PowerModel::make(std::move(values));
  core::check_power(*cluster.power, cluster.hosts);
  return cluster;
}

/// The CPUs at these frequencies from each instant on: a schedule for all hosts whose CPUs get the same.
ClusterModel with_schedules(ClusterModel cluster, const core::FrequencySchedule& instants,
                            const std::vector<OnCpus>& frequencies) {
  std::map<int, std::vector<std::vector<double>>> of_host;  // of each CPU, at each instant
  for (std::size_t i = 0; i < frequencies.front().size(); ++i)
    of_host[frequencies.front()[i].host].push_back(
        core::mapped(frequencies, [&](const OnCpus& at_instant) { return at_instant[i].value; }));
  std::map<std::vector<std::vector<double>>, std::vector<std::string>> alike;  // hosts by frequencies of CPUs
  for (const int host : core::hosts_named(instants.hosts, cluster.hosts))
    alike[of_host[host]].push_back(cluster.hosts.names()[static_cast<std::size_t>(host)]);
  return with_changes(std::move(cluster), [&](core::FrequencyModel& frequency) {
    for (const auto& [cpus, names] : alike) {
      const bool one = std::adjacent_find(cpus.begin(), cpus.end(), std::not_equal_to<>()) == cpus.end();
      for (std::size_t cpu = 0; cpu < (one ? 1 : cpus.size()); ++cpu) {
        core::FrequencySchedule& schedule = frequency.schedules.emplace_back(instants);
        if (alike.size() > 1) schedule.hosts = compressed_hosts(names);
        if (!one) schedule.cpu = static_cast<int>(cpu);
        schedule.hz = cpus[cpu];
      }
    }
  });
}

/// Or below them where the caps of the cluster do not allow it.
ClusterModel with_frequency_at(ClusterModel cluster, const Argument& argument) {
  require_options(argument, {"every", "on"});
  const core::FrequencySchedule wanted = instants_of(argument, core::parse_hertz);
  const CappedFrequencies capped(cluster);
  const auto frequencies = core::mapped(wanted.hz, [&](double hz) {
    require_covered(hz, *cluster.power->values().frequency);
    return choose_frequencies(cluster, [&](int host, int cpu) { return capped.of(host, cpu, hz); });
  });
  return with_schedules(cluster, wanted, frequencies);
}

/// The frequencies that limits leave, as by `power-cap`.
ClusterModel with_power_cap_at(ClusterModel cluster, const Argument& argument) {
  require_options(argument, {"every", "on", "of"});
  const std::string limited = option_of(argument, "of").value_or("cpu");
  if (limited != "cpu" && limited != "host") argument.fail();
  const core::FrequencySchedule caps = instants_of(argument, core::parse_watts);
  const auto frequencies = core::mapped(caps.hz, [&](double cap_w) {
    const core::PowerModel capped = *with_cap(cluster, cap_w, limited).power;
    return for_each_cpu(cluster.hosts, [&](int host, int cpu) { return *capped.frequency_hz(host, cpu); });
  });
  return with_schedules(cluster, caps, frequencies);
}

ClusterModel with_power_control(ClusterModel cluster, const Argument& argument) {
  require_options(argument, {"every", "group", "on", "step"});
  core::PowerController controller;
  controller.cap_w = require_positive("power cap", argument.quantity(0, core::parse_watts));
  const std::optional<double> period_s = quantity_of(argument, "every", core::parse_seconds);
  if (!period_s) argument.fail();
  controller.period_s = *period_s;
  controller.hosts = option_of(argument, "on").value_or("");
  controller.step_hz = quantity_of(argument, "step", core::parse_hertz);
  if (const std::optional<std::string> group = option_of(argument, "group")) {
    controller.hosts_per_group = argument.whole(*group);
    if (controller.hosts_per_group == 0) argument.fail();
  }
  return with_changes(std::move(cluster),
                      [&](core::FrequencyModel& frequency) { frequency.controllers.push_back(std::move(controller)); });
}

}  // namespace

std::vector<KnownTransformation> power_changes() {
  return {{{"frequency", "NUMBERGHz", "of all CPUs, 1.8GHz or 1800MHz; needs power.frequency in cluster.json"},
           at_frequency},
          {{states_change, "NUMBERGHz:STATES", "of these states: 1.2GHz:blocked,polling; changes take no time"},
           with_state_frequency},
          {{"power-cap", "WATTS[:cpu|host]", "limit of each CPU (or host), 125W: lowers the frequency to it"},
           with_power_cap},
          {{"frequency-at", "TIME:NUMBERGHz[,...][;every=TIME][;on=HOSTS]",
            "from these instants of a run on: 120s:1.8GHz,300s:2.1GHz"},
           with_frequency_at,
           Argument::semicolon},
          {{"power-cap-at", "TIME:WATTS[,...][;every=TIME][;on=HOSTS][;of=cpu|host]",
            "limits from these instants of a run on: 18h:100W"},
           with_power_cap_at,
           Argument::semicolon},
          {{"power-control", "WATTS;every=TIME[;group=HOSTS][;on=HOSTS][;step=NUMBERGHz]",
            "a controller that keeps each group of hosts at a limit: 5kW;every=1s;group=16"},
           with_power_control,
           Argument::semicolon}};
}

}  // namespace hplcast::study
