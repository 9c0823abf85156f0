/* std::latch, std::barrier, std::counting_semaphore and std::jthread of C++20.
 * race: none
 * flags: -std=c++20
 */
#include "races.h"
#include <barrier>
#include <latch>
#include <semaphore>
#include <thread>

static std::latch latch(2);
static std::barrier<> barrier(2);
static std::binary_semaphore semaphore(0);
static int a, b, x;

int main()
{
    {
        std::jthread one([] {
            a = 1;
            latch.arrive_and_wait();
            USE(b);
            barrier.arrive_and_wait();
            b = 2;
            x = 1;
            semaphore.release();
        });
        std::jthread two([] {
            b = 1;
            latch.arrive_and_wait();
            USE(a);
            barrier.arrive_and_wait();
            a = 2;
            semaphore.acquire();
            x++;
        });
    }
    return a + b + x != 6;
}
