/* Who has the last reference frees it.
 * life: none
 */
#include "races.h"

struct object {
    atomic_int references;
    int value;
};
static struct object *object;

static void *one(void *unused)
{
    USE(*(volatile int *)&object->value);
    if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
        free(object);
    return NULL;
}

int main(void)
{
    object = calloc(1, sizeof *object);
    object->references = 2;
    both(one, one);
    return 0;
}
