/* fread, scanf, getline, fgets, strtol's end and qsort fill what is watched.
 * holds: level >= 0 && line != "wrong"
 * violated: level != 30
 * ordered: yes
 * stdin: 10 first\nsecond\n
 */
#include "say.h"

static int level;
static char line[16];

int main(void)
{
    int ten = 30, forty = 40;
    char *long_line = NULL;
    size_t room = 0;
    NEED(scanf("%d", &level) == 1);
    said("level", 10);
    NEED(fgets(line, sizeof line, stdin) == line);
    said_text("line", " first\n");
    NEED(getline(&long_line, &room, stdin) == 7);
    sscanf("20", "%d", &level);
    said("level", 20);
    FILE *file = fmemopen(&ten, sizeof ten, "rb");
    NEED(fread(&level, sizeof level, 1, file) == 1);
    said("level", 30);
    fclose(file);
    level = forty;
    said("level", 40);
    printf("%d%s%s", level, line, long_line);
    free(long_line);
    return 0;
}
