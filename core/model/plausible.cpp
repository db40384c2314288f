// Numbers that no machine has. Limits are far beyond what machines do, so that only other units, or other numbers, get
// there: seconds per GB in place of seconds per byte, microseconds, Gbit/s, milliwatts.
#include <algorithm>
#include <cmath>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

struct Limits {
  double low = 0, high = 0;
  bool hold(double value) const { return value >= low && value <= high; }
};

constexpr Limits dgemm_flop_per_s = {1e8, 1e12};   // one core; more is an accelerator, or a rank of threads_per_rank
constexpr Limits kernel_flop_per_s = {1e6, 1e12};  // the others: bound by memory, or by the call itself
constexpr Limits element_s = {1e-12, 1e-6};        // of kernels that move data: 8 MB/s to 8 TB/s
constexpr double slower_than_dgemm = 100;          // dtrsm: nearly as fast as dgemm from some hundred rows on
constexpr double faster_in_panels = 2;             // dgemm; less of them is in caches for long
constexpr double apart_from_others = 10;           // one CPU from the cluster
constexpr double scatter_over_mean = 10;
constexpr double most_short_call_s = 10e-3, few_elements = 1e4;
constexpr double most_jump = 30;      // between pieces: a cache, or threads of the library, are a factor of 5
constexpr double worth_a_rate = 1e7;  // flop; shorter calls are bound by the call itself
constexpr Limits remote_latency_s = {50e-9, 10e-3}, short_message_range_s = {0, 10e-3}, probe_range_s = {0, 10e-3};
constexpr Limits first_use_range_s_per_byte = {0, 100e-9};  // 400 us per page
constexpr Limits scatter_range_s = {0, 1};
constexpr Limits bytes_per_s = {1e6, 1e12};  // Ethernet of 10 Mbit/s to the caches of a large host
constexpr Limits capacity_over_flow = {0.01, 1000};
constexpr Limits host_bytes = {1e7, 1e15};
constexpr Limits accelerator_flop_per_s = {1e9, 1e15};  // from one that is a CPU in disguise
constexpr Limits link_bytes_per_s = {1e8, 1e12}, device_bytes_per_s = {1e8, 1e14};
constexpr Limits launch_limits_s = {0, 1e-3};  // of an accelerator: a launch, or a column of a kernel with a flag
constexpr Limits busy_core_w = {0.05, 2000};   // all of a host over its cores
constexpr Limits clock_hz = {1e7, 1e11};
constexpr Limits busy_accelerator_w = {1, 5000};

QualityFlag beyond_limits(const std::string& subject, const std::string& found, const std::string& expected,
                          const std::string& mistake) {
  return {subject, "implausible", found + "; expected " + expected + " (" + mistake + "?)"};
}

std::string text(double value, const char* unit) {
  return printed("%.3g ", value) + unit;
}

std::string text(const Limits& limits, const char* unit) {
  return (limits.low == 0 ? printed("at most %.3g ", limits.high) : printed("%.3g to %.3g ", limits.low, limits.high)) +
         unit;
}

constexpr const char* in_microseconds = "microseconds in place of seconds";

/// A flag for a value outside of its limits. `before`: words in front of it.
void look_at_value(std::vector<QualityFlag>& flags, const std::string& field, double value, const Limits& limits,
                   const char* unit, const char* mistake, const std::string& before = "") {
  if (!limits.hold(value))
    flags.push_back(beyond_limits(field, before + text(value, unit), text(limits, unit), mistake));
}

/// The largest call that the model was fitted on, or one of HPL; and the middle of its range in logarithms.
std::pair<KernelShape, KernelShape> large_and_middle(const KernelModel& model) {
  const ShapeRange range = model.range().value_or(ShapeRange{{1, 1, 1}, {1000, 1000, 128}});
  const auto middle = [](double a, double b) { return std::sqrt(std::max(a, 1.0) * std::max(b, 1.0)); };
  return {range.max,
          {middle(range.min.m, range.max.m), middle(range.min.n, range.max.n), middle(range.min.k, range.max.k)}};
}

