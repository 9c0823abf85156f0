/* Whoever uses what a pool has got back races with whoever gave it.
 * race: * w:A free:B
 * flags: -std=c++17
 * levels: -O2
 */
#include "races.h"
#include <memory_resource>
#include <thread>

static std::pmr::synchronized_pool_resource pool;

int main()
{
    auto *memory = static_cast<int *>(pool.allocate(64, 8));
    std::thread one([memory] {
        memory[3] = 1; /* A */
        pass(1);
    });
    std::thread two([memory] {
        await(1);
        pool.deallocate(memory, 64, 8); /* B */
    });
    one.join();
    two.join();
    return 0;
}
