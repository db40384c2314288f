# Finds OpenBLAS with its C interface: in the prefix that an environment module or CMAKE_PREFIX_PATH names, by
# openblas.pc (PKG_CONFIG_PATH), or by its files. Defines the target OpenBLAS::OpenBLAS and OpenBLAS_LIBRARY_DIRS.
foreach(variable IN ITEMS OPENBLAS_ROOT OPENBLAS_HOME OPENBLAS_DIR EBROOTOPENBLAS)  # the last: of EasyBuild
  if(NOT "$ENV{${variable}}" STREQUAL "")
    list(APPEND openblas_prefixes "$ENV{${variable}}")
  endif()
endforeach()
find_library(OpenBLAS_LIBRARY NAMES openblas HINTS ${openblas_prefixes} PATH_SUFFIXES lib lib64
  NO_SYSTEM_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)  # not that of the system, yet

if(NOT OpenBLAS_LIBRARY)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(OpenBLAS_PC QUIET IMPORTED_TARGET GLOBAL openblas)
  endif()
endif()
if(OpenBLAS_PC_FOUND)
  set(OpenBLAS_LIBRARY_DIRS "${OpenBLAS_PC_LIBRARY_DIRS}")
  set(openblas_target PkgConfig::OpenBLAS_PC)
else()
  find_library(OpenBLAS_LIBRARY NAMES openblas HINTS ENV LIBRARY_PATH ENV LD_LIBRARY_PATH)
  get_filename_component(OpenBLAS_LIBRARY_DIRS "${OpenBLAS_LIBRARY}" DIRECTORY)
  find_path(OpenBLAS_INCLUDE_DIR NAMES cblas.h HINTS "${OpenBLAS_LIBRARY_DIRS}/../include" ENV CPATH
    PATH_SUFFIXES openblas openblas-pthread)
  if(OpenBLAS_LIBRARY AND OpenBLAS_INCLUDE_DIR)
    set(openblas_target OpenBLAS::files)
    if(NOT TARGET OpenBLAS::files)
      add_library(OpenBLAS::files UNKNOWN IMPORTED)
      set_target_properties(OpenBLAS::files PROPERTIES
        IMPORTED_LOCATION "${OpenBLAS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${OpenBLAS_INCLUDE_DIR}")
    endif()
  endif()
endif()
mark_as_advanced(OpenBLAS_INCLUDE_DIR OpenBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS openblas_target
  REASON_FAILURE_MESSAGE "expected openblas.pc, or libopenblas and cblas.h. Install OpenBLAS (Debian: libopenblas-dev), or, for one in a prefix or \
an environment module, set CMAKE_PREFIX_PATH=PREFIX, PKG_CONFIG_PATH=PREFIX/lib/pkgconfig or OPENBLAS_ROOT=PREFIX (see docs/use/install.md)")
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS INTERFACE IMPORTED)
  target_link_libraries(OpenBLAS::OpenBLAS INTERFACE ${openblas_target})
endif()
