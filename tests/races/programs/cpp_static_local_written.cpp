/* That it is made once does not guard what is done with it later.
 * race: one rw:A rw:A
 * tsan: calls it by its function
 */
#include "races.h"
#include <thread>

struct made {
    int number;
    made() : number(5)
    {
    }
};

static __attribute__((noinline)) made &get()
{
    static made one;
    return one;
}

static void work()
{
    get().number++; /* A */
}

int main()
{
    std::thread first(work), second(work);
    first.join();
    second.join();
    return get().number == 5;
}
