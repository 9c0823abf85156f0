/* A static variable of a function is made once, and whoever comes later finds it made.
 * race: none
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
    USE(get().number);
}

int main()
{
    std::thread one(work), two(work);
    one.join();
    two.join();
    return get().number != 5;
}