double elements(KernelId kernel, const KernelShape& shape) {
  double product = 1;
  for (const char size : kernel_sizes[static_cast<std::size_t>(kernel)])
    product *= size == 'm' ? shape.m : size == 'n' ? shape.n : shape.k;
  return product;
}

void look_at_rate(const std::string& name, const KernelModel& model, double dgemm_rate, int threads,
                  std::vector<QualityFlag>& flags) {
  const std::optional<KernelId> kernel = kernel_from_name(name);
  KernelShape large = large_and_middle(model).first;
  if (name == "dtrsm") large.m = large.k = std::min(large.m, large.k);  // k is the order of the triangle: m
  const double mean_s = model.cluster_law().at(large).mean_s(large);
  if (!kernel || !(mean_s > 0)) return;
  const std::string field = "/kernels/" + name;
  const double flop = kernel_flop(*kernel, large);
  if (flop == 0)
    return look_at_value(flags, field, mean_s / elements(*kernel, large), element_s, "s per element",
                         "durations in another unit than seconds");
  const double rate = flop / mean_s;
  Limits limits = name == "dgemm" ? dgemm_flop_per_s : kernel_flop_per_s;
  limits.high *= threads;
  if (!limits.hold(rate)) {
    flags.push_back(beyond_limits(field, text(rate / 1e9, "Gflop/s"),
                                  printed("%.3g to %.3g Gflop/s of a rank", limits.low / 1e9, limits.high / 1e9),
                                  "durations in another unit than seconds, or a rank that is more than one core"));
  } else if (name == "dtrsm" && dgemm_rate > slower_than_dgemm * rate) {
    flags.push_back(beyond_limits(field, printed("%.3g times slower than dgemm", dgemm_rate / rate),
                                  printed("at most %.0f times", slower_than_dgemm),
                                  "durations in another unit than those of dgemm"));
  } else if (name == "dgemm") {
    const KernelShape panel = {large.m, std::min(large.n, 64.0), std::min(large.k, 64.0)};
    const double panel_s = model.cluster_law().at(panel).mean_s(panel);
    const double least_s = kernel_flop(*kernel, panel) / (faster_in_panels * rate);
    if (panel_s < least_s)
      flags.push_back(beyond_limits(
          field + "/mu",
          printed("a call of %.0f x %.0f x %.0f, as in panels, takes ", panel.m, panel.n, panel.k) + text(panel_s, "s"),
          "at least " + text(least_s, "s, half of what it takes at the rate of the largest calls"),
          "a term that is negative, or of other sizes"));
  }
}

/// Calls that are short by their sizes, but not by their time: constants of another unit.
void look_at_smallest(const std::string& name, const KernelModel& model, std::vector<QualityFlag>& flags) {
  const std::optional<KernelId> kernel = kernel_from_name(name);
  const KernelShape smallest = model.range().value_or(ShapeRange{}).min;
  const KernelShape shape = {std::max(smallest.m, 1.0), std::max(smallest.n, 1.0), std::max(smallest.k, 1.0)};
  const double mean_s = model.cluster_law().at(shape).mean_s(shape);
  if (!kernel || mean_s <= most_short_call_s || elements(*kernel, shape) > few_elements) return;
  flags.push_back(
      beyond_limits("/kernels/" + name + "/mu",
                    printed("a call of %.0f x %.0f x %.0f takes ", shape.m, shape.n, shape.k) + text(mean_s, "s"),
                    "at most " + text(most_short_call_s, "s"), in_microseconds));
}

