/* The library allocates what the program frees, and frees what the program has allocated.
 * life: none
 */
#include "races.h"

int main(void)
{
    for (int i = 0; i < 50; i++) {
        char *line = NULL, *text = NULL, *copy = strdup("some text"), *path = realpath("/", NULL);
        size_t size = 0, len = 0;
        FILE *stream = open_memstream(&text, &len);
        for (int k = 0; k < 100; k++)
            fprintf(stream, "%s %d %s\n", copy, k, path);
        fclose(stream);
        stream = fmemopen(text, len, "r");
        while (getline(&line, &size, stream) > 0)
            USE(*(volatile char *)line);
        fclose(stream);
        free(line);
        free(text);
        free(copy);
        free(path);
        NEED(asprintf(&text, "%d %s", i, "and so on") > 0);
        USE(*(volatile char *)text);
        free(text);
    }
    return 0;
}
