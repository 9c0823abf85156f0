/* Where events stand: annotations, and members of std::atomic, which libstdc++ writes in headers of its own. */
#include <atomic>
#include <portent.h>
#include <thread>

std::atomic<int> total;
std::atomic<bool> ready;
extern "C" void plain_event();

static void work()
{
    total.fetch_add(2); // line 12
    total += 3;
    int seen = 5;
    total.compare_exchange_strong(seen, 6);
    ready = true;
    portent_event("done");
}

int main()
{
    std::thread thread(work);
    thread.join();
    total--; // line 24
    plain_event();
    return 0;
}
