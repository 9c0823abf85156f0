/* std::atomic<int> and std::atomic_flag are watched as what they hold.
 * holds: count >= 0 && count <= 300
 * violated: count < 300
 * optional: unsaid
 */
#include "say.h"
#include <atomic>
#include <thread>
#include <vector>

static std::atomic<int> count;
static std::atomic_flag busy = ATOMIC_FLAG_INIT;
static long sum;

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([] {
            for (int j = 0; j < 100; j++) {
                count.fetch_add(1, std::memory_order_relaxed);
                while (busy.test_and_set(std::memory_order_acquire))
                    std::this_thread::yield();
                sum += j;
                busy.clear(std::memory_order_release);
            }
        });
    for (auto &thread : threads)
        thread.join();
    printf("%d %ld\n", count.load(), sum);
    return 0;
}
