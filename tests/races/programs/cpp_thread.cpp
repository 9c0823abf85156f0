/* std::thread with a callable that has arguments; join.
 * race: none
 */
#include "races.h"
#include <thread>
#include <vector>

static void add(int &sum, int number)
{
    sum += number;
}

int main()
{
    int sums[3] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(add, std::ref(sums[i]), i);
    for (auto &thread : threads)
        thread.join();
    return sums[0] + sums[1] + sums[2] != 3;
}
