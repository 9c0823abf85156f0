/* A std::shared_mutex is given up between the look and the change.
 * bug: reader-writer upgrade
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex m;
static std::map<int, int> cache;
static int made;

static void look_up()
{
    {
        std::shared_lock<std::shared_mutex> guard(m);
        if (cache.count(1))
            return;
    }
    std::unique_lock<std::shared_mutex> guard(m); /* A */
#ifdef FIXED
    if (cache.count(1))
        return;
#endif
    made++;
    assert(made == 1);
    cache[1] = 10;
}

int main()
{
    std::thread one(look_up), two(look_up);
    one.join();
    two.join();
    return 0;
}
