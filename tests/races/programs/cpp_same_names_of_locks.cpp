/* Each function has a lock of its own, which go by one name: they guard nothing.
 * race: shared wr:A wr:B
 */
#include "races.h"
#include <mutex>
#include <thread>

static int shared;

static void add(int number)
{
    static std::mutex mutex;
    std::lock_guard<std::mutex> guard(mutex);
    shared += number; /* A */
}

static void add(long number)
{
    static std::mutex mutex;
    std::lock_guard<std::mutex> guard(mutex);
    shared += (int)number; /* B */
}

int main()
{
    std::thread one([] { add(1); });
    std::thread two([] { add(2L); });
    one.join();
    two.join();
    USE(shared);
    return 0;
}
