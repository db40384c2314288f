#include "hplcast/core/kernel_id.hpp"

namespace hplcast::core {

std::optional<KernelId> kernel_from_name(std::string_view name) {
  for (int i = 0; i < kernel_count; ++i) {
    if (name == kernel_names[static_cast<std::size_t>(i)]) return static_cast<KernelId>(i);
  }
  return std::nullopt;
}

double kernel_flop(KernelId kernel, const KernelShape& shape) noexcept {
  const auto [m, n, k] = shape;
  switch (kernel) {
#define HPLCAST_FLOP(NAME, name, function, call, sizes, flop, touches) \
  case KernelId::name:                                                 \
    return flop;
    HPLCAST_KERNELS(HPLCAST_FLOP)
#undef HPLCAST_FLOP
  }
  return 0;
}

}  // namespace hplcast::core
