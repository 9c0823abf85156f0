/*
 * The program behind `portent cc` and `portent c++`. A program of its own, because LLVM's library takes longer to load
 * than most other commands take to run.
 *
 *   portent-cc cc|c++ RUNTIME_DIR INCLUDE_DIR [clang arguments]
 */
#include <stdio.h>
#include <string.h>

#include "instrument/instrument.h"

enum { FIRST_ARGUMENT = 4 };

int main(int argc, char **argv)
{
    if (argc < FIRST_ARGUMENT) {
        fprintf(stderr, "portent-cc: error: this program is started by 'portent cc' and 'portent c++'\n");
        return 2;
    }
    bool cxx = strcmp(argv[1], "c++") == 0;
    return pt_instrument_main(cxx, argv[2], argv[3], argc - FIRST_ARGUMENT, argv + FIRST_ARGUMENT);
}
