#pragma once

#include <string>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::study {

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

}  // namespace hplcast::study