/// Where a piece ends and the next begins, durations are nearly the same.
void look_at_pieces(const std::string& name, const KernelModel& model, std::vector<QualityFlag>& flags) {
  const PiecewiseLaw& law = model.cluster_law();
  const KernelShape large = large_and_middle(model).first;
  const double degree = law.split().m + law.split().n + law.split().k;
  for (std::size_t i = 1; i < law.pieces().size() && degree > 0; ++i) {
    const double scale = std::pow(law.pieces()[i].from / law.split()(large), 1 / degree);
    const KernelShape border = {scale * large.m, scale * large.n, scale * large.k};
    const double before_s = law.pieces()[i - 1].law.mean_s(border), after_s = law.pieces()[i].law.mean_s(border);
    const double jump = after_s / before_s;
    if (!(before_s > 0 && after_s > 0) || (jump <= most_jump && jump >= 1 / most_jump)) continue;
    flags.push_back(beyond_limits(
        "/kernels/" + name + printed("/pieces/%zu", i), printed("calls get %.3g times as long where it begins", jump),
        printed("%.3g to %.0f times", 1 / most_jump, most_jump), "one piece in another unit than its neighbour"));
    return;
  }
}

void look_at_scatter(const std::string& name, const KernelModel& model, std::vector<QualityFlag>& flags) {
  const auto [large, middle] = large_and_middle(model);
  const DurationLaw& law = model.cluster_law().at(large);
  const double mean_s = law.mean_s(large), sd_s = law.sd_s(large);
  if (mean_s > 0 && sd_s > scatter_over_mean * mean_s)
    flags.push_back(beyond_limits("/kernels/" + name + "/sigma",
                                  printed("%.3g times mu for the largest calls", sd_s / mean_s),
                                  printed("at most %.0f times", scatter_over_mean), "another unit than that of mu"));
  if (law.sigma()(large) < 0)
    flags.push_back({"/kernels/" + name + "/sigma", "negative_sigma",
                     "it is negative for the largest calls: the simulation takes its absolute value"});
  if (mean_s > 0 && model.range() && model.cluster_law().at(middle).mean_s(middle) <= 0)
    flags.push_back(
        {"/kernels/" + name + "/mu", "negative_in_the_middle",
         printed("calls of %.0f x %.0f x %.0f, in the middle of the calibrated range, take no time: their mu "
                 "is negative",
                 middle.m, middle.n, middle.k)});
}

void look_at_cpus(const std::string& name, const KernelModel& model, std::vector<QualityFlag>& flags) {
  const KernelShape large = large_and_middle(model).first;
  const double usual_s = model.cluster_law().at(large).mean_s(large);
  if (!(usual_s > 0)) return;
  std::size_t found = 0;
  double most = 1;
  const CpuLaw* first = nullptr;
  for (const CpuLaw& own : model.overrides()) {
    const double ratio = own.law.at(large).mean_s(large) / usual_s;
    if (ratio > 0 && ratio <= apart_from_others && ratio >= 1 / apart_from_others) continue;
    if (found++ == 0) first = &own, most = ratio;
  }
  if (first != nullptr)
    flags.push_back(beyond_limits(printed("/kernels/%s, host %d, cpu %d", name.c_str(), first->host, first->cpu),
                                  printed("%.3g times the duration of the cluster, one of %zu such CPUs", most, found),
                                  printed("%.1f to %.0f times", 1 / apart_from_others, apart_from_others),
                                  "a row of another unit, or a wrong fit"));
}

