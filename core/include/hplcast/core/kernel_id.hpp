#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hplcast::core {

/// The kernels of HPL that have a model. The order is that of `hplcast_kernel` in hplcast_smpi.h.
enum class KernelId : int {
  dgemm,
  dtrsm,
  dgemv,
  dger,
  dtrsv,
  daxpy,
  dscal,
  dswap,
  dcopy,
  idamax,
  dlacpy,
  dlatcpy,
  dlaswp00N,
  dlaswp01N,
  dlaswp01T,
  dlaswp02N,
  dlaswp03N,
  dlaswp03T,
  dlaswp04N,
  dlaswp04T,
  dlaswp05N,
  dlaswp05T,
  dlaswp06N,
  dlaswp06T,
  dlaswp10N,
  dlocswpN,
  dlocswpT,
};

inline constexpr int kernel_count = 27;

/// Names as they stand in cluster.json and in measurements, in the order of KernelId.
inline constexpr std::array<const char*, kernel_count> kernel_names = {
    "dgemm",     "dtrsm",     "dgemv",     "dger",      "dtrsv",     "daxpy",     "dscal",     "dswap",     "dcopy",
    "idamax",    "dlacpy",    "dlatcpy",   "dlaswp00N", "dlaswp01N", "dlaswp01T", "dlaswp02N", "dlaswp03N", "dlaswp03T",
    "dlaswp04N", "dlaswp04T", "dlaswp05N", "dlaswp05T", "dlaswp06N", "dlaswp06T", "dlaswp10N", "dlocswpN",  "dlocswpT"};

/// The kernel of that name, or nothing.
std::optional<KernelId> kernel_from_name(std::string_view name);

inline const char* to_string(KernelId id) {
  return kernel_names[static_cast<std::size_t>(id)];
}

}  // namespace hplcast::core
