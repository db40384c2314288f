#include "hplcast/core/kernel_id.hpp"

namespace hplcast::core {

std::optional<KernelId> kernel_from_name(std::string_view name) {
  for (int i = 0; i < kernel_count; ++i) {
    if (name == kernel_names[static_cast<std::size_t>(i)]) return static_cast<KernelId>(i);
  }
  return std::nullopt;
}

}  // namespace hplcast::core
