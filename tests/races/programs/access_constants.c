/* Tables that are never written.
 * race: none
 */
#include "races.h"

static const int table[] = {1, 2, 3, 4};
static const char *const names[] = {"a", "b"};

static void *one(void *unused)
{
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += table[i];
    USE(sum);
    USE(strlen(names[1]));
    return NULL;
}

int main(void)
{
    both(one, one);
    return 0;
}
