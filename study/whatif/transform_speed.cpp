#include "study/whatif/cluster_changes.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

// Transformations of the speed of a cluster. All factors are of speed: 2 is twice as fast. Noise keeps its size
// relative to the duration.

namespace hplcast::study {

namespace {

void scale_capacity_of(core::ScopeModel& scope, double factor) {
  if (!scope.capacity) return;
  core::LinkCapacity& capacity = *scope.capacity;
  for (double* rate : {&capacity.bytes_per_s, &capacity.low_bytes_per_s, &capacity.high_bytes_per_s}) *rate *= factor;
}

}  // namespace

void scale_scope(core::ScopeModel& scope, const NetworkSpeed& by) {
  scope.bandwidth_bytes_per_s *= by.bandwidth;
  scale_capacity_of(scope, by.bandwidth);
  scope.latency_s /= by.latency;
  const auto scale = [](core::SegmentedLaw& law, double intercept, double slope) {
    edit_segments(law, [&](core::Segment& segment) {
      scale_intercept(segment, 1 / intercept);
      segment.slope_s_per_byte /= slope;
    });
  };
  for (const auto cost : {core::MessageCost::send, core::MessageCost::isend, core::MessageCost::recv})
    scale(scope.cost(cost), by.calls, by.calls);
  scope.exchange_s /= by.calls;
  scope.exchange_s_per_byte /= by.bandwidth;
  scope.first_use_s_per_byte /= by.new_memory;
  scale(scope.cost(core::MessageCost::transfer), by.latency, by.bandwidth);
  if (scope.panels) scale(*scope.panels, by.latency, by.bandwidth);
}

namespace {

/// The scope of messages between hosts; of a single host, that of messages within it.
core::ScopeModel& network_scope(core::NetworkModel::Values& network) {
  return network.remote ? *network.remote : network.local;
}

void scale_backbone(core::NetworkModel::Values& network, const NetworkSpeed& by) {
  if (auto* groups = std::get_if<core::HostGroups>(&network.topology)) groups->extra_latency_s /= by.latency;
  if (network.rails) {
    for (core::Rail& card : network.rails->cards) card.extra_latency_s /= by.latency;
    for (core::RailReach& one : network.rails->far) one.extra_latency_s /= by.latency;
  }
  core::Backbone* backbone = core::backbone_of(network.topology);
  if (backbone == nullptr) return;
  backbone->bandwidth_bytes_per_s *= by.bandwidth;
  backbone->latency_s /= by.latency;
}

ClusterModel scale_network(ClusterModel cluster, const NetworkSpeed& by) {
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    scale_scope(network_scope(network), by);
    scale_backbone(network, by);
  });
}

ClusterModel scale_dgemm(ClusterModel cluster, const Argument& argument) {
  const double slower = 1 / argument.factor();
  bool found = false;
  const auto slow = [&](core::KernelModel& model) {
    model = slowed(model, slower);
    found = true;
  };
  // An observed program has models of its own, by variants: all behind "dgemm/" are dgemm, too.
  if (cluster.program) {
    for (auto& [name, model] : cluster.program->routines)
      if (name.substr(0, name.find('/')) == "dgemm") slow(model);
  }
  if (!found || cluster.kernels.count("dgemm") > 0) slow(kernel_of(cluster, "dgemm"));
  return cluster;
}

ClusterModel scale_kernels(ClusterModel cluster, const Argument& argument) {
  const double slower = 1 / argument.factor();
  const auto slow = [&](core::KernelModel& model, const std::string&) { model = slowed(model, slower); };
  for (auto& [name, model] : cluster.kernels) slow(model, name);
  for (auto& [name, duration_s] : cluster.empty_call_s) duration_s *= slower;
  if (cluster.program) slow_program(*cluster.program, slow, slower);
  return cluster;
}

ClusterModel scale_bandwidth(ClusterModel cluster, const Argument& argument) {
  return scale_network(std::move(cluster), {1, argument.factor(), 1});
}

