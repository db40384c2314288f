# Finds SimGrid with SMPI. Defines the target SimGrid::simgrid and SimGrid_SMPICC, SimGrid_SMPIRUN, SimGrid_VERSION.
find_path(SimGrid_INCLUDE_DIR simgrid/s4u.hpp)
find_library(SimGrid_LIBRARY simgrid)
find_program(SimGrid_SMPICC smpicc)
find_program(SimGrid_SMPIRUN smpirun)

if(SimGrid_INCLUDE_DIR AND EXISTS "${SimGrid_INCLUDE_DIR}/simgrid/version.h")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS "${SimGrid_INCLUDE_DIR}/simgrid/version.h" line REGEX "#define SIMGRID_VERSION_${part} ")
    string(REGEX MATCH "[0-9]+" SimGrid_VERSION_${part} "${line}")
  endforeach()
  set(SimGrid_VERSION "${SimGrid_VERSION_MAJOR}.${SimGrid_VERSION_MINOR}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid
  REQUIRED_VARS SimGrid_LIBRARY SimGrid_INCLUDE_DIR SimGrid_SMPICC SimGrid_SMPIRUN VERSION_VAR SimGrid_VERSION)

# What smpi-models/src/simgrid_port/ was written for and tested with.
set(SimGrid_TESTED 3.32 4.0 4.1)
option(HPLCAST_ANY_SIMGRID "try a version of SimGrid that hplcast was not tested with" OFF)
if(SimGrid_FOUND AND NOT HPLCAST_ANY_SIMGRID AND NOT SimGrid_VERSION IN_LIST SimGrid_TESTED)
  list(JOIN SimGrid_TESTED ", " tested)
  message(FATAL_ERROR "hplcast was not tested with SimGrid ${SimGrid_VERSION} (headers in ${SimGrid_INCLUDE_DIR}); expected one of "
    "${tested}. Install one of these (Debian 12 has 3.32, Debian 13 has 4.0) and set CMAKE_PREFIX_PATH to it, or try this one "
    "with -DHPLCAST_ANY_SIMGRID=ON and run ctest -L smpi")
endif()
mark_as_advanced(SimGrid_INCLUDE_DIR SimGrid_LIBRARY SimGrid_SMPICC SimGrid_SMPIRUN)

if(SimGrid_FOUND AND NOT TARGET SimGrid::simgrid)
  add_library(SimGrid::simgrid UNKNOWN IMPORTED)
  set_target_properties(SimGrid::simgrid PROPERTIES
    IMPORTED_LOCATION "${SimGrid_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${SimGrid_INCLUDE_DIR}")
endif()
