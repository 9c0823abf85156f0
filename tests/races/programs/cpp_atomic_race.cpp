/* std::atomic with relaxed orders.
 * race: x w:A w:B
 */
#include "races.h"
#include <atomic>
#include <thread>

static std::atomic<int *> pointer;
static int x;

int main()
{
    std::thread one([] {
        x = 1; /* A */
        pointer.store(&x, std::memory_order_relaxed);
    });
    std::thread two([] {
        int *p;
        while (!(p = pointer.load(std::memory_order_relaxed)))
            std::this_thread::yield();
        *p = 2; /* B */
    });
    one.join();
    two.join();
    return x != 2;
}
