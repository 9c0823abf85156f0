/* An object is deleted while another thread may still use it.
 * race: * r:A free:B
 */
#include "races.h"
#include <thread>

struct object {
    int number = 5;
};

int main()
{
    auto *shared = new object;
    std::thread one([=] {
        USE(shared->number); /* A */
        pass(1);
    });
    await(1);
    delete shared; /* B */
    one.join();
    return 0;
}
