/* A block of the heap that the program names itself, freed, and another one under the same name.
 * holds: balance >= 0
 * violated: balance != 30
 * ordered: yes
 */
#include "say.h"
#include <portent.h>

int main(void)
{
    long *account = malloc(sizeof *account);
    *account = 0;
    portent_watch(account, sizeof *account, PORTENT_INT, "balance");
    for (int i = 1; i <= 5; i++) {
        *account += 10;
        said("balance", 10 * i);
    }
    printf("%ld\n", *account);
    free(account);
    return 0;
}
