/* std::atomic of several types and orders.
 * race: none
 */
#include "races.h"
#include <atomic>
#include <thread>

static std::atomic<bool> ready;
static std::atomic<int *> pointer;
static std::atomic<unsigned char> small;
static int x;

int main()
{
    std::thread one([] {
        x = 1;
        pointer.store(&x, std::memory_order_release);
        small.fetch_or(3, std::memory_order_relaxed);
        ready = true;
    });
    std::thread two([] {
        int *p;
        while (!(p = pointer.load(std::memory_order_acquire)))
            std::this_thread::yield();
        ++*p;
        while (!ready)
            std::this_thread::yield();
        small--;
    });
    one.join();
    two.join();
    return x != 2 || small != 2;
}
