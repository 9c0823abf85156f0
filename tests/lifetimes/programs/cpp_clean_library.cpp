/* What libstdc++ counts and hands out in its shared object: a text that copies of an exception share, a result that is
 * ready when its thread has ended, memory of a pool.
 * life: none
 * flags: -std=c++17
 */
#include "races.h"
#include <future>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <thread>

static void look_at(const std::exception &failure)
{
    for (const char *c = failure.what(); *c; c++)
        USE(*c);
}

static void share_text()
{
    auto first = std::make_unique<std::runtime_error>("a text that is too long to lie in a string itself");
    auto second = std::make_unique<std::runtime_error>(*first);
    std::thread one([&] { look_at(*first), first.reset(), pass(1); });
    std::thread two([&] { await(1), look_at(*second), second.reset(); });
    one.join();
    two.join();
}

static void wait_for_the_end()
{
    std::promise<std::unique_ptr<int>> promise;
    std::future<std::unique_ptr<int>> result = promise.get_future();
    std::thread one([](auto own) { own.set_value_at_thread_exit(std::make_unique<int>(3)); }, std::move(promise));
    one.detach();
    NEED(*result.get() == 3);
}

static void hand_on()
{
    static std::pmr::synchronized_pool_resource pool;
    auto use = [] {
        auto *memory = static_cast<int *>(pool.allocate(64, 8));
        memory[3] = 1;
        pool.deallocate(memory, 64, 8);
    };
    std::thread one([use] { use(), pass(2); });
    std::thread two([use] { await(2), use(); });
    one.join();
    two.join();
}

int main()
{
    share_text();
    wait_for_the_end();
    hand_on();
    return 0;
}
