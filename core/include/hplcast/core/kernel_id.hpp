#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "hplcast/core/kernel_list.h"
#include "hplcast/core/polynomial.hpp"

namespace hplcast::core {

#define HPLCAST_ID(NAME, name, ...) name,
#define HPLCAST_NAME(NAME, name, ...) #name,
#define HPLCAST_SIZES(NAME, name, function, call, sizes, ...) #sizes,

/// The kernels of HPL that have a model. The order is that of `hplcast_kernel` in hplcast_smpi.h.
enum class KernelId : int { HPLCAST_KERNELS(HPLCAST_ID) };

/// Names as they stand in cluster.json and in measurements, in the order of KernelId.
inline constexpr std::array kernel_names = {HPLCAST_KERNELS(HPLCAST_NAME)};

inline constexpr int kernel_count = static_cast<int>(kernel_names.size());

/// Which of m, n, k a kernel has, such as "mn", in the order of KernelId; what it does not have is 1.
inline constexpr std::array<std::string_view, kernel_names.size()> kernel_sizes = {HPLCAST_KERNELS(HPLCAST_SIZES)};

#undef HPLCAST_ID
#undef HPLCAST_NAME
#undef HPLCAST_SIZES

/// The kernel of that name, or nothing.
std::optional<KernelId> kernel_from_name(std::string_view name);

/// flop of one call by the usual count of multiplications and additions; 0 for kernels that only move data.
double kernel_flop(KernelId kernel, const KernelShape& shape) noexcept;

inline const char* to_string(KernelId id) {
  return kernel_names[static_cast<std::size_t>(id)];
}

}  // namespace hplcast::core
