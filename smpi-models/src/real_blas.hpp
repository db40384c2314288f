#pragma once

#include <string>

namespace hplcast::smpi_models {

/// A shared library of BLAS for --numerics run, which all ranks call: BLAS keeps nothing between its calls.
class RealBlas {
 public:
  /// Empty: OpenBLAS, or else the BLAS of the system. @throws core::Error if there is none.
  explicit RealBlas(const std::string& path);

  /// @throws core::Error for a name that it does not have.
  void* routine(const char* name) const;

 private:
  std::string path_;
  void* library_ = nullptr;
};

}  // namespace hplcast::smpi_models
