/* A function of the library frees what the program uses: getline makes the block larger. Where in the library that is
 * has no place in the source.
 * life: use after free, observed r:A free:none
 */
#include "races.h"

int main(void)
{
    size_t size = 4;
    char *line = malloc(size), *old = line;
    char text[300];
    memset(text, 'a', sizeof text - 2);
    text[sizeof text - 2] = '\n';
    FILE *stream = fmemopen(text, sizeof text - 1, "r");
    NEED(stream && getline(&line, &size, stream) > 0);
    USE(*(volatile char *)old); /* A */
    fclose(stream);
    free(line);
    return 0;
}