void look_at_scope(const std::string& field, const ScopeModel& scope, bool remote, std::vector<QualityFlag>& flags) {
  look_at_value(flags, field + "/latency_s", scope.latency_s,
                {remote ? remote_latency_s.low : 0, remote_latency_s.high}, "s", in_microseconds);
  look_at_value(flags, field + "/first_use_s_per_byte", scope.first_use_s_per_byte, first_use_range_s_per_byte,
                "s/byte", "seconds per page or per MB in place of per byte");
  std::vector<SegmentedLaw> laws(scope.costs.begin(), scope.costs.end());
  laws.push_back(scope.transfer(true));
  double widest_s = 0;
  std::set<double> sizes = {1, std::max(scope.max_bytes, 1e6)};  // and where segments begin and end
  for (const SegmentedLaw& law : laws) {
    for (const Segment& segment : law.segments()) {
      widest_s = std::max(widest_s, segment.sd_s);
      if (segment.min_bytes > 1) sizes.insert({segment.min_bytes - 1, segment.min_bytes});
    }
  }
  look_at_value(flags, field + "/operations", widest_s, scatter_range_s, "s", in_microseconds, "messages scatter by ");
  const auto message_s = [&](double size) {
    const auto cost_s = [&](MessageCost cost) { return scope.cost(cost).mean_s(size); };
    return scope.exchange_cost_s(size) + std::max(cost_s(MessageCost::send), cost_s(MessageCost::isend)) +
           std::max(cost_s(MessageCost::transfer), scope.transfer(true).mean_s(size)) + cost_s(MessageCost::recv);
  };
  for (const double size : sizes) {
    const Limits limits_s = {0, short_message_range_s.high + size / bytes_per_s.low};
    look_at_value(flags, field + "/operations", message_s(size), limits_s, "s",
                  "microseconds in place of seconds, or slopes in s per GB in place of s per byte",
                  printed("a message of %.0f byte%s takes ", size, size > 1 ? "s" : ""));
    if (!limits_s.hold(message_s(size))) break;
  }
  look_at_value(flags, field + "/bandwidth_bytes_per_s", scope.bandwidth_bytes_per_s, bytes_per_s, "bytes/s",
                "Gbit/s or GB/s in place of bytes/s");
  const std::optional<SingleFlow> flow = fastest_flow(scope);
  if (!flow) return;
  look_at_value(flags, field + (flow->is_panel ? "/panels" : "/operations/transfer"), flow->bytes_per_s, bytes_per_s,
                "bytes/s", "slopes in s per GB in place of s per byte",
                printed("a %s of %.0f bytes goes at ", flow->is_panel ? "panel" : "message", flow->size_bytes));
  const double over = scope.link_bytes_per_s() / flow->bytes_per_s;
  if (scope.capacity && !capacity_over_flow.hold(over))
    flags.push_back(beyond_limits(field + "/capacity", printed("%.3g times the rate of a single message", over),
                                  text(capacity_over_flow, "times"), "another unit than bytes/s"));
}

/// The switches, cards, and the way to those that are far.
void look_at_ways(const NetworkModel::Values& network, std::vector<QualityFlag>& flags) {
  if (!network.remote) return;
  const double share_1_bytes_per_s = network.remote->link_bytes_per_s();
  const std::optional<SingleFlow> flow = fastest_flow(*network.remote);
  const auto look_at_end = [&](const std::string& name, double extra_latency_s, double rate_share,
                               const char* share = "/rate_share") {
    look_at_value(flags, name + "/extra_latency_s", extra_latency_s, {0, remote_latency_s.high}, "s", in_microseconds);
    if (flow)
      look_at_value(flags, name + share, rate_share * flow->bytes_per_s, bytes_per_s, "bytes/s",
                    "a rate in place of a share");
  };
  if (const auto* groups = std::get_if<HostGroups>(&network.topology))
    look_at_end("/network/topology", groups->extra_latency_s, groups->bandwidth_share, "/bandwidth_share");
  if (!network.rails) return;
  std::size_t number = 0;
  for (const Rail& card : network.rails->cards) {
    const std::string name = "/network/rails/cards/" + std::to_string(number++);
    look_at_value(flags, name + "/link_share", card.link_share * share_1_bytes_per_s, bytes_per_s, "bytes/s",
                  "a rate in place of a share");
    look_at_end(name, card.extra_latency_s, card.rate_share.value_or(card.link_share));
  }
  number = 0;
  for (const RailReach& far : network.rails->far)
    look_at_end("/network/rails/far/" + std::to_string(number++), far.extra_latency_s, far.rate_share);
  look_at_value(flags, "/network/rails/striped_from_bytes", network.rails->striped_from_bytes, {0, bytes_per_s.high},
                "bytes", "another unit than bytes");
}

