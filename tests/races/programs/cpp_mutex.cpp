/* std::mutex by lock_guard, unique_lock and scoped_lock; recursive_mutex; timed_mutex.
 * race: none
 * tsan: z, it does not know pthread_mutex_clocklock
 * flags: -std=c++17
 */
#include "races.h"
#include <mutex>
#include <thread>

static std::mutex m, other;
static std::recursive_mutex r;
static std::timed_mutex t;
static int x, y, z;

static void work()
{
    for (int i = 0; i < 5; i++) {
        {
            std::scoped_lock hold(m, other);
            x++;
        }
        {
            std::unique_lock<std::mutex> hold(m);
            x++;
        }
        {
            std::lock_guard<std::recursive_mutex> hold(r), again(r);
            y++;
        }
        {
            std::unique_lock<std::timed_mutex> hold(t, std::chrono::seconds(60));
            z++;
        }
    }
}

int main()
{
    std::thread one(work), two(work);
    one.join();
    two.join();
    return x != 20 || y != 10 || z != 10;
}