ClusterModel scale_latency(ClusterModel cluster, const Argument& argument) {
  return scale_network(std::move(cluster), {argument.factor(), 1, 1});
}

/// A single message stays as fast as the link allows. Where the capacity is not known, the assumed one is scaled.
/// @throws core::DomainError also for a single host whose messages do not slow each other down.
ClusterModel scale_capacity(ClusterModel cluster, const Argument& argument) {
  const double factor = argument.factor();
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    core::ScopeModel& scope = network_scope(network);
    if (!scope.capacity && !network.remote)
      throw core::DomainError("capacity of messages inside a host", "not known", "one that can be scaled",
                              "`hplcast assemble --local-capacity` gives one");
    if (!scope.capacity) scope.capacity = core::LinkCapacity{scope.link_bytes_per_s()};
    scale_capacity_of(scope, factor);
  });
}

/// All that messages cost: transfers, links, and what the CPU spends on them. Of both scopes, or of one.
ClusterModel scale_messages(ClusterModel cluster, const Argument& argument) {
  const double factor = argument.factor();
  const std::string scope = argument.size() > 1 ? argument.text(1) : "";
  if (!scope.empty() && scope != "local" && scope != "remote") argument.fail();
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    const NetworkSpeed by{factor, factor, factor, factor};
    if (scope == "remote" && !network.remote)
      throw core::DomainError("messages between hosts", "not known", "a cluster in which they were measured");
    if (scope != "remote") scale_scope(network.local, by);
    if (scope == "local") return;
    if (network.remote) scale_scope(*network.remote, by);
    scale_backbone(network, by);
  });
}

/// Factors of an accelerator: so many times as fast, or as large.
struct AcceleratorScale {
  double kernels = 1, copies = 1, messages = 1, memory = 1;
  double calls = 1;  ///< of the host, start, gap and flag
};

void scale_kernel(core::AcceleratorKernel& kernel, double factor) {
  if (kernel.model) kernel.model = slowed(*kernel.model, 1 / factor);
  if (!kernel.handshake) return;
  core::HandshakeModel& talk = *kernel.handshake;
  for (double* time : {&talk.column_s, &talk.column_s_per_row, &talk.update_s_per_element}) *time /= factor;
}

void scale_accelerator(core::AcceleratorModel& model, const AcceleratorScale& by) {
  for (auto& [name, kernel] : model.kernels) scale_kernel(kernel, by.kernels);
  for (double* time : {&model.launch_s, &model.start_s, &model.gap_s, &model.record_s, &model.sync_s, &model.flag_s})
    *time /= by.calls;
  model.within_device.latency_s /= by.calls;
  model.within_device.bytes_per_s *= by.kernels;
  for (core::CopyModel* copy : {&model.to_device, &model.from_device}) {
    copy->latency_s /= by.calls;
    copy->bytes_per_s *= by.copies;
    if (copy->pageable_bytes_per_s) *copy->pageable_bytes_per_s *= by.copies;
  }
  model.memory_bytes *= by.memory;
  if (!model.messages) return;
  for (auto* message : {&model.messages->near, &model.messages->local, &model.messages->remote}) {
    if (!*message) continue;
    (*message)->latency_s /= by.calls;
    (*message)->bytes_per_s *= by.messages;
  }
}

void require_accelerators(const ClusterModel& cluster) {
  if (!cluster.has_accelerators())
    throw core::DomainError("accelerators of cluster " + cluster.name, "none", "a cluster with accelerators");
}

ClusterModel scale_accelerators(ClusterModel cluster, const Argument& argument) {
  const double factor = argument.factor();
  const std::string what = argument.size() > 1 ? argument.text(1) : "kernels";
  AcceleratorScale by;
  double* const scaled = what == "kernels"    ? &by.kernels
                         : what == "copies"   ? &by.copies
                         : what == "messages" ? &by.messages
                         : what == "memory"   ? &by.memory
                                              : nullptr;
  if (scaled == nullptr) argument.fail();
  *scaled = factor;
  require_accelerators(cluster);
  bool any_messages = false;
  edit_accelerators(cluster, [&](core::AcceleratorModel& model) {
    any_messages = any_messages || model.messages;
    scale_accelerator(model, by);
  });
  if (what != "messages" || any_messages) return cluster;
  throw core::DomainError("`messages` of accelerators", "none", "costs of their own",
                          "messages take what `network` says: scale-bandwidth");
}