/// `field`: the hosts, or a kind.
void look_at_memory(const std::string& field, double memory_bytes, std::vector<QualityFlag>& flags) {
  if (memory_bytes > 0)
    look_at_value(flags, field + "/memory_bytes", memory_bytes, host_bytes, "bytes", "GB in place of bytes");
}

void look_at_power(const ClusterModel& cluster, int host, std::vector<QualityFlag>& flags) {
  if (!cluster.power) return;
  if (const auto& frequency = cluster.power->values().frequency; frequency && host == 0)
    look_at_value(flags, "/power/frequency/hz", frequency->hz, clock_hz, "Hz", "GHz or kHz in place of Hz");
  try {
    const HostPower power(*cluster.power, cluster.hosts, host);
    const int cores = cluster.hosts.cores_of(host);
    for (const CoreState state :
         {state_of(KernelId::dgemm), CoreState::polling, CoreState::blocked, CoreState::messages}) {
      std::vector<CoresInState> all;
      for (int core = 0; core < cores; ++core) all.push_back({cluster.hosts.cpu_of(host, core), state, 1});
      const double one_w = power.watts(all) / cores;
      const bool computes = is_kernel(state);
      if (one_w > busy_core_w.high || (computes && one_w < busy_core_w.low))
        flags.push_back(beyond_limits(
            "/power",
            std::string("a ") + (computes ? "busy" : to_string(state)) + " host draws " + text(one_w, "W per core"),
            text(busy_core_w, "W"), "milliwatts or kilowatts in place of watts"));
    }
  } catch (const DomainError&) {
    // A frequency without watts: predict says so where it matters.
  }
}

/// `field`: "/accelerators/".
void look_at_accelerators(const AcceleratorModel& model, const std::string& field, std::vector<QualityFlag>& flags) {
  if (model.per_host == 0) return;
  const auto look = [&](const std::string& name, double value, const Limits& limits, const char* unit,
                        const char* mistake) { look_at_value(flags, field + name, value, limits, unit, mistake); };
  look("memory_bytes", model.memory_bytes, host_bytes, "bytes", "GB in place of bytes");
  const auto look_at_time = [&](const std::string& name, double time_s, const Limits& limits) {
    look(name, time_s, limits, "s", in_microseconds);
  };
  const auto look_at_rate = [&](const std::string& name, double rate, const Limits& limits) {
    look(name + "bytes_per_s", rate, limits, "bytes/s", "GB/s in place of bytes/s");
  };
  const auto look_at_watts = [&](const std::string& name, double watts) {
    look(name, watts, busy_accelerator_w, "W", "milliwatts or kilowatts in place of watts");
  };
  const std::pair<const char*, double> times_s[] = {{"launch_s", model.launch_s}, {"start_s", model.start_s},
                                                    {"gap_s", model.gap_s},       {"record_s", model.record_s},
                                                    {"sync_s", model.sync_s},     {"flag_s", model.flag_s}};
  for (const auto& [name, value] : times_s) look_at_time(name, value, launch_limits_s);
  const Limits latency_s = {0, remote_latency_s.high};
  const std::pair<std::string, const CopyModel*> copies[] = {
      {"to_device/", &model.to_device}, {"from_device/", &model.from_device}, {"within_device/", &model.within_device}};
  for (const auto& [name, copy] : copies) {
    const Limits& limits = copy == &model.within_device ? device_bytes_per_s : link_bytes_per_s;
    look_at_time(name + "latency_s", copy->latency_s, latency_s);
    look_at_rate(name, copy->bytes_per_s, limits);
    if (copy->pageable_bytes_per_s) look_at_rate(name + "pageable_", *copy->pageable_bytes_per_s, limits);
  }
  const DeviceMessages messages = model.messages.value_or(DeviceMessages());
  const std::pair<std::string, const std::optional<DeviceMessage>*> ways[] = {
      {"messages/near/", &messages.near}, {"messages/local/", &messages.local}, {"messages/remote/", &messages.remote}};
  for (const auto& [name, message] : ways) {
    if (!*message) continue;
    look_at_time(name + "latency_s", (*message)->latency_s, latency_s);
    look_at_rate(name, (*message)->bytes_per_s, link_bytes_per_s);
  }
  if (model.power) look_at_watts("power/busy_w", model.power->busy_w);
  for (const auto& [name, kernel] : model.kernels) {
    if (kernel.power_w) look_at_watts("kernels/" + name + "/power_w", *kernel.power_w);
    if (kernel.handshake)
      look_at_time("kernels/" + name + "/handshake/column_s", kernel.handshake->column_s, launch_limits_s);
    if (!kernel.model || name.substr(0, name.find('/')) != "dgemm") continue;
    const KernelShape large = kernel.model->range() ? kernel.model->range()->max : KernelShape{10000, 10000, 512};
    const double mean_s = kernel.model->cluster_law().at(large).mean_s(large);
    if (mean_s <= 0)
      flags.push_back({field + "kernels/" + name, "negative_mu", "large products take no time: their mu is negative"});
    else
      look_at_value(flags, field + "kernels/" + name, kernel_flop(KernelId::dgemm, large) / mean_s,
                    accelerator_flop_per_s, "flop/s", "durations in another unit than seconds");
  }
}

