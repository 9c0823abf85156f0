/*
 * What C++20 has for threads: modern WAY. Each way is right, but for those that begin with "bad-".
 */
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <cstring>
#include <deque>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>

static std::mutex m;
static int sum;

static void stops()
{
    static std::condition_variable_any filled;
    static std::deque<int> queue;
    {
        std::jthread worker([](std::stop_token stop) {
            std::unique_lock lock(m);
            while (filled.wait(lock, stop, [] { return !queue.empty(); }) || !queue.empty()) {
                sum += queue.front();
                queue.pop_front();
            }
        });
        for (int i = 1; i <= 2; i++) {
            std::lock_guard lock(m);
            queue.push_back(i);
            filled.notify_one();
        }
    }
    assert(sum == 3);
}

static void latches()
{
    static int parts[2];
    std::latch done(2), go(1);
    auto work = [&](int i) {
        go.wait();
        parts[i] = 1;
        done.count_down();
    };
    std::jthread one(work, 0), two(work, 1);
    go.count_down();
    done.wait();
    assert(parts[0] + parts[1] == 2);
}

static void barriers()
{
    static int parts[2];
    std::barrier phase(2, []() noexcept { sum++; });
    auto work = [&](int i) {
        parts[i] = 1;
        phase.arrive_and_wait();
        assert(parts[!i] == 1 && sum >= 1);
        phase.arrive_and_wait();
    };
    {
        std::jthread one(work, 0), two(work, 1);
    }
    assert(sum == 2);
}

static void semaphores()
{
    static std::counting_semaphore<2> items(0), room(1);
    static int slot;
    {
        std::jthread producer([] {
            for (int i = 1; i <= 2; i++) {
                room.acquire();
                slot = i;
                items.release();
            }
        });
        std::jthread consumer([] {
            for (int i = 1; i <= 2; i++) {
                items.acquire();
                sum += slot;
                room.release();
            }
        });
    }
    assert(sum == 3);
}

static void waits()
{
    static std::atomic<int> state;
    static int data;
    std::jthread worker([] {
        state.wait(0);
        assert(data == 5);
        state = 2;
        state.notify_all();
    });
    data = 5;
    state = 1;
    state.notify_one();
    state.wait(1);
    assert(state == 2);
}

static void readers()
{
    static std::shared_mutex lock;
    static std::condition_variable_any set;
    static int value;
    auto read = [] {
        std::shared_lock held(lock);
        set.wait(held, [] { return value == 1; });
    };
    std::jthread one(read), two(read);
    {
        std::unique_lock held(lock);
        value = 1;
    }
    set.notify_all();
}

static void futures()
{
    static std::once_flag once;
    auto get = [] {
        std::call_once(once, [] { sum = 7; });
        return sum;
    };
    auto one = std::async(std::launch::async, get), two = std::async(std::launch::async, get);
    std::promise<int> both;
    std::jthread adder([&] { both.set_value(one.get() + two.get()); });
    assert(both.get_future().get() == 14);
}

/* The stop is requested, and the wake-up sent, between the look and the wait: it does not hold the lock. */
static void bad_stop()
{
    static std::condition_variable stopped;
    std::jthread worker([](std::stop_token stop) {
        std::unique_lock lock(m);
        while (!stop.stop_requested())
            stopped.wait(lock);
    });
    worker.request_stop();
    stopped.notify_one();
}

/* What is waited for is counted down before it is done. */
static void bad_latch()
{
    static std::atomic<int> data;
    std::latch done(1);
    std::jthread worker([&] {
        done.count_down();
        data = 1;
    });
    done.wait();
    assert(data == 1);
}

static const struct {
    const char *name;
    void (*function)();
} ways[] = {{"stops", stops},           {"latches", latches},   {"barriers", barriers},
            {"semaphores", semaphores}, {"waits", waits},       {"readers", readers},
            {"futures", futures},       {"bad-stop", bad_stop}, {"bad-latch", bad_latch}};

int main(int argc, char **argv)
{
    for (const auto &way : ways)
        if (argc > 1 && std::strcmp(way.name, argv[1]) == 0)
            return way.function(), 0;
    return 2;
}
