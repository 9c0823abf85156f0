# find_package(portent): what a CMake project needs in order to know of Portent. Installed as PREFIX/share/cmake/portent/, and
# in the same place of the build folder; works wherever PREFIX is moved to.
#
#   portent::header      a target to link with, for <portent.h>; the header needs no library
#   PORTENT_EXECUTABLE   the portent program
#   PORTENT_CC           the compilers, as CMAKE_C_COMPILER and CMAKE_CXX_COMPILER take them: a program and
#   PORTENT_CXX          its first argument
#
# A project's compiler is fixed by project(): PORTENT_CC is of use before it, or for an ExternalProject.

get_filename_component(PORTENT_EXECUTABLE "${CMAKE_CURRENT_LIST_DIR}/../../../bin/portent" ABSOLUTE)
set(PORTENT_CC "${PORTENT_EXECUTABLE};cc")
set(PORTENT_CXX "${PORTENT_EXECUTABLE};c++")

if(NOT EXISTS "${PORTENT_EXECUTABLE}")
  set(portent_FOUND FALSE)
  set(portent_NOT_FOUND_MESSAGE "${PORTENT_EXECUTABLE} does not exist")
  return()
endif()

if(NOT TARGET portent::header)
  add_library(portent::header INTERFACE IMPORTED)
  get_filename_component(_portent_include "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
  set_target_properties(portent::header PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_portent_include}")
  unset(_portent_include)
endif()
