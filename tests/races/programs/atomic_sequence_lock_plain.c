/* A sequence lock whose data are plain: the reader reads while it is written, and throws that away.
 * race: data w:A r:B
 */
#include "races.h"

static atomic_uint sequence;
static int data;

static void *writer(void *unused)
{
    atomic_store(&sequence, 1);
    data = 5; /* A */
    pass(1);
    await(2);
    atomic_store(&sequence, 2);
    return NULL;
}

static void *reader(void *unused)
{
    await(1);
    unsigned before = atomic_load(&sequence);
    USE(data); /* B */
    NEED(before == 1);
    pass(2);
    return NULL;
}

int main(void)
{
    both(writer, reader);
    return data != 5;
}
