/* std::call_once.
 * race: none
 */
#include "races.h"
#include <mutex>
#include <thread>

static std::once_flag once;
static int x;

static void work()
{
    std::call_once(once, [] { x = 5; });
    USE(x);
}

int main()
{
    std::thread one(work), two(work);
    one.join();
    two.join();
    return x != 5;
}
