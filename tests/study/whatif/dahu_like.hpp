#pragma once

#include <fstream>
#include <string>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/study/transform.hpp"

/// examples/dahu-like.json, as it is and changed.
namespace hplcast::study {

inline constexpr core::KernelShape shape{2048, 2048, 128};

inline core::ClusterModel dahu_like() {
  const std::string path = HPLCAST_SOURCE_DIR "/examples/dahu-like.json";
  std::ifstream in(path);
  return core::read_cluster(in, path);
}

inline const core::DurationLaw& dgemm_of(const core::ClusterModel& cluster, int host, int cpu) {
  return cluster.kernels.at("dgemm").law(host, cpu).at(shape);
}

inline core::ClusterModel with(const std::string& name, const std::string& argument) {
  return transformed(dahu_like(), {{name, argument}});
}

}  // namespace hplcast::study
