#include "real_blas.hpp"

#include <dlfcn.h>

#include "hplcast/core/errors.hpp"

namespace hplcast::smpi_models {

RealBlas::RealBlas(const std::string& path) {
  const char* const everywhere[] = {"libopenblas.so.0", "libblas.so.3"};
  for (const char* name : everywhere) {
    path_ = path.empty() ? name : path;
    // Its own functions are its own: the program has some of the same names.
    library_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library_ != nullptr) return;
    if (!path.empty()) break;
  }
  throw core::Error(
      core::ExitCode::bad_input,
      "--numerics run needs a shared library of BLAS; expected " +
          (path.empty() ? std::string("libopenblas.so.0 or libblas.so.3 where the loader finds it") : path) + ": " +
          ::dlerror());
}

void* RealBlas::routine(const char* name) const {
  if (void* const found = ::dlsym(library_, name)) return found;
  throw core::Error(
      core::ExitCode::bad_input,
      path_ + " has no " + name + ", which --numerics run needs; expected another library (HPLCAST_REAL_BLAS)");
}

}  // namespace hplcast::smpi_models
