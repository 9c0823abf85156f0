# Writes a C file that holds the text of others.
#
# usage: cmake -D OUTPUT=FILE.c -D HEADER=h.h -D NAMES=a;b -D FILES_a=x,y -D FILES_b=z [-D LENGTHS=ON] -P embed.cmake
#
# For each name: `const char pt_embedded_NAME[]`, the files one after the other, with a NUL at the end; with LENGTHS also
# `const size_t pt_embedded_NAME_len`, without that NUL.
set(text "/* Made by cmake/embed.cmake. */\n#include \"${HEADER}\"\n")
foreach(name ${NAMES})
  set(bytes "")
  string(REPLACE "," ";" files "${FILES_${name}}")
  foreach(file ${files})
    file(READ ${file} hex HEX)
    string(APPEND bytes "${hex}")
  endforeach()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "const char pt_embedded_${name}[] = {${bytes}0};\n")
  if(LENGTHS)
    string(APPEND text "const size_t pt_embedded_${name}_len = sizeof pt_embedded_${name} - 1;\n")
  endif()
endforeach()
file(WRITE ${OUTPUT} "${text}")
