#include <cblas.h>
#include <mpi.h>

#include "hplcast/calibration/world.hpp"

namespace hplcast::calibration {

SoftwareDescription describe_software() {
  SoftwareDescription software;
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  software.mpi_library = std::string(library, static_cast<std::size_t>(length));
  software.mpi_library = software.mpi_library.substr(0, software.mpi_library.find_first_of("\n,"));
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
  software.mpi_standard = std::to_string(version) + "." + std::to_string(subversion);
  software.blas_config = openblas_get_config();
  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": name and version are the first two words.
  const std::size_t name_end = software.blas_config.find(' ');
  software.blas_library = software.blas_config.substr(0, software.blas_config.find(' ', name_end + 1));
  software.blas_core_type = openblas_get_corename();
  software.blas_threads = openblas_get_num_threads();
#ifdef __VERSION__
  software.compiler = "compiled by " __VERSION__;
#endif
  return software;
}

}  // namespace hplcast::calibration