/// Sizes of a kernel in the update of a panel, when `share` of the rows and columns are left.
std::optional<KernelShape> update_shape(const std::string& name, const HplParameters& run, double share) {
  const double rows = std::max(1.0, std::floor(share * static_cast<double>(run.N) / run.P)),
               columns = std::max(1.0, std::floor(share * static_cast<double>(run.N) / run.Q)),
               panel = static_cast<double>(std::min<long long>(run.NB, run.N));
  if (name == "dgemm") return KernelShape{rows, columns, panel};
  if (name == "dtrsm") return KernelShape{panel, columns, panel};
  if (begins_with(name, "dlaswp") || name == "dlatcpy") return KernelShape{panel, columns, 1};
  if (name == "dlacpy") return KernelShape{rows, panel, 1};
  return std::nullopt;
}

void look_at_update(const std::string& name, const KernelModel& model, const KernelShape& shape, int threads,
                    std::vector<QualityFlag>& flags) {
  const DurationLaw& law = model.cluster_law().at(shape);
  const double mean_s = law.mean_s(shape), sd_s = law.sd_s(shape), flop = kernel_flop(KernelId::dgemm, shape);
  const Limits limits = {dgemm_flop_per_s.low, threads * dgemm_flop_per_s.high};
  const std::string field = "/kernels/" + name,
                    calls = printed("calls of %.0f x %.0f x %.0f, of this run, ", shape.m, shape.n, shape.k);
  if (mean_s <= 0) {
    flags.push_back({field + "/mu", "negative_in_this_run", calls + "take no time: their mu is not positive"});
  } else if (sd_s > scatter_over_mean * mean_s) {
    flags.push_back(beyond_limits(field + "/sigma", calls + printed("scatter by %.3g times mu", sd_s / mean_s),
                                  printed("at most %.0f times", scatter_over_mean), "sizes far from those measured"));
  } else if (name == "dgemm" && flop >= worth_a_rate && !limits.hold(flop / mean_s)) {
    flags.push_back(beyond_limits(field, calls + "make " + text(flop / mean_s / 1e9, "Gflop/s"),
                                  printed("%.3g to %.3g Gflop/s of a rank", limits.low / 1e9, limits.high / 1e9),
                                  "sizes far from those measured"));
  }
}

}  // namespace

