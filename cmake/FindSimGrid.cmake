# Finds SimGrid with SMPI. Defines the target SimGrid::simgrid, SimGrid_SMPICC, SimGrid_SMPIRUN, SimGrid_VERSION, and
# SimGrid_SMPI_OPTIONS: what smpicc adds to a compilation (SMPI's own mpi.h first of all).
# smpicc leads: it is searched for as all programs are (CMAKE_PREFIX_PATH, SimGrid_ROOT, then PATH), and smpirun, headers
# and library are those that belong to it, so that several SimGrids on one machine do not get mixed.
find_program(SimGrid_SMPICC smpicc)

# Where smpicc itself looks for headers and library, and the folders around it.
set(include_hints "")
set(library_hints "")
set(program_hints "")
if(SimGrid_SMPICC)
  execute_process(COMMAND "${SimGrid_SMPICC}" -show x.c OUTPUT_VARIABLE shown ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(shown UNIX_COMMAND "${shown}")
  foreach(option IN LISTS shown)
    if(option MATCHES "^-I(.+)$")
      list(APPEND include_hints "${CMAKE_MATCH_1}")
    elseif(option MATCHES "^-L(.+)$")
      list(APPEND library_hints "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  # It puts the folder where it runs before x.c, unquoted.
  execute_process(COMMAND "${SimGrid_SMPICC}" -show -c x.c WORKING_DIRECTORY / OUTPUT_VARIABLE shown
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(SimGrid_SMPI_OPTIONS UNIX_COMMAND "${shown}")
  list(POP_FRONT SimGrid_SMPI_OPTIONS)
  list(FILTER SimGrid_SMPI_OPTIONS EXCLUDE REGEX "^-c$|x\\.c$")
  get_filename_component(real_smpicc "${SimGrid_SMPICC}" REALPATH)
  foreach(program IN ITEMS "${SimGrid_SMPICC}" "${real_smpicc}")
    get_filename_component(folder "${program}" DIRECTORY)
    get_filename_component(prefix "${folder}" DIRECTORY)
    list(APPEND program_hints "${folder}")
    list(APPEND include_hints "${prefix}/include")
    list(APPEND library_hints "${prefix}/lib" "${prefix}/lib64" "${prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  endforeach()
endif()
find_program(SimGrid_SMPIRUN smpirun HINTS ${program_hints} NO_DEFAULT_PATH)
find_path(SimGrid_INCLUDE_DIR simgrid/s4u.hpp HINTS ${include_hints} NO_DEFAULT_PATH)
find_library(SimGrid_LIBRARY simgrid HINTS ${library_hints} NO_DEFAULT_PATH)

# The version of each part: "3.32", or empty if it does not tell.
function(simgrid_version_in text result)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" version "${text}")
  set(${result} "${version}" PARENT_SCOPE)
endfunction()
function(simgrid_version_of_program program result)
  execute_process(COMMAND "${program}" --version OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE ignored)
  simgrid_version_in("${text}" version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

if(SimGrid_INCLUDE_DIR AND EXISTS "${SimGrid_INCLUDE_DIR}/simgrid/version.h")
  foreach(part MAJOR MINOR)
    file(STRINGS "${SimGrid_INCLUDE_DIR}/simgrid/version.h" line REGEX "#define SIMGRID_VERSION_${part} ")
    string(REGEX MATCH "[0-9]+" SimGrid_VERSION_${part} "${line}")
  endforeach()
  set(SimGrid_VERSION "${SimGrid_VERSION_MAJOR}.${SimGrid_VERSION_MINOR}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid
  REQUIRED_VARS SimGrid_SMPICC SimGrid_SMPIRUN SimGrid_INCLUDE_DIR SimGrid_LIBRARY VERSION_VAR SimGrid_VERSION
  REASON_FAILURE_MESSAGE "smpirun, headers and library are searched for where smpicc is (found: ${SimGrid_SMPICC}). Install SimGrid with \
SMPI (Debian: libsimgrid-dev), or set CMAKE_PREFIX_PATH to its prefix (without root: see docs/use/install.md)")

# Given by hand (-DSimGrid_LIBRARY=...), or left in the cache, they may still be of two SimGrids.
if(SimGrid_FOUND)
  simgrid_version_of_program("${SimGrid_SMPICC}" smpicc_version)
  simgrid_version_of_program("${SimGrid_SMPIRUN}" smpirun_version)
  get_filename_component(real_library "${SimGrid_LIBRARY}" REALPATH)
  get_filename_component(library_name "${real_library}" NAME)  # libsimgrid.so.3.32
  simgrid_version_in("${library_name}" library_version)
  foreach(version IN ITEMS "${smpicc_version}" "${smpirun_version}" "${library_version}")
    if(version AND NOT version STREQUAL SimGrid_VERSION)
      message(FATAL_ERROR "The parts of SimGrid are of several versions, expected one:\n"
        "  smpicc ${smpicc_version}: ${SimGrid_SMPICC}\n  smpirun ${smpirun_version}: ${SimGrid_SMPIRUN}\n"
        "  headers ${SimGrid_VERSION}: ${SimGrid_INCLUDE_DIR}\n  library ${library_version}: ${SimGrid_LIBRARY}\n"
        "hint: configure in a new build folder with CMAKE_PREFIX_PATH set to the prefix of one SimGrid (or "
        "-DSimGrid_SMPICC=PREFIX/bin/smpicc), without other settings of SimGrid_*")
    endif()
  endforeach()
endif()

# What smpi-models/simgrid_port/ was written for and tested with.
set(SimGrid_TESTED 3.32 4.0 4.1)
option(HPLCAST_ANY_SIMGRID "try a version of SimGrid that hplcast was not tested with" OFF)
if(SimGrid_FOUND AND NOT HPLCAST_ANY_SIMGRID AND NOT SimGrid_VERSION IN_LIST SimGrid_TESTED)
  list(JOIN SimGrid_TESTED ", " tested)
  message(FATAL_ERROR "hplcast was not tested with SimGrid ${SimGrid_VERSION} (headers in ${SimGrid_INCLUDE_DIR}); expected one of "
    "${tested}. Install one of these (Debian 12 has 3.32, Debian 13 has 4.0) and set CMAKE_PREFIX_PATH to it, or try this one "
    "with -DHPLCAST_ANY_SIMGRID=ON and run ctest -L smpi")
endif()
# Where programs that smpicc links look for the library, if the loader does not look there by itself.
get_filename_component(SimGrid_LIBRARY_DIR "${SimGrid_LIBRARY}" DIRECTORY)
set(SimGrid_RUN_PATH "")
if(NOT SimGrid_LIBRARY_DIR IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  set(SimGrid_RUN_PATH ":${SimGrid_LIBRARY_DIR}")
endif()
mark_as_advanced(SimGrid_INCLUDE_DIR SimGrid_LIBRARY SimGrid_SMPICC SimGrid_SMPIRUN)

if(SimGrid_FOUND AND NOT TARGET SimGrid::simgrid)
  add_library(SimGrid::simgrid UNKNOWN IMPORTED)
  set_target_properties(SimGrid::simgrid PROPERTIES
    IMPORTED_LOCATION "${SimGrid_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${SimGrid_INCLUDE_DIR}")
endif()
