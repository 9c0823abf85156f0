/* realloc grows and shrinks a block, and contents stay.
 * life: none
 */
#include "races.h"

int main(void)
{
    unsigned char *block = NULL;
    size_t size = 0;
    for (size_t next = 1; next < 300000; next = next * 3 / 2 + 1) {
        block = realloc(block, next);
        NEED(block);
        for (size_t i = 0; i < size; i++)
            NEED(block[i] == (unsigned char)(i * 7));
        for (size_t i = size; i < next; i++)
            block[i] = (unsigned char)(i * 7);
        size = next;
    }
    for (; size > 10; size /= 3) {
        block = realloc(block, size);
        for (size_t i = 0; i < size; i++)
            NEED(block[i] == (unsigned char)(i * 7));
    }
    block = reallocarray(block, 100, 8);
    for (size_t i = 0; i < size; i++)
        NEED(block[i] == (unsigned char)(i * 7));
    NEED(!realloc(block, 0));
    return 0;
}
