/* Has no `level`; with an argument it becomes that program. */
#include <stdio.h>
#include <unistd.h>

int pressure;

int main(int argc, char **argv)
{
    pressure = 7;
    if (argc > 1) {
        execv(argv[1], argv + 1);
        return 1;
    }
    printf("pressure %d\n", pressure);
    return 0;
}
