/* Coroutines that go on in whichever thread takes them from a queue.
 * race: none
 * flags: -std=c++20
 */
#include "races.h"
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace
{
class Pool
{
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::coroutine_handle<>> ready;
    bool ended = false;
    std::thread threads[2];

    void run()
    {
        for (;;) {
            std::unique_lock<std::mutex> own(lock);
            changed.wait(own, [this] { return ended || !ready.empty(); });
            if (ready.empty())
                return;
            std::coroutine_handle<> next = ready.front();
            ready.pop_front();
            own.unlock();
            next.resume();
        }
    }

  public:
    Pool()
    {
        for (auto &thread : threads)
            thread = std::thread([this] { run(); });
    }
    ~Pool()
    {
        {
            std::lock_guard<std::mutex> own(lock);
            ended = true;
        }
        changed.notify_all();
        for (auto &thread : threads)
            thread.join();
    }
    void put(std::coroutine_handle<> handle)
    {
        {
            std::lock_guard<std::mutex> own(lock);
            ready.push_back(handle);
        }
        changed.notify_one();
    }
};

struct Elsewhere {
    Pool &pool;
    bool await_ready()
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> handle)
    {
        pool.put(handle);
    }
    void await_resume()
    {
    }
};

struct Task {
    struct promise_type {
        Task get_return_object()
        {
            return {};
        }
        std::suspend_never initial_suspend()
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
};
} // namespace

static long sums[4];

static Task add(Pool &pool, int number)
{
    long sum = number;
    for (int i = 0; i < 20; i++) {
        co_await Elsewhere{pool};
        sum += i;
    }
    sums[number] = sum;
}

int main()
{
    long all = 0;
    {
        Pool pool; /* ends when nothing is ready: who is in a coroutine puts it back before it looks again */
        for (int i = 0; i < 4; i++)
            add(pool, i);
    }
    for (long sum : sums)
        all += sum;
    return all != 4 * 190 + 6;
}
