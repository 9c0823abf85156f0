/* expect: change unknown */
/* unknown: submit */
/* A function that an unknown one finds in a struct it may run, as if it were handed it. */
#include "portent.h"

struct job {
    void (*run)(void);
};
extern void submit(const struct job *job);
static int x;

static void change(void)
{
    x = 2;
}

int main(void)
{
    struct job job = {change};
    submit(&job);
    portent_begin("change");
    x++;
    portent_end("change");
    return 0;
}
