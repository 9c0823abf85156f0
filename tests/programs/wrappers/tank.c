/* Writes `level` as the arguments say, so that tests know what each process did; the last argument may be `sleep`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int level;

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "sleep") == 0)
            sleep(60);
        else
            level = atoi(argv[i]);
    }
    printf("level %d\n", level);
    return 0;
}
