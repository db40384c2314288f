#include "study/whatif/cluster_changes.hpp"

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace {

/// The scope of messages between hosts; of a single host, that of messages within it.
core::ScopeModel& network_scope(core::NetworkModel::Values& network) {
  return network.remote ? *network.remote : network.local;
}

void scale_link_capacity(core::ScopeModel& scope, double factor) {
  if (!scope.capacity) return;
  core::LinkCapacity& capacity = *scope.capacity;
  for (double* rate : {&capacity.bytes_per_s, &capacity.low_bytes_per_s, &capacity.high_bytes_per_s}) *rate *= factor;
}

void scale_scope(core::ScopeModel& scope, double factor) {
  scope.bandwidth_bytes_per_s *= factor;
  scale_link_capacity(scope, factor);
  scope.latency_s /= factor;
  for (core::SegmentedLaw& law : scope.costs) {
    edit_segments(law, [&](core::Segment& segment) {
      scale_intercept(segment, 1 / factor);
      segment.slope_s_per_byte /= factor;
    });
  }
}

}  // namespace

core::ClusterModel scale_kernel(core::ClusterModel cluster, const std::string& kernel, double factor) {
  const double slower = 1 / require_positive("factor", factor);
  bool found = false;
  const auto slow = [&](core::KernelModel& model) {
    model = slowed(model, slower);
    found = true;
  };
  // An observed program has models of its own, by variants: dgemv/N and dgemv/T are both dgemv.
  if (cluster.program) {
    for (auto& [name, model] : cluster.program->routines)
      if (name == kernel || name.substr(0, name.find('/')) == kernel) slow(model);
  }
  if (!found || cluster.kernels.count(kernel) > 0) slow(kernel_of(cluster, kernel));
  return cluster;
}

core::ClusterModel scale_kernels(core::ClusterModel cluster, double factor) {
  const double slower = 1 / require_positive("factor", factor);
  const auto slow = [&](core::KernelModel& model, const std::string&) { model = slowed(model, slower); };
  for (auto& [name, model] : cluster.kernels) slow(model, name);
  if (cluster.program) slow_program(*cluster.program, slow, slower);
  return cluster;
}

core::ClusterModel scale_bandwidth(core::ClusterModel cluster, double factor) {
  require_positive("factor", factor);
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    core::ScopeModel& scope = network_scope(network);
    scope.bandwidth_bytes_per_s *= factor;
    scale_link_capacity(scope, factor);
    if (core::Backbone* backbone = core::backbone_of(network.topology)) backbone->bandwidth_bytes_per_s *= factor;
    edit_segments(scope.cost(core::MessageCost::transfer),
                  [&](core::Segment& segment) { segment.slope_s_per_byte /= factor; });
  });
}

core::ClusterModel scale_capacity(core::ClusterModel cluster, double factor) {
  require_positive("factor", factor);
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    core::ScopeModel& scope = network_scope(network);
    if (!scope.capacity && !network.remote) {
      throw core::DomainError("capacity of messages inside a host", "not known", "one that can be scaled",
                              "`hplcast assemble --local-capacity` gives one");
    }
    if (!scope.capacity) scope.capacity = core::LinkCapacity{scope.link_bytes_per_s()};
    scale_link_capacity(scope, factor);
  });
}

core::ClusterModel scale_latency(core::ClusterModel cluster, double factor) {
  require_positive("factor", factor);
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    core::ScopeModel& scope = network_scope(network);
    scope.latency_s /= factor;
    if (core::Backbone* backbone = core::backbone_of(network.topology)) backbone->latency_s /= factor;
    edit_segments(scope.cost(core::MessageCost::transfer),
                  [&](core::Segment& segment) { scale_intercept(segment, 1 / factor); });
  });
}

core::ClusterModel scale_all(core::ClusterModel cluster, double factor) {
  return with_network(scale_kernels(std::move(cluster), factor), [&](core::NetworkModel::Values& network) {
    scale_scope(network.local, factor);
    if (network.remote) scale_scope(*network.remote, factor);
    if (core::Backbone* backbone = core::backbone_of(network.topology)) {
      backbone->bandwidth_bytes_per_s *= factor;
      backbone->latency_s /= factor;
    }
    for (double* cost : {&network.iprobe_s, &network.test_s, &network.wtime_s}) *cost /= factor;
  });
}

}  // namespace hplcast::study
