/* std::shared_mutex: readers and a writer.
 * race: none
 * flags: -std=c++17
 */
#include "races.h"
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex m;
static int x;

static void reader()
{
    for (int i = 0; i < 5; i++) {
        std::shared_lock<std::shared_mutex> hold(m);
        USE(x);
    }
}

static void writer()
{
    for (int i = 0; i < 5; i++) {
        std::unique_lock<std::shared_mutex> hold(m);
        x++;
    }
}

int main()
{
    std::thread one(reader), two(writer), three(reader);
    one.join();
    two.join();
    three.join();
    return x != 5;
}
