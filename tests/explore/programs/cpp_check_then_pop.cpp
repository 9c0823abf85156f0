/* empty() and pop_back() of a vector, each under its own lock_guard.
 * bug: check-then-act
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"
#include <mutex>
#include <thread>
#include <vector>

static std::mutex m;
static std::vector<int> items{1};

static bool empty()
{
    std::lock_guard<std::mutex> guard(m);
    return items.empty();
}

static void pop()
{
    std::lock_guard<std::mutex> guard(m);
#ifdef FIXED
    if (items.empty())
        return;
#endif
    assert(!items.empty()); /* A */
    items.pop_back();
}

static void taker()
{
    if (!empty())
        pop();
}

int main()
{
    std::thread one(taker), two(taker);
    one.join();
    two.join();
    return 0;
}
