/*
 * Edit distance by the usual table, but only the diagonal band that can stay within 2 is filled: O(length) time.
 */
#include "base/suggest.h"

#include <string.h>

enum { FAR = 3, LONGEST = 64 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned min2(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned pt_suggest_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned rows[3][LONGEST + 1]; /* the row before the last, the last, the present one */
    if (a_len > LONGEST || b_len > LONGEST || a_len > b_len + 2 || b_len > a_len + 2)
        return FAR;
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        before[j] = FAR, last[j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t from = i > 2 ? i - 2 : 1, to = i + 2 < b_len ? i + 2 : b_len;
        for (size_t j = 0; j <= b_len; j++)
            row[j] = FAR;
        row[0] = (unsigned)i;
        for (size_t j = from; j <= to; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            unsigned d = min2(last[j] + 1, row[j - 1] + 1);
            d = min2(d, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
                d = min2(d, before[j - 2] + 1);
            row[j] = d;
        }
        unsigned *spare = before;
        before = last, last = row, row = spare;
    }
    return min2(last[b_len], FAR);
}

/* In a short word two slips leave nothing of it. */
static unsigned tolerance(size_t len)
{
    return len <= 2 ? 0 : len <= 4 ? 1 : 2;
}

void pt_suggest_init(struct pt_suggest *search, const char *word, size_t len)
{
    *search = (struct pt_suggest){.word = word, .len = len, .distance = tolerance(len) + 1};
}

void pt_suggest_offer(struct pt_suggest *search, const char *candidate)
{
    size_t len = strlen(candidate);
    unsigned d = len > 2 ? pt_suggest_distance(search->word, search->len, candidate, len) : FAR;
    if (d < search->distance && !(len == search->len && memcmp(candidate, search->word, len) == 0)) {
        search->best = candidate;
        search->distance = d;
    }
}
