/* Objects that are named after other events; the argument says after how many. */
#include <portent.h>
#include <stdlib.h>

int g;

int main(int argc, char **argv)
{
    int *object = malloc(sizeof *object), *zero = calloc(1, sizeof *zero);
    *object = 5;
    for (long i = argc > 1 ? atol(argv[1]) : 1; i > 0; i--)
        g = 1;
    portent_watch(object, sizeof *object, PORTENT_INT, "obj");
    portent_watch(zero, sizeof *zero, PORTENT_INT, "zero");
    portent_event("end");
    return 0;
}
