# hplcast_kernel_functions(kernel_list.h functions): the functions of the kernels in that list, such as cblas_dgemm. CMake runs
# again when the list changes.
function(hplcast_kernel_functions header result)
  file(READ "${header}" text)
  string(REGEX MATCHALL "\n  X\\([A-Z0-9_]+, [a-zA-Z0-9_]+, [a-zA-Z0-9_]+" kernels "${text}")
  list(TRANSFORM kernels REPLACE ".*, " "")
  set(${result} "${kernels}" PARENT_SCOPE)
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  endif()
endfunction()
