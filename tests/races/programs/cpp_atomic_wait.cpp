/* wait and notify of std::atomic.
 * race: none
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
        x = 1;
        flag.store(1, std::memory_order_release);
        flag.notify_one();
    });
    flag.wait(0, std::memory_order_acquire);
    x++;
    one.join();
    return x != 2;
}
