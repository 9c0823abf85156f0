/* What is written after the value was set is not ordered by the future.
 * race: x w:A w:B
 */
#include "races.h"
#include <future>
#include <thread>

static int x;

int main()
{
    std::promise<void> promise;
    std::future<void> future = promise.get_future();
    std::thread one([&] {
        promise.set_value();
        x = 1; /* A */
        pass(1);
    });
    await(1);
    future.get();
    x = 2; /* B */
    one.join();
    return x != 2;
}
