/* A lambda that has a local variable by reference.
 * race: * rw:A w:B
 */
#include "races.h"
#include <thread>

int main()
{
    int count = 0;
    std::thread thread([&] {
        count++; /* A */
        pass(1);
    });
    await(1);
    count = 5; /* B */
    thread.join();
    return count != 5;
}
