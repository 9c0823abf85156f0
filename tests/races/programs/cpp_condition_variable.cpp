/* std::condition_variable with a predicate, and _any with a shared lock.
 * race: none
 * flags: -std=c++17
 */
#include "races.h"
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex m;
static std::shared_mutex s;
static std::condition_variable changed;
static std::condition_variable_any any;
static bool ready, also;
static int x;

int main()
{
    std::thread one([] {
        x = 1;
        {
            std::lock_guard<std::mutex> hold(m);
            ready = true;
        }
        changed.notify_one();
        {
            std::unique_lock<std::shared_mutex> hold(s);
            also = true;
        }
        any.notify_all();
    });
    std::thread two([] {
        {
            std::unique_lock<std::mutex> hold(m);
            changed.wait(hold, [] { return ready; });
        }
        x++;
        std::shared_lock<std::shared_mutex> hold(s);
        any.wait(hold, [] { return also; });
    });
    one.join();
    two.join();
    return x != 2;
}
