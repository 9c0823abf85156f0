/* A reference to an element of a vector that has grown.
 * life: use after free, observed r:B free:A
 */
#include "races.h"
#include <cstddef>

/* What std::vector does, with a place that is the program's. */
struct numbers {
    int *first;
    size_t count, room;
    void push(int number)
    {
        if (count == room) {
            int *more = new int[room * 2];
            for (size_t i = 0; i < count; i++)
                more[i] = first[i];
            delete[] first; /* A */
            first = more;
            room *= 2;
        }
        first[count++] = number;
    }
};
static numbers list = {new int[4], 0, 4};

int main()
{
    for (int i = 0; i < 4; i++)
        list.push(i);
    volatile int *element = &list.first[1];
    list.push(5);
    USE(*element); /* B */
    delete[] list.first;
    return 0;
}
