/* Counts that release, and a fence that acquires before the object goes.
 * race: none
 */
#include "races.h"
#include <atomic>
#include <thread>

namespace
{
struct Object {
    std::atomic<int> count{1};
    int parts[3] = {};
};
} // namespace

static void let_go(Object *object)
{
    if (object->count.fetch_sub(1, std::memory_order_release) != 1)
        return;
    std::atomic_thread_fence(std::memory_order_acquire);
    NEED(object->parts[0] + object->parts[1] + object->parts[2] == 6);
    delete object;
}

int main()
{
    for (int round = 0; round < 20; round++) {
        Object *object = new Object;
        std::thread threads[2];
        for (int i = 0; i < 2; i++) {
            object->count.fetch_add(1, std::memory_order_relaxed);
            threads[i] = std::thread([object, i] {
                object->parts[i] = i + 1;
                let_go(object);
            });
        }
        object->parts[2] = 3;
        let_go(object);
        for (auto &thread : threads)
            thread.join();
    }
    return 0;
}
