/* C++20: jthread with a stop token, latch, barrier, counting semaphore, shared mutex, atomic wait, call_once.
 * holds: x >= 0 && x <= 50
 * violated: x != 50
 * flags: -std=c++20
 */
#include "say.h"
#include <atomic>
#include <barrier>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

static int x;
static std::shared_mutex shared;
static std::once_flag once;
static std::atomic<int> stage;

int main()
{
    std::latch all_here(3);
    std::counting_semaphore<3> turn(1);
    std::barrier meet(3, []() noexcept { stage.fetch_add(1); });
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([&] {
                std::call_once(once, [] { SAY(x, 1); });
                all_here.arrive_and_wait();
                for (int round = 0; round < 5; round++) {
                    turn.acquire();
                    SAY(x, x + 1);
                    turn.release();
                    meet.arrive_and_wait();
                    std::shared_lock<std::shared_mutex> reading(shared);
                    NEED(stage.load() > round);
                }
            });
    }
    std::jthread waiter([](std::stop_token stop) {
        stage.wait(5);
        while (!stop.stop_requested())
            std::this_thread::yield();
        SAY(x, 50);
    });
    stage.store(6);
    stage.notify_all();
    waiter.request_stop();
    waiter.join();
    printf("%d %d\n", x, stage.load());
    return 0;
}
