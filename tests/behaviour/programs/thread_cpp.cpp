/* C++ threads: std::thread with a lambda, std::mutex, std::condition_variable, std::async, destructors of threads.
 * holds: x <= 50
 * violated: x != 42
 */
#include "say.h"
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

static int x;
static std::mutex lock;

struct own {
    int value = 0;
    ~own()
    {
        std::lock_guard<std::mutex> held(lock);
        SAY(x, 40 + value);
    }
};
static thread_local own mine;

int main()
{
    std::condition_variable turned;
    int turn = 0;
    std::vector<std::thread> threads;
    for (int me = 0; me < 3; me++)
        threads.emplace_back([&, me] {
            mine.value = me;
            for (int i = 0; i < 5; i++) {
                std::unique_lock<std::mutex> held(lock);
                turned.wait(held, [&] { return turn % 3 == me; });
                SAY(x, turn);
                turn++;
                turned.notify_all();
            }
        });
    for (auto &thread : threads)
        thread.join();
    auto later = std::async(std::launch::async, [] {
        std::lock_guard<std::mutex> held(lock);
        SAY(x, 30);
        return 7;
    });
    printf("%d %d\n", turn, later.get());
    return 0;
}
