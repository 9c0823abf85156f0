/* Places as traces give them: "file.c:20", "file.c:20:5", or any other text. */
#ifndef PT_REPORT_PLACE_H
#define PT_REPORT_PLACE_H

#include <stddef.h>
#include <stdint.h>

struct pt_loc_parts {
    size_t path_len; /* of the text's beginning that names the file */
    uint64_t line;   /* 0: the text names no line, and so no file either */
    uint64_t column; /* 0: none */
};

struct pt_loc_parts pt_loc_parts(const char *text);
/* A file's path of *len bytes as it is called in the folder `base` (NULL: any), if it lies below: without it, and
 * without "./". */
const char *pt_loc_below(const char *base, const char *path, size_t *len);

#endif
