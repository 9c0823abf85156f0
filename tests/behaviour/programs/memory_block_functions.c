/* memcpy, memmove, memset, strcpy, snprintf and a structure's assignment fill what is watched.
 * holds: cells[1] >= -1 && pair.a <= 9 && text != "bad"
 * violated: cells[1] != 6
 * ordered: yes
 */
#include "say.h"

struct pair {
    int a, b;
};
static int cells[4];
static struct pair pair;
static char text[8];

int main(void)
{
    int from[4] = {5, 6, 7, 8};
    memcpy(cells, from, sizeof cells);
    said("cells[1]", 6);
    memmove(cells, cells + 1, 3 * sizeof *cells);
    said("cells[1]", 7);
    memset(cells, 0xff, sizeof cells);
    said("cells[1]", -1);
    struct pair other = {9, 10};
    pair = other;
    said("pair.a", 9);
    strcpy(text, "good");
    said_text("text", "good");
    memcpy(text, "fine", 5);
    said_text("text", "fine");
    snprintf(text, sizeof text, "%d", 1234);
    said_text("text", "1234");
    printf("%d %d %s\n", cells[0], pair.b, text);
    return 0;
}
