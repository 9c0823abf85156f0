/* std::condition_variable::wait without a predicate, behind a look at the flag without the lock.
 * bug: lost wake-up
 * depth: 2
 * fails: lost-wakeup
 * place: A
 */
#include "catalogue.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex m;
static std::condition_variable c;
static std::atomic<bool> ready{false};

static void waiter()
{
#ifdef FIXED
    std::unique_lock<std::mutex> guard(m);
    c.wait(guard, [] { return ready.load(); });
#else
    if (!ready) {
        std::unique_lock<std::mutex> guard(m); /* A */
        c.wait(guard);
    }
#endif
}

static void notifier()
{
    std::lock_guard<std::mutex> guard(m);
    ready = true;
    c.notify_one();
}

int main()
{
    std::thread one(waiter), two(notifier);
    one.join();
    two.join();
    return 0;
}
