/* delete, and then a use and another delete.
 * life: use after free, observed r:B free:A
 * life: double free, observed free:C free:A
 */
#include "races.h"

struct object {
    int number = 5;
    int other[20];
};
static object *volatile shared;

int main()
{
    shared = new object;
    delete shared; /* A */
    USE(*(volatile int *)&shared->number); /* B */
    delete shared; /* C */
    return 0;
}
