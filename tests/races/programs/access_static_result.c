/* Functions that return memory which all threads share: each call writes it, and who reads what it has returned reads
 * what others write.
 * race: * w:A w:B
 * race: * w:B r:E
 * race: * w:C w:D
 * race: * w:D r:F
 * tsan: it tells of the calls, not of who reads what they return
 */
#include "races.h"
#include <time.h>

static int year;
static char text[64];

static void *early(void *argument)
{
    time_t moment = 86400;
    struct tm own = {.tm_mday = 1, .tm_year = 70};
    struct tm *found = gmtime(&moment); /* A */
    char *said = asctime(&own);         /* C */
    pass(1);
    await(2);
    year = found->tm_year; /* E */
    strcpy(text, said);    /* F */
    return argument;
}

static void *late(void *argument)
{
    time_t moment = 366 * 86400;
    struct tm own = {.tm_mday = 2, .tm_year = 71};
    await(1);
    NEED(gmtime(&moment)); /* B */
    NEED(asctime(&own));   /* D */
    pass(2);
    return argument;
}

int main(void)
{
    both(early, late);
    NEED(year == 71 && strstr(text, "1971"));
    return 0;
}
