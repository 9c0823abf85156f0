/* String functions on parts of one block.
 * race: none
 */
#include "races.h"

static char text[64];

static void *one(void *unused)
{
    snprintf(text, 32, "%d and %s", 17, "words");
    return NULL;
}

static void *two(void *unused)
{
    strcpy(text + 32, "others");
    USE(strchr(text + 32, 'h'));
    return NULL;
}

int main(void)
{
    both(one, two);
    return strlen(text) != 12 || strcmp(text + 32, "others") != 0;
}
