/* Thread-local objects with constructors and destructors.
 * race: none
 */
#include "races.h"
#include <thread>

struct counter {
    int *target = nullptr;
    int count = 0;
    ~counter()
    {
        if (target)
            *target = count;
    }
};
static thread_local counter mine;

int main()
{
    int first = 0, second = 0;
    auto work = [](int *target) {
        mine.target = target;
        mine.count += 3;
    };
    std::thread one(work, &first), two(work, &second);
    one.join();
    two.join();
    return first + second != 6;
}
