/* Two threads see that the promise has no value yet, and both set it: the second throws.
 * bug: check-then-act
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"
#include <atomic>
#include <future>
#include <thread>

static std::promise<int> answer;
static std::atomic<bool> answered{false};

static void answerer(int value)
{
#ifdef FIXED
    if (!answered.exchange(true))
        answer.set_value(value);
#else
    if (!answered) {
        answered = true; /* A */
        answer.set_value(value);
    }
#endif
}

int main()
{
    std::future<int> result = answer.get_future();
    std::thread one(answerer, 1), two(answerer, 2);
    one.join();
    two.join();
    return result.get() > 0 ? 0 : 98;
}
