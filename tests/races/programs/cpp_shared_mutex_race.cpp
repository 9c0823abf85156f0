/* std::shared_mutex: a writer that has it as a reader.
 * race: x w:A w:B
 * flags: -std=c++17
 */
#include "races.h"
#include <shared_mutex>
#include <thread>

static std::shared_mutex m;
static int x;

static void one()
{
    std::shared_lock<std::shared_mutex> hold(m);
    x = 1; /* A */
}

static void two()
{
    std::shared_lock<std::shared_mutex> hold(m);
    x = 2; /* B */
}

int main()
{
    std::thread first(one), second(two);
    first.join();
    second.join();
    return x == 0;
}
