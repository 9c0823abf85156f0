/* Ends with status 3; with an argument it is killed. No schedule matters. */
#include <stdlib.h>

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        abort();
    return 3;
}
