/* A std::atomic of several words: the pointer in it is plain memory, which a lock in one of the others guards.
 * race: none
 * flags: -std=c++20
 */
#include "races.h"
#include <atomic>
#include <memory>
#include <thread>

static std::atomic<std::shared_ptr<int>> slot;

static int exchange(int number)
{
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        std::shared_ptr<int> old = slot.exchange(std::make_shared<int>(number));
        sum += old ? *old : 0;
    }
    return sum;
}

int main()
{
    int one = 0, two = 0;
    std::thread first([&one] { one = exchange(1); });
    std::thread second([&two] { two = exchange(2); });
    first.join();
    second.join();
    return one + two > 0 && one + two <= 80 ? 0 : 1;
}
