/* The lock ends with its scope, one statement too early.
 * race: x w:A w:B
 */
#include "races.h"
#include <mutex>
#include <thread>

static std::mutex m;
static int x;

static void one()
{
    {
        std::lock_guard<std::mutex> hold(m);
    }
    x = 1; /* A */
    pass(1);
}

static void two()
{
    await(1);
    std::lock_guard<std::mutex> hold(m);
    x = 2; /* B */
}

int main()
{
    std::thread first(one), second(two);
    first.join();
    second.join();
    return x != 2;
}