std::vector<QualityFlag> implausible_in(const ClusterModel& cluster, const HplParameters& run) {
  std::vector<QualityFlag> flags;
  const std::vector<QualityFlag> known = implausible(cluster);
  const auto is_known = [&](const std::string& name) {
    return std::any_of(known.begin(), known.end(), [&](const QualityFlag& flag) {
      return begins_with(flag.subject + "/", "/kernels/" + name + "/");
    });
  };
  for (const auto& [name, model] : cluster.kernels) {
    if (is_known(name)) continue;
    for (const double share : {1.0, 0.75, 0.5}) {
      const std::optional<KernelShape> shape = update_shape(name, run, share);
      const std::size_t before = flags.size();
      if (shape) look_at_update(name, model, *shape, cluster.hosts.values().threads_per_rank, flags);
      if (flags.size() > before) break;
    }
  }
  return flags;
}

std::vector<QualityFlag> implausible(const ClusterModel& cluster) {
  std::vector<QualityFlag> flags;
  double dgemm_rate = 0;
  if (const auto dgemm = cluster.kernels.find("dgemm"); dgemm != cluster.kernels.end()) {
    const KernelShape large = large_and_middle(dgemm->second).first;
    const double mean_s = dgemm->second.cluster_law().at(large).mean_s(large);
    if (mean_s > 0) dgemm_rate = kernel_flop(KernelId::dgemm, large) / mean_s;
  }
  for (const auto& [name, model] : cluster.kernels) {
    look_at_rate(name, model, dgemm_rate, cluster.hosts.values().threads_per_rank, flags);
    look_at_smallest(name, model, flags);
    look_at_pieces(name, model, flags);
    look_at_scatter(name, model, flags);
    look_at_cpus(name, model, flags);
  }
  for (const auto& [name, duration_s] : cluster.empty_call_s)
    look_at_value(flags, "/empty_call_s/" + name, duration_s, {0, most_short_call_s}, "s", in_microseconds);
  for (const AliasedColumns& columns : cluster.aliased)
    for (const auto& [name, estimate] : columns.kernels)
      look_at_value(flags, printed("/aliased, %ld bytes, ", columns.bytes) + name, estimate.ratio,
                    {1 / apart_from_others, apart_from_others}, "times", "percents, or a time in place of a ratio");
  const NetworkModel::Values& network = cluster.network.values();
  look_at_scope("/network/local", network.local, false, flags);
  if (network.remote) look_at_scope("/network/remote", *network.remote, true, flags);
  look_at_ways(network, flags);
  const std::pair<const char*, double> calls_s[] = {
      {"iprobe_s", network.iprobe_s}, {"test_s", network.test_s}, {"wtime_s", network.wtime_s}};
  for (const auto& [name, value] : calls_s)
    look_at_value(flags, std::string("/network/") + name, value, probe_range_s, "s", in_microseconds);
  const Hosts& hosts = cluster.hosts;
  look_at_memory("/hosts", hosts.values().memory_bytes, flags);
  for (std::size_t kind = 0; kind < hosts.values().kinds.size(); ++kind) {
    const std::string field = "/hosts/kinds/" + std::to_string(kind);
    look_at_memory(field, hosts.values().kinds[kind].memory_bytes, flags);
    if (const double share = hosts.values().kinds[kind].link_share; share < 1 && network.remote)
      look_at_value(flags, field + "/link_share", share * network.remote->link_bytes_per_s(), bytes_per_s, "bytes/s",
                    "a rate in place of a share");
    if (const auto& own = hosts.values().kinds[kind].accelerators)
      look_at_accelerators(*own, field + "/accelerators/", flags);
  }
  std::set<int> kinds;
  for (int host = 0; host < hosts.count(); ++host)
    if (kinds.insert(hosts.kind_of(host)).second) look_at_power(cluster, host, flags);
  if (cluster.accelerators) look_at_accelerators(*cluster.accelerators, "/accelerators/", flags);
  return flags;
}

}  // namespace hplcast::core
