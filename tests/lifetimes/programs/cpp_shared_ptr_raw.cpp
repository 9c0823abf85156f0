/* A raw pointer out of a shared_ptr whose last owner another thread is.
 * life: use after free, predicted r:A free:*
 */
#include "races.h"
#include <memory>
#include <thread>

int main()
{
    auto owner = std::make_shared<int>(5);
    int *raw = owner.get();
    std::thread one([raw] {
        USE(*(volatile int *)raw); /* A */
        pass(1);
    });
    await(1);
    owner.reset();
    one.join();
    return 0;
}
