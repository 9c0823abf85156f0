/* The program goes to / and changes its umask; its recording is where it was asked for.
 * holds: x <= 63
 * violated: x != 1
 * ordered: yes
 */
#include "say.h"
#include <sys/stat.h>

static int x;

int main(void)
{
    char folder[100];
    NEED(chdir("/") == 0);
    umask(0777);
    SAY(x, 1);
    NEED(getcwd(folder, sizeof folder));
    SAY(x, umask(0) & 63);
    puts(folder);
    return 0;
}
