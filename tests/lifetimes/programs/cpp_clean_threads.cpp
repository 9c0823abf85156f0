/* Threads, futures and a queue of functions.
 * life: none
 */
#include "races.h"
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

int main()
{
    std::mutex lock;
    std::condition_variable filled;
    std::queue<std::function<int()>> queue;
    bool done = false;
    int total = 0;
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; i++)
        workers.emplace_back([&] {
            std::unique_lock<std::mutex> held(lock);
            for (;;) {
                filled.wait(held, [&] { return done || !queue.empty(); });
                if (queue.empty())
                    return;
                auto work = std::move(queue.front());
                queue.pop();
                total += work();
            }
        });
    for (int i = 0; i < 100; i++) {
        auto text = std::make_shared<std::string>(50, 'a');
        std::lock_guard<std::mutex> held(lock);
        queue.push([text] { return (int)text->size(); });
        filled.notify_one();
    }
    {
        std::lock_guard<std::mutex> held(lock);
        done = true;
    }
    filled.notify_all();
    for (auto &worker : workers)
        worker.join();
    auto future = std::async(std::launch::async, [] { return std::string(1000, 'b'); });
    NEED(total == 5000 && future.get().size() == 1000);
    return 0;
}
