/* A virtual call while another thread's destructor makes the object one of its base class.
 * race: object r:A w:B
 * race: object r:A w:C
 * tsan: not w:C, which writes the same pointer once more
 */
#include "races.h"
#include <new>
#include <thread>

/* Which line of a destructor writes the pointer is the compiler's choice. */
/* clang-format off */
struct base {
    virtual int number() { return 1; }
    virtual __attribute__((noinline)) ~base() { pass(2); } /* B */
};
struct derived : base {
    int number() override { return 2; }
    __attribute__((noinline)) ~derived() override { pass(1); } /* C */
};
/* clang-format on */

alignas(8) static char object[16];
static base *volatile pointer;

static void call()
{
    base *it = pointer;
    USE(it->number()); /* A */
    pass(3);
}

int main()
{
    pointer = new (object) derived;
    std::thread one(call);
    await(3);
    pointer->~base();
    one.join();
    return 0;
}
