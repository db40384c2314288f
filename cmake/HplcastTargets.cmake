# Helpers that every folder uses to declare its targets the same way.
include_guard()

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
# Installed programs find libraries in prefixes without LD_LIBRARY_PATH; those of the system get no such path.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
# The compiler calls folders in LIBRARY_PATH (environment modules set it) its own, and CMake gives such folders no path either.
foreach(variable IN ITEMS CMAKE_C_IMPLICIT_LINK_DIRECTORIES CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  string(REPLACE ":" ";" module_folders "$ENV{LIBRARY_PATH}")
  list(REMOVE_ITEM ${variable} ${module_folders})
endforeach()

# GCC collects garbage from 128 MB on, often, in sources that need some hundred in all: from 1 GB on, a tenth of the time less.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=100;--param=ggc-min-heapsize=1000000>")

# Warnings for our own code only: C and C++ of other projects (HPL) is compiled as it is.
# A value of an enum that a switch forgets is always an error: where kinds are listed, a new one must not be overlooked.
function(hplcast_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror=switch
    $<$<BOOL:${HPLCAST_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()

# GCC 14 refuses headers of -O2 at -O1 unless these two are the same (both idle here: no -funroll-loops, no AVX); 12 does not.
set(headers_at_o1 "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13 AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(headers_at_o1 "-munroll-only-small-loops;-mvzeroupper")
endif()

# Headers that many sources include, compiled once, by core; the other static libraries have the same flags and use its own.
# A header that brings code of its own into every object (CLI11: 3 s) costs more in here than it saves.
function(hplcast_precompiled_headers name)
  if(name STREQUAL "core")
    target_precompile_headers(hplcast_core PRIVATE <nlohmann/json.hpp> <algorithm> <filesystem> <fstream> <functional> <map> <optional>
      <sstream> <string> <variant> <vector>)
  else()
    target_precompile_headers(hplcast_${name} REUSE_FROM hplcast_core)
    target_compile_options(hplcast_${name} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:${headers_at_o1}>")
  endif()
endfunction()

# The rooms of a library are compiled together, up to some 250 kB of source, in less than half of the time of each source by itself: no
# two sources of a library have a name in an anonymous namespace in common. The light rooms are compiled at -O1, by themselves.
function(hplcast_compile_rooms_together target light_rooms)
  get_target_property(sources ${target} SOURCES)
  set(unit 1)
  set(room_before "")
  set(bytes 0)
  foreach(source IN LISTS sources)
    get_filename_component(room "${source}" DIRECTORY)
    if(room IN_LIST light_rooms)
      # Options of a source would keep it out of its unit: they are those of the unit, a file that CMake makes.
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP light)
      set(light "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_light_cxx.cxx")
      if(NOT HPLCAST_UNITY)
        set(light "${source}")
      endif()
      set_source_files_properties("${light}" PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:RelWithDebInfo>:-O1;${headers_at_o1}>")
      continue()
    endif()
    if(bytes GREATER 250000 AND NOT room STREQUAL room_before)
      math(EXPR unit "${unit} + 1")
      set(bytes 0)
    endif()
    set(room_before "${room}")
    file(SIZE "${CMAKE_CURRENT_SOURCE_DIR}/${source}" size)
    math(EXPR bytes "${bytes} + ${size}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${unit}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HPLCAST_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# hplcast_add_library(fit EXPORTED SOURCES a.cpp b.cpp PUBLIC hplcast::core PRIVATE Eigen3::Eigen)
# makes hplcast_fit with alias hplcast::fit and the folder's include/ as its public include directory. EXPORTED: installed, for
# programs that use it by find_package(hplcast). LIGHT: it waits for others or for the user; compiled at -O1, in two thirds of the
# time. LIGHT_ROOMS: the rooms for which the same holds.
function(hplcast_add_library name)
  cmake_parse_arguments(ARG "SHARED;EXPORTED;LIGHT" "" "LIGHT_ROOMS;SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(ARG_SHARED)
    set(kind SHARED)
  else()
    set(kind STATIC)
  endif()
  add_library(hplcast_${name} ${kind} ${ARG_SOURCES})
  add_library(hplcast::${name} ALIAS hplcast_${name})
  set_target_properties(hplcast_${name} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME hplcast-${name})
  target_compile_features(hplcast_${name} PUBLIC cxx_std_17)
  target_include_directories(hplcast_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(hplcast_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  hplcast_warnings(hplcast_${name})
  if(ARG_LIGHT)
    target_compile_options(hplcast_${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  endif()
  if(NOT ARG_SHARED)
    hplcast_precompiled_headers(${name})
  endif()
  hplcast_compile_rooms_together(hplcast_${name} "${ARG_LIGHT_ROOMS}")
  if(ARG_EXPORTED)
    install(TARGETS hplcast_${name} EXPORT hplcastTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endfunction()

# GoogleTest's headers cost more to compile than most tests: compiled once, for all tests. So is JSON, with its code.
function(hplcast_test_headers)
  if(TARGET hplcast_test_headers)
    return()
  endif()
  add_executable(hplcast_test_headers "${PROJECT_SOURCE_DIR}/tests/test_headers.cpp")  # a program: compiled with their flags
  find_package(nlohmann_json REQUIRED)
  target_link_libraries(hplcast_test_headers PRIVATE GTest::gmock hplcast_test_main)
  hplcast_test_options(hplcast_test_headers)
  set_target_properties(hplcast_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_library(hplcast_test_main STATIC "${PROJECT_SOURCE_DIR}/tests/test_main.cpp" "${PROJECT_SOURCE_DIR}/tests/support/json_once.cpp")
  target_link_libraries(hplcast_test_main PUBLIC GTest::gtest nlohmann_json::nlohmann_json)
  target_compile_options(hplcast_test_main PRIVATE -O0)
  target_precompile_headers(hplcast_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <filesystem> <fstream> <functional>
    <map> <sstream> <string> <vector> "${PROJECT_SOURCE_DIR}/tests/support/json_once.hpp")
endfunction()

find_program(HPLCAST_GOLD ld.gold)

# Paths that tests need. They are compiled faster than they would run if they computed anything themselves.
function(hplcast_test_options target)
  target_compile_definitions(${target} PRIVATE
    HPLCAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HPLCAST_BINARY_DIR="${PROJECT_BINARY_DIR}" HPLCAST_SMPIRUN="${SimGrid_SMPIRUN}")
  # Warnings are an eighth of the time: preset dev has them.
  target_compile_options(${target} PRIVATE -O0 -Werror=switch)
  if(HPLCAST_GOLD)  # links in less than half of the time
    target_link_options(${target} PRIVATE -fuse-ld=gold)
  endif()
  if(HPLCAST_WARNINGS_AS_ERRORS)
    hplcast_warnings(${target})
  endif()
endfunction()

# Reads tests/slow.txt for an entry: filters of the tests that it leaves out and that its slow companion runs, and variables of that.
file(STRINGS "${PROJECT_SOURCE_DIR}/tests/slow.txt" hplcast_slow_tests REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/slow.txt")
function(hplcast_slow_tests_of name left_out run variables)
  set(lines ${hplcast_slow_tests})
  list(FILTER lines INCLUDE REGEX "^${name}: ")
  list(TRANSFORM lines REPLACE "^${name}: " "")  # not "^[^ ]+ ", which CMake replaces again and again
  string(REPLACE " " ";" words "${lines}")
  set(environment ${words})
  list(FILTER environment INCLUDE REGEX "=")
  list(FILTER words EXCLUDE REGEX "=")
  set(out ${words})
  list(FILTER out EXCLUDE REGEX "^[+]")
  list(TRANSFORM words REPLACE "^[+]" "")
  list(JOIN out ":" out)
  list(JOIN words ":" words)
  set(${left_out} "${out}" PARENT_SCOPE)
  set(${run} "${words}" PARENT_SCOPE)
  set(${variables} "${environment}" PARENT_SCOPE)
endfunction()

# hplcast_add_test(kernel unit SOURCES x_test.cpp LIBRARIES hplcast::fit USES xhpl-smpi PROPERTIES COST 50)
# in tests/fit makes the test program of a room and a label (unit, mpi or smpi) from files of tests/fit/kernel/: fit_kernel, and with
# another label than unit fit_kernel_LABEL. USES: programs that it runs, as far as they are built. What tests/slow.txt names is an
# entry of ctest of its own, fit_kernel_slow. MEASURES: nothing may run beside it. The files are compiled together, in less than half
# of the time, but for ALONE: those with names that another one has, too.
function(hplcast_add_test room label)
  cmake_parse_arguments(ARG "MEASURES" "" "SOURCES;ALONE;LIBRARIES;USES;PROPERTIES" ${ARGN})
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  string(REPLACE "-" "_" name "${folder}_${room}")
  if(NOT label STREQUAL "unit")
    string(APPEND name "_${label}")
  endif()
  set(is_left_out OFF)
  if(NOT HPLCAST_ALL AND NOT label STREQUAL "unit")
    set(is_left_out ON)
  endif()
  list(TRANSFORM ARG_SOURCES PREPEND "${room}/")
  list(TRANSFORM ARG_ALONE PREPEND "${room}/")
  add_executable(${name}_test ${ARG_SOURCES} ${ARG_ALONE})
  set_target_properties(${name}_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" UNITY_BUILD ${HPLCAST_UNITY} EXCLUDE_FROM_ALL ${is_left_out})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  hplcast_test_headers()
  target_link_libraries(${name}_test PRIVATE ${ARG_LIBRARIES} GTest::gmock hplcast_test_main)
  hplcast_test_options(${name}_test)
  target_precompile_headers(${name}_test REUSE_FROM hplcast_test_headers)
  foreach(program IN LISTS ARG_USES)
    if(TARGET ${program})
      add_dependencies(${name}_test ${program})
    endif()
  endforeach()
  # One ctest entry a program: a GTEST_SKIP inside shows as "skipped: why" in the output, see test.sh.
  add_test(NAME ${name} COMMAND ${name}_test)
  hplcast_slow_tests_of(${name} left_out slow variables)
  set(environment HPLCAST_CHECKS=on "GTEST_FILTER=-${left_out}")
  if(label STREQUAL "mpi")
    list(APPEND environment OMPI_MCA_pml=ob1)  # starts in two thirds of the time: looks for no network
  endif()
  if(ARG_MEASURES)
    list(APPEND ARG_PROPERTIES RUN_SERIAL ON)
  elseif(label STREQUAL "mpi")
    list(APPEND environment OMPI_MCA_mpi_yield_when_idle=1)  # ranks that wait leave the cores to other tests
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 1800 ENVIRONMENT "${environment}" ${ARG_PROPERTIES})
  if(slow)
    add_test(NAME ${name}_slow COMMAND ${name}_test "--gtest_filter=${slow}")
    set_tests_properties(${name}_slow PROPERTIES LABELS slow TIMEOUT 1800 PROCESSORS 2 ENVIRONMENT "HPLCAST_CHECKS=on;${variables}")
  endif()
endfunction()
