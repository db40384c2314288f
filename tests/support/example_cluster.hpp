#pragma once

#include <string>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::tests {

inline core::DurationLaw m2(double factor, core::NoiseFamily noise) {
  const auto mu = core::Polynomial::make({{1, 1, 1}, {1, 0, 1}, {0, 1, 1}, {}}, {7e-11, 1.5e-9, 3e-9, 5e-7});
  return core::DurationLaw::make(scaled(mu, factor), scaled(mu, 0.03 * factor), noise);
}

/// Kernels of every noise family, piecewise and with a law of its own for one CPU.
inline std::map<std::string, core::KernelModel> example_kernels() {
  using core::NoiseFamily;
  using core::PiecewiseLaw;
  std::map<std::string, core::KernelModel> kernels;
  kernels["dgemm"] = core::KernelModel::make("M2", PiecewiseLaw(m2(1, NoiseFamily::half_normal)),
                                             {{1, 1, PiecewiseLaw(m2(1.1, NoiseFamily::half_normal))}},
                                             core::ShapeRange{{1, 1, 1}, {150, 1000, 128}});
  const auto line = core::Polynomial::make({{0, 1, 0}}, {4e-10});
  kernels["dscal"] = core::KernelModel::make(
      "M'", PiecewiseLaw::make({0, 1, 0}, {{0, core::DurationLaw::make(line, scaled(line, 0.1), NoiseFamily::normal)},
                                           {4096, core::DurationLaw::make(scaled(line, 2), {}, NoiseFamily::mixture,
                                                                          {{0.75, 0.9, 0.01}, {0.25, 1.3, 0.02}})}}));
  kernels["daxpy"] = core::KernelModel::make(
      "M1", PiecewiseLaw(core::DurationLaw::make(line, scaled(line, 0.2), NoiseFamily::log_normal)));
  kernels["dcopy"] = core::KernelModel::make("M0", PiecewiseLaw(core::DurationLaw::make({}, {}, NoiseFamily::none)));
  return kernels;
}

/// A scope whose costs are all multiples of `unit_s`, with a breakpoint between two whole bytes.
inline core::ScopeModel example_scope(double unit_s, double bandwidth_bytes_per_s) {
  using core::MessageCost;
  using core::SegmentedLaw;
  core::ScopeModel scope;
  scope.bandwidth_bytes_per_s = bandwidth_bytes_per_s;
  scope.latency_s = 2 * unit_s;
  scope.max_bytes = 1e9;
  scope.cost(MessageCost::send) =
      SegmentedLaw::make({{0, 0.3 * unit_s, 1e-10}, {8000.5, 4 * unit_s, 1.1e-10}, {64000, 0, 0}});
  scope.cost(MessageCost::isend) = SegmentedLaw::make({{0, 0.7 * unit_s, 7e-11}, {64000, 0.5 * unit_s, 0}});
  scope.cost(MessageCost::recv) =
      SegmentedLaw::make({{0, 1.4 * unit_s, 8e-11}, {8000.5, unit_s, 1e-10}, {64000, 0, 0}});
  scope.cost(MessageCost::transfer) = SegmentedLaw::make({{0, unit_s, 2 / bandwidth_bytes_per_s},
                                                          {8000.5, 2.5 * unit_s, 1.5 / bandwidth_bytes_per_s},
                                                          {64000, 12 * unit_s, 1 / bandwidth_bytes_per_s}});
  return scope;
}

/// Hosts without kernels, with messages of 1 GB/s and 1 us inside and between them.
inline core::ClusterModel plain_cluster(const std::string& names, int cores) {
  core::ClusterModel cluster;
  core::Hosts::Values hosts;
  hosts.names = names;
  hosts.cores = cores;
  cluster.hosts = core::Hosts::make(hosts);
  core::NetworkModel::Values network;
  network.local.bandwidth_bytes_per_s = 1e9;
  network.local.latency_s = 1e-6;
  network.remote = network.local;
  cluster.network = core::NetworkModel::make(network);
  return cluster;
}

/// Two hosts of four cores and two CPUs; `alike`: local messages cost what remote ones do, which platform.xml can say.
inline core::ClusterModel example_cluster(bool alike) {
  core::ClusterModel cluster;
  cluster.name = "two <nodes>";
  cluster.hosts = core::Hosts::make({"n-[1-2]", 4, 2, {core::RankToCpu::Kind::list, {0, 1, 1, 0}}, 0});
  cluster.kernels = example_kernels();
  core::NetworkModel::Values network;
  network.remote = example_scope(1e-6, 1.25e10);
  network.local = alike ? *network.remote : example_scope(4e-7, 2e10);
  network.async_small_bytes = 64000;
  network.detached_bytes = 64000;
  network.iprobe_s = 2e-7;
  network.test_s = 8e-7;
  network.wtime_s = 3e-8;
  cluster.network = core::NetworkModel::make(network);
  core::PowerModel::Values power;
  power.idle = 100;
  power.awake = 30;
  power.states[core::default_state] = 50;
  power.off_w = 8;
  cluster.power = core::PowerModel::make(power);
  return cluster;
}

/// The same with another network.
template <typename Change>
core::ClusterModel with_network(core::ClusterModel cluster, const Change& change) {
  core::NetworkModel::Values values = cluster.network.values();
  change(values);
  cluster.network = core::NetworkModel::make(values);
  return cluster;
}

}  // namespace hplcast::tests