/// Each kernel at the highest clock c, relative to its own, at which it draws at most the limit: waiting_w + (its watts
/// - waiting_w) c^exponent. @throws core::DomainError without watts, and for a limit that leaves none for kernels.
void cap_accelerator(core::AcceleratorModel& model, double limit_w, double exponent) {
  if (model.per_host == 0) return;
  if (!model.power)
    throw core::DomainError("`power` of accelerators " + model.name, "none", "watts in cluster.json, to be limited");
  core::AcceleratorPower& power = *model.power;
  core::require(limit_w > power.waiting_w, "limit of power of accelerators", core::shortest(limit_w) + " W",
                "more than the " + core::shortest(power.waiting_w) + " W that they draw without a kernel");
  for (auto& [name, kernel] : model.kernels) {
    const double drawn_w = kernel.power_w.value_or(power.busy_w);
    if (drawn_w <= limit_w) continue;
    scale_kernel(kernel, std::pow((limit_w - power.waiting_w) / (drawn_w - power.waiting_w), 1 / exponent));
    if (kernel.power_w) kernel.power_w = limit_w;
  }
  power.busy_w = std::min(power.busy_w, limit_w);
}

ClusterModel with_accelerator_cap(ClusterModel cluster, const Argument& argument) {
  constexpr double cubic = 3;  // watts go with the clock and the square of the voltage, which goes with the clock
  const double limit_w = require_positive("limit of power", argument.quantity(0, core::parse_watts));
  const double exponent = argument.size() > 1 ? require_positive("exponent", argument.number(1)) : cubic;
  require_accelerators(cluster);
  edit_accelerators(cluster, [&](core::AcceleratorModel& model) { cap_accelerator(model, limit_w, exponent); });
  return cluster;
}

/// Everything that takes time: kernels, all costs of messages of both scopes, probes, clock reads, links, accelerators.
ClusterModel scale_all(ClusterModel cluster, const Argument& argument) {
  const double factor = argument.factor();
  const AcceleratorScale by{factor, factor, factor, 1, factor};
  edit_accelerators(cluster, [&](core::AcceleratorModel& model) { scale_accelerator(model, by); });
  cluster = scale_messages(scale_kernels(std::move(cluster), argument), argument);
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    for (double* cost : {&network.iprobe_s, &network.test_s, &network.wtime_s}) *cost /= factor;
  });
}

}  // namespace

std::vector<KnownTransformation> speed_changes() {
  return {
      {{"scale-dgemm", "FACTOR", "speed of dgemm; 2 is twice as fast"}, scale_dgemm},
      {{"scale-kernels", "FACTOR", "speed of all kernels"}, scale_kernels},
      {{"scale-bandwidth", "FACTOR", "bandwidth between hosts"}, scale_bandwidth},
      {{"scale-capacity", "FACTOR", "total bandwidth of several messages through the link of a host"}, scale_capacity},
      {{"scale-latency", "FACTOR", "latency between hosts; 2 is half the latency"}, scale_latency},
      {{"scale-messages", "FACTOR[:local|remote]", "speed of messages in all that they cost, also inside hosts"},
       scale_messages},
      {{"scale-accelerators", "FACTOR[:kernels|copies|messages|memory]",
        "speed of the kernels of accelerators, of copies between them and hosts, of their messages; or their memory"},
       scale_accelerators},
      {{"accelerator-power-cap", "WATTS[:EXPONENT]",
        "limit of each accelerator, 300W: kernels that draw more run at a lower clock; watts go with its power of 3"},
       with_accelerator_cap},
      {{"scale-all", "FACTOR", "speed of everything: kernels and network"}, scale_all}};
}

}  // namespace hplcast::study
