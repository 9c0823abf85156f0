// C++'s threads, used rightly: what libstdc++ builds on pthread, and what it builds on futexes.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex lock;
static std::timed_mutex timed;
static std::condition_variable changed;
static std::shared_mutex shared;
static std::once_flag once;
static std::atomic<int> begun, word;
static int ready;

static int made()
{
    static std::atomic<int> *only = new std::atomic<int>(5); // a guard of the compiler's
    return *only;
}

static int work(int n)
{
    std::call_once(once, [] { begun++; });
    {
        std::shared_lock<std::shared_mutex> reader(shared);
        if (made() != 5)
            return -1;
    }
    {
        std::unique_lock<std::shared_mutex> writer(shared);
    }
    if (timed.try_lock_for(std::chrono::hours(1)))
        timed.unlock();
    std::unique_lock<std::mutex> held(lock);
    ready++;
    changed.notify_all();
    changed.wait(held, [] { return ready >= 2; });
    return n;
}

int main()
{
    auto one = std::async(std::launch::async, work, 1);
    std::promise<int> promise;
    auto two = promise.get_future();
    std::thread thread([&] { promise.set_value(work(2)); });
    std::this_thread::sleep_for(std::chrono::hours(1));
    int sum = one.get() + two.get();
    thread.join();
    std::thread waker([] {
        word = 1;
        word.notify_one();
    });
    word.wait(0);
    waker.join();
    return sum == 3 && begun == 1 ? 0 : 1;
}
