/* One thread reserves nothing and appends, another one reads an element that stays where it is.
 * race: * w:A r:B
 */
#include "races.h"
#include <thread>
#include <vector>

int main()
{
    std::vector<int> numbers(4);
    int *element = numbers.data() + 2;
    std::thread one([&] {
        *element = 5; /* A */
        pass(1);
    });
    await(1);
    USE(*element); /* B */
    one.join();
    return numbers[2] != 5;
}
