/* A result that is ready when its thread has ended comes after all that the thread did, its thread_local objects
 * included.
 * race: none
 */
#include "races.h"
#include <future>
#include <thread>

static int written, destroyed;

namespace
{
struct Local {
    int used = 0;
    ~Local()
    {
        destroyed++;
    }
};
thread_local Local local;
} // namespace

int main()
{
    std::promise<int> promise;
    std::future<int> kept = promise.get_future();
    std::thread one(
        [](std::promise<int> own) {
            local.used = 1;
            own.set_value_at_thread_exit(1);
            written = 1;
        },
        std::move(promise));
    one.detach();
    NEED(kept.get() == 1 && written == 1 && destroyed == 1);

    std::packaged_task<int()> task([] { return ++written; });
    std::future<int> result = task.get_future();
    std::thread two(
        [](std::packaged_task<int()> own) {
            local.used = 1;
            own.make_ready_at_thread_exit();
            written++;
        },
        std::move(task));
    two.detach();
    NEED(result.get() == 2 && written == 3 && destroyed == 2);

    std::promise<int> forgotten; /* nobody waits: the result goes first */
    std::thread three(
        [](std::promise<int> own) {
            own.set_value_at_thread_exit(1);
            written++;
        },
        std::move(forgotten));
    three.join();
    NEED(written == 4);
    return 0;
}
