#include "report/place.h"

#include <stdlib.h>
#include <string.h>

/* A number after a colon that ends at text[len]; 0: there is none. *ret_start is where the colon stands. */
static uint64_t number_before(const char *text, size_t len, size_t *ret_start)
{
    size_t digits = 0;
    while (digits < len && text[len - 1 - digits] >= '0' && text[len - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || digits > 9 || digits + 1 >= len || text[len - 1 - digits] != ':')
        return 0;
    *ret_start = len - 1 - digits;
    return strtoull(text + len - digits, NULL, 10);
}

struct pt_loc_parts pt_loc_parts(const char *text)
{
    size_t last, first;
    uint64_t b = number_before(text, strlen(text), &last);
    if (!b)
        return (struct pt_loc_parts){0};
    uint64_t a = number_before(text, last, &first);
    return a ? (struct pt_loc_parts){first, a, b} : (struct pt_loc_parts){last, b, 0};
}

const char *pt_loc_below(const char *base, const char *path, size_t *len)
{
    size_t own = base ? strlen(base) : 0;
    if (own && *len > own && strncmp(path, base, own) == 0 && path[own] == '/') {
        path += own + 1;
        *len -= own + 1;
    }
    while (*len > 2 && path[0] == '.' && path[1] == '/') {
        path += 2;
        *len -= 2;
    }
    return path;
}
