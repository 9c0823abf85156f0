/* Something for each granule (8 aligned bytes) of memory, in pages that are made when they are first needed. */
#ifndef PT_TRACE_PAGES_H
#define PT_TRACE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

enum { PT_PAGE_BITS = 12, PT_PAGE_GRANULES = 1 << (PT_PAGE_BITS - 3), PT_PAGES_NEAR = 1 << 10 };

struct pt_pages {
    bool begun;
    uint32_t bytes;        /* of what there is for a granule */
    struct pt_map64 index; /* of pages, by number */
    struct pt_page {
        uint64_t page;
        void *granules;             /* 0 at first; NULL: there are none */
    } * pages, near[PT_PAGES_NEAR]; /* `near`: those looked at lately */
    uint32_t count;
    size_t cap;
};
void pt_pages_begin(struct pt_pages *pages, uint32_t bytes);
void pt_pages_release(struct pt_pages *pages);

/* As pt_pages_at, of a page that was not looked at lately. */
void *pt_pages_look(struct pt_pages *pages, uint64_t page, bool make);
/* What there is for the granules of this page; NULL: nothing, and it is not to be made. */
static inline void *pt_pages_at(struct pt_pages *pages, uint64_t page, bool make)
{
    const struct pt_page *near = &pages->near[page % PT_PAGES_NEAR];
    return near->granules && near->page == page ? near->granules : pt_pages_look(pages, page, make);
}

#endif
