/* A map and a list that two threads change and walk through, under a lock.
 * race: none
 */
#include "races.h"
#include <list>
#include <map>
#include <mutex>
#include <thread>

static std::map<int, int> counts;
static std::list<int> order;
static std::mutex lock;

static int work(int from)
{
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        std::lock_guard<std::mutex> guard(lock);
        counts[from + i * 3 % 10]++;
        order.push_back(i);
        if (i % 4 == 3) {
            counts.erase(counts.begin());
            order.pop_front();
        }
        for (const auto &count : counts)
            sum += count.second;
    }
    return sum;
}

int main()
{
    int one = 0;
    std::thread other([&] { one = work(0); });
    int two = work(5);
    other.join();
    return one == 0 || two == 0 || order.size() != 30;
}
