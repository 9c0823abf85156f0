/* The last of several owners destroys the object: it has all that the others did with it.
 * race: none
 */
#include "races.h"
#include <memory>
#include <thread>

struct object {
    int numbers[3] = {};
    ~object()
    {
        NEED(numbers[0] + numbers[1] + numbers[2] == 3);
    }
};

int main()
{
    auto shared = std::make_shared<object>();
    std::thread threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = std::thread([shared, i]() mutable {
            shared->numbers[i] = 1;
            shared.reset();
        });
    shared.reset();
    for (auto &thread : threads)
        thread.join();
    return 0;
}
