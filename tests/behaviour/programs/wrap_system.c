/* system and popen start the program itself through the shell.
 * holds: x <= 9
 * violated: x != 9
 * ordered: yes
 */
#include "say.h"
#include <sys/wait.h>

static int x;

int main(int count, char **arguments)
{
    if (count > 1) {
        SAY(x, atoi(arguments[1]));
        printf("child %d\n", x);
        return x;
    }
    char line[100];
    SAY(x, 1);
    fflush(stdout);
    printf("%d\n", WEXITSTATUS(system("./program 8")));
    FILE *file = popen("./program 9", "r");
    NEED(file && fgets(line, sizeof line, file));
    printf("%d %s", WEXITSTATUS(pclose(file)), line);
    SAY(x, 2);
    return 0;
}
