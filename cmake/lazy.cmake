# Stand-ins for shared libraries that are loaded when one of their functions is called (src/base/lazy.h says why).
#
# In CMakeLists.txt: portent_lazy(NAME LIBRARY...) makes a target NAME to link with instead of the libraries, given by
# their files. As a script, which is how the target's sources are made:
#
# usage: cmake -D OUTPUT=FILE.c -D LIBRARY=FILE.so -D NM=nm -D OBJDUMP=objdump -P lazy.cmake
#
# Only functions: code that uses a library's variables does not link.

function(portent_lazy name)
  set(sources "")
  foreach(library ${ARGN})
    cmake_path(GET library STEM stem)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/lazy_${stem}.c)
    add_custom_command(
      OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -D OUTPUT=${source} -D LIBRARY=${library} -D NM=${CMAKE_NM} -D OBJDUMP=${CMAKE_OBJDUMP}
              -P ${PROJECT_SOURCE_DIR}/cmake/lazy.cmake
      DEPENDS ${library} ${PROJECT_SOURCE_DIR}/cmake/lazy.cmake)
    list(APPEND sources ${source})
  endforeach()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC pt_base)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

execute_process(COMMAND ${OBJDUMP} -p ${LIBRARY} OUTPUT_VARIABLE header COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "SONAME +([^ \n]+)" ignored "${header}")
set(soname ${CMAKE_MATCH_1})
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [TWi] [A-Za-z_][A-Za-z0-9_]*" symbols "${symbols}")
list(TRANSFORM symbols REPLACE " . " "")
list(REMOVE_DUPLICATES symbols) # of several versions the default one is taken
list(FILTER symbols EXCLUDE REGEX "^_(init|fini)$")
list(LENGTH symbols count)
cmake_path(GET LIBRARY STEM stem)
string(MAKE_C_IDENTIFIER "pt_lazy_${stem}" own)
set(names "")
set(code "")
set(index 0)
foreach(symbol ${symbols})
  string(APPEND names "    \"${symbol}\\0\"\n")
  string(APPEND code "    STAND_IN(${symbol}, ${index})\n")
  math(EXPR index "${index} + 1")
endforeach()
file(
  WRITE ${OUTPUT}
  "/* Made by cmake/lazy.cmake. */
#include \"base/lazy.h\"

extern void *${own}_functions[${count}];
extern const struct pt_lazy ${own};

__attribute__((visibility(\"hidden\"))) void *${own}_functions[${count}];
__attribute__((visibility(\"hidden\"))) const struct pt_lazy ${own} = {
    \"${soname}\",
${names}    ,
    ${own}_functions,
};

/* To the real function if that is known, else to pt_lazy_enter with what it wants. */
#define STAND_IN(name, index)                            \\
    \".globl \" #name \"\\n\"                                \\
    \".type \" #name \", @function\\n\"                      \\
    #name \": mov ${own}_functions + 8 * \" #index \"(%rip), %r11\\n\" \\
    \"    test %r11, %r11\\n\"                             \\
    \"    jz 1f\\n\"                                       \\
    \"    jmp *%r11\\n\"                                   \\
    \"1:  push $\" #index \"\\n\"                            \\
    \"    lea ${own}(%rip), %r11\\n\"                      \\
    \"    jmp pt_lazy_enter\\n\"                           \\
    \".size \" #name \", . - \" #name \"\\n\"

asm(\".text\\n\"
${code});
")
