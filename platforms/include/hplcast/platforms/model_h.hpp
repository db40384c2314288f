#pragma once

#include <iosfwd>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::platforms {

/// model.h: the kernel macros and the kernel models of a cluster as tables in C99 (docs/formats/model-h.md). It
/// includes "hplcast/smpi_models/hplcast_smpi.h". Coefficients are hexadecimal floats: the models are equal to those of
/// cluster.json to the last bit. @throws DomainError for a kernel name that the runtime does not know.
void write_model_h(std::ostream& out, const core::ClusterModel& cluster);

}  // namespace hplcast::platforms
