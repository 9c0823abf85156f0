/* Since C++20 a relaxed store of the same thread ends its release sequence too.
 * race: x w:A w:B
 * tsan: nothing, a relaxed store leaves what it keeps of the variable as it is
 * flags: -std=c++20
 */
#include "races.h"
#include <atomic>
#include <thread>

static std::atomic<int> flag;
static int x;

int main()
{
    std::thread one([] {
        x = 1; /* A */
        flag.store(1, std::memory_order_release);
        flag.store(2, std::memory_order_relaxed);
        pass(1);
    });
    std::thread two([] {
        await(1);
        NEED(flag.load(std::memory_order_acquire) == 2);
        x = 2; /* B */
    });
    one.join();
    two.join();
    return x != 2;
}
