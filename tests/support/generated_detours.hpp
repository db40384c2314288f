#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/detours.hpp"

namespace hplcast::tests {

/// Where detours are generated, and how long.
struct GeneratedPlace {
  int hosts = 1;
  int cores = 2;  ///< of a host
  double for_s = 60;
  double begin_s = 0.3;  ///< of the window: nobody begins at a whole second
};

/// A trace made from known sources, with generators and a way of counting of its own (nothing of the library's).
class GeneratedDetours {
 public:
  GeneratedDetours(const std::vector<core::DetourSource::Values>& sources, const GeneratedPlace& place, unsigned seed)
      : place_(place), engine_(seed) {
    sums_.resize(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) add(sources[i], i);
    for (int host = 0; host < place.hosts; ++host)
      for (int core = 0; core < place.cores; ++core) trace_.cores.push_back(merged(host, core));
    trace_.epoch_unix_s = 1700000000;
    trace_.format = "hplcast";
  }

  const core::DetourTrace& trace() const { return trace_; }
  /// Mean of the durations that were drawn for a source.
  double mean_s(std::size_t source) const { return sums_[source].sum_s / static_cast<double>(sums_[source].count); }
  long count(std::size_t source) const { return sums_[source].count; }

 private:
  struct Sum {
    double sum_s = 0;
    long count = 0;
  };

  double uniform() { return std::uniform_real_distribution<double>(0, 1)(engine_); }

  double draw(const core::DetourDuration& law) {
    if (const auto* constant = std::get_if<core::ConstantDuration>(&law)) return constant->constant_s;
    if (const auto* exponential = std::get_if<core::ExponentialDuration>(&law))
      return std::exponential_distribution<double>(1 / exponential->expected_s)(engine_) + 2e-9;
    const auto& flat = std::get<core::UniformDuration>(law);
    return flat.least_s + uniform() * (flat.most_s - flat.least_s);
  }

  void add(const core::DetourSource::Values& source, std::size_t index) {
    using Per = core::DetoursPer;
    const int keys = source.per == Per::cluster ? 1 : place_.hosts * (source.per == Per::host ? 1 : place_.cores);
    const auto is_hit = [&](int core) {
      return source.cores.empty() || std::count(source.cores.begin(), source.cores.end(), core) > 0;
    };
    for (int key = 0; key < keys; ++key) {
      std::vector<core::DetourEvent> events = source.times.index() == 0 ? periodic(source) : poisson(source);
      for (const core::DetourEvent& event : events) {
        if (source.per == Per::core && !is_hit(key % place_.cores)) break;
        if (event.start_s + event.duration_s >= place_.for_s) continue;  // nobody sees its end
        sums_[index].sum_s += event.duration_s;
        ++sums_[index].count;
      }
      for (int host = 0; host < place_.hosts; ++host)
        for (int core = 0; core < place_.cores; ++core) {
          const bool hit = source.per == Per::cluster || (source.per == Per::host && key == host) ||
                           (source.per == Per::core && key == host * place_.cores + core);
          auto& all = events_[{host, core}];
          if (hit && is_hit(core)) all.insert(all.end(), events.begin(), events.end());
        }
    }
  }

  std::vector<core::DetourEvent> periodic(const core::DetourSource::Values& source) {
    const auto& times = std::get<core::PeriodicDetours>(source.times);
    const double phase_s = times.phase_s ? *times.phase_s : uniform() * source.period_s;
    std::vector<core::DetourEvent> events;
    for (long k = 0; static_cast<double>(k) * source.period_s < place_.for_s; ++k)
      events.push_back(
          {phase_s + static_cast<double>(k) * source.period_s + uniform() * times.jitter_s, draw(source.duration)});
    return events;
  }

  std::vector<core::DetourEvent> poisson(const core::DetourSource::Values& source) {
    std::exponential_distribution<double> wait(1 / source.period_s);
    std::vector<core::DetourEvent> events;
    for (double time = wait(engine_); time < place_.for_s; time += wait(engine_))
      events.push_back({time, draw(source.duration)});
    return events;
  }

  /// What a watching loop sees: a detour that begins while another runs makes that gap longer.
  core::CoreDetours merged(int host, int core) {
    auto& all = events_[{host, core}];
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.start_s < b.start_s; });
    core::CoreDetours result{"node-" + std::to_string(host + 1), core, {}, {}};
    for (const core::DetourEvent& event : all) {
      const double start_s = event.start_s + place_.begin_s;
      if (!result.events.empty() && start_s <= result.events.back().start_s + result.events.back().duration_s) {
        result.events.back().duration_s += event.duration_s;
      } else if (start_s + event.duration_s < place_.begin_s + place_.for_s) {
        result.events.push_back({start_s, event.duration_s});
      }
    }
    const double end_s = result.events.empty() ? 0 : result.events.back().start_s + result.events.back().duration_s;
    result.windows.push_back({place_.begin_s, std::max(end_s, place_.begin_s + place_.for_s)});
    return result;
  }

  GeneratedPlace place_;
  std::mt19937_64 engine_;
  std::map<std::pair<int, int>, std::vector<core::DetourEvent>> events_;
  std::vector<Sum> sums_;
  core::DetourTrace trace_;
};

}  // namespace hplcast::tests
