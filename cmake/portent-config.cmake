# find_package(portent): what a CMake project needs in order to know of Portent. Installed as PREFIX/share/cmake/portent/, and
# in the same place of the build folder; works wherever PREFIX is moved to.
#
#   portent::header      a target to link with, for <portent.h>; the header needs no library
#   PORTENT_EXECUTABLE   the portent program
#   PORTENT_CC           the compilers, as CMAKE_C_COMPILER and CMAKE_CXX_COMPILER take them: a program and
#   PORTENT_CXX          its first argument
#   portent_add_test()   a test under `portent run`, see below
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

# portent_add_test(NAME test COMMAND program [argument...] [PROPERTIES file...] [SUPPRESSIONS file...] [BASELINE file...]
#                  [OPTIONS option...])
#
# As add_test(), under `portent run`: the test fails (66) when something is found, and (67) when nothing is but the answer is not
# whole, because the program was not built with `portent cc` for instance. `program` may be a target. Its result is
# portent/test.json in the current binary folder, and the test has the label `portent`. Without PROPERTIES it looks for races and
# deadlocks; OPTIONS are more of `portent run`. Relative files are those of the current source folder.
function(portent_add_test)
  cmake_parse_arguments(arg "" "NAME" "COMMAND;PROPERTIES;SUPPRESSIONS;BASELINE;OPTIONS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_COMMAND)
    message(FATAL_ERROR "portent_add_test(NAME test COMMAND program ...): what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  set(words run)
  foreach(kind PROPERTIES:-s SUPPRESSIONS:--suppressions BASELINE:--baseline)
    string(REPLACE ":" ";" kind ${kind})
    list(GET kind 0 name)
    list(GET kind 1 option)
    foreach(file ${arg_${name}})
      get_filename_component(file "${file}" ABSOLUTE)
      list(APPEND words ${option} "${file}")
    endforeach()
  endforeach()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/portent")
  file(MAKE_DIRECTORY "${folder}")
  list(POP_FRONT arg_COMMAND program)
  if(TARGET "${program}")
    set(program "$<TARGET_FILE:${program}>")
  endif()
  add_test(NAME "${arg_NAME}" COMMAND "${PORTENT_EXECUTABLE}" ${words} ${arg_OPTIONS} -r "${folder}/${arg_NAME}.json" --
                                      "${program}" ${arg_COMMAND})
  set_tests_properties("${arg_NAME}" PROPERTIES LABELS portent)
endfunction()
