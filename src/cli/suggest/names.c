#include "cli/suggest/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool pt_suggest_is_nameable(const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    if (name[0] >= '0' && name[0] <= '9')
        return false;
    for (const char *c = name; *c; c++) {
        bool index = *c == '[' && strspn(c + 1, "0123456789") > 0 && c[1 + strspn(c + 1, "0123456789")] == ']';
        bool scope = c[0] == ':' && (c[1] == ':' || (c > name && c[-1] == ':'));
        bool member = *c == '.' && strchr(plain, c[1]) && c[1];
        if (!strchr(plain, *c) && !index && !scope && !member && *c != ']')
            return false;
    }
    return true;
}

size_t pt_suggest_whole(const char *name)
{
    static const char inside[] = "._M_"; /* libstdc++'s own members */
    size_t len = strcspn(name, "[");
    const char *container = strstr(name, inside);
    return container && (size_t)(container - name) < len ? (size_t)(container - name) : len;
}

bool pt_suggest_address(const char *name, uint64_t *ret_address)
{
    if (strncmp(name, "0x", 2) != 0)
        return false;
    char *end;
    uint64_t base = strtoull(name, &end, 16), offset = 0;
    if (*end == '+')
        offset = strtoull(end + 1, &end, 10);
    *ret_address = base + offset;
    return *end == '\0';
}
