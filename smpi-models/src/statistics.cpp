#include "statistics.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

namespace hplcast::smpi_models {

using Json = nlohmann::ordered_json;

void write_statistics(std::ostream& out, const Statistics& statistics) {
  Json kernels = Json::object();
  for (std::size_t i = 0; i < statistics.kernels.size(); ++i) {
    const core::KernelCount& count = statistics.kernels[i];
    if (count.calls == 0) continue;
    kernels[core::kernel_names[i]] = {
        {"calls", count.calls}, {"outside_range", count.outside_range}, {"time_s", count.time_s}, {"flop", count.flop}};
  }
  Json messages = Json::object();
  for (std::size_t i = 0; i < statistics.messages.size(); ++i) {
    const core::MessageCount& count = statistics.messages[i];
    if (count.calls == 0) continue;
    messages[mpi_names[i]] = {{"calls", count.calls}, {"outside_range", count.outside_range}, {"bytes", count.bytes}};
  }
  const Json json = {{"schema_version", 1},
                     {"cluster", statistics.cluster},
                     {"model_sha256", statistics.model_sha256},
                     {"model_source", statistics.model_source},
                     {"simulator", statistics.simulator},
                     {"seed", statistics.seed},
                     {"noise", statistics.noise},
                     {"ranks", statistics.ranks},
                     {"deadlock", statistics.deadlock},
                     {"end_s", statistics.end_s},
                     {"times_s", statistics.times_s},
                     {"kernels", kernels},
                     {"messages", messages}};
  out << json.dump(2) << '\n';
}

double kernel_flop(core::KernelId kernel, const core::KernelShape& shape) noexcept {
  switch (kernel) {
    case core::KernelId::dgemm:
      return 2 * shape.m * shape.n * shape.k;
    case core::KernelId::dtrsm:
      return shape.m * shape.n * shape.k;
    case core::KernelId::dgemv:
    case core::KernelId::dger:
      return 2 * shape.m * shape.n;
    case core::KernelId::dtrsv:
      return shape.n * shape.n;
    case core::KernelId::daxpy:
      return 2 * shape.n;
    case core::KernelId::dscal:
      return shape.n;
    default:
      return 0;
  }
}

}  // namespace hplcast::smpi_models
