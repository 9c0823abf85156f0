/* What a pool has got back it gives to whoever comes next, in this run and in others: of its own lock, and of a lock of
 * the program's.
 * race: none
 * flags: -std=c++17
 */
#include "races.h"
#include <memory_resource>
#include <mutex>
#include <thread>

static std::pmr::synchronized_pool_resource shared;
static std::pmr::unsynchronized_pool_resource guarded;
static std::mutex mutex;
static int *passed;

static int *take()
{
    std::lock_guard<std::mutex> guard(mutex);
    return static_cast<int *>(guarded.allocate(32, 8));
}

static void give(int *memory)
{
    std::lock_guard<std::mutex> guard(mutex);
    guarded.deallocate(memory, 32, 8);
}

static void use()
{
    int *memory = take();
    memory[3] = 1;
    give(memory);
    auto *other = static_cast<int *>(shared.allocate(64, 8));
    other[3] = 2;
    shared.deallocate(other, 64, 8);
}

/* Memory of the first thread, which the second one gives back. */
static void hand_over()
{
    auto *memory = static_cast<int *>(shared.allocate(64, 8));
    memory[1] = 3;
    std::lock_guard<std::mutex> guard(mutex);
    passed = memory;
}

static void take_over()
{
    std::lock_guard<std::mutex> guard(mutex);
    passed[1] = 4;
    shared.deallocate(passed, 64, 8);
}

int main()
{
    std::thread one([] { use(), pass(1), hand_over(), pass(2), await(3), use(); });
    std::thread two([] { await(1), use(), await(2), take_over(), pass(3), use(); });
    one.join();
    two.join();
    return 0;
}
