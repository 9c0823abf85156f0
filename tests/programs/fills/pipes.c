/* A variable that a read fills. */
#include <unistd.h>

int level;

int main(void)
{
    int ends[2], nine = 9;
    if (pipe(ends) || write(ends[1], &nine, sizeof nine) != sizeof nine)
        return 1;
    return read(ends[0], &level, sizeof level) != sizeof level;
}
