/* A promise and its future, and a future of std::async; an exception that goes through one.
 * race: none
 */
#include "races.h"
#include <future>
#include <stdexcept>
#include <thread>

static int x;

int main()
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread one([&] {
        x = 1;
        promise.set_value(5);
    });
    int value = future.get();
    x += value;
    one.join();
    std::future<int> later = std::async(std::launch::async, [] {
        x++;
        return 3;
    });
    value = later.get();
    x += value;
    std::future<void> fails = std::async(std::launch::async, [] {
        x++;
        throw std::runtime_error("no");
    });
    try {
        fails.get();
    } catch (const std::runtime_error &) {
        x++;
    }
    return x != 12;
}
