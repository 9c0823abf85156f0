/* An initialiser that throws comes before the next one, and what it was called from is done once, too.
 * race: none
 */
#include "races.h"
#include <mutex>
#include <thread>

static std::once_flag tried, outer, inner;
static int tries, x;

static void try_it()
{
    if (++tries == 1)
        throw 1;
}

static void set_x()
{
    try {
        std::call_once(inner, [] { throw 2; });
    } catch (int) {
        x = 1;
    }
}

int main()
{
    std::thread one([] {
        try {
            std::call_once(tried, try_it);
        } catch (int) {
        }
        std::call_once(outer, set_x);
        pass(1);
    });
    std::thread two([] {
        await(1);
        std::call_once(tried, try_it);
        std::call_once(outer, set_x);
        USE(x);
    });
    one.join();
    two.join();
    return tries != 2;
}
