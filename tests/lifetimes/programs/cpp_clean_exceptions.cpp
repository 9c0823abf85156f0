/* Exceptions, whose objects the library allocates and frees.
 * life: none
 */
#include "races.h"
#include <stdexcept>
#include <string>

static __attribute__((noinline)) int deep(int depth)
{
    std::string text(40, 'a');
    volatile int local[20];
    local[3] = depth;
    if (!depth)
        throw std::runtime_error(text);
    return deep(depth - 1) + local[3];
}

int main()
{
    int caught = 0;
    for (int i = 0; i < 50; i++)
        try {
            USE(deep(10));
        } catch (const std::exception &error) {
            caught += error.what()[0] == 'a';
        }
    NEED(caught == 50);
    return 0;
}
