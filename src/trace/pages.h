/* Something for each granule (8 aligned bytes) of memory, in pages that are made when they are first needed. */
#ifndef PT_TRACE_PAGES_H
#define PT_TRACE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

enum {
    PT_PAGE_BITS = 12,
    PT_PAGE_GRANULES = 1 << (PT_PAGE_BITS - 3),
    PT_REGION_BITS = 10, /* pages of a region */
    PT_REGION_PAGES = 1 << PT_REGION_BITS,
    PT_REGIONS_NEAR_BITS = 7,
};

struct pt_pages {
    bool begun;
    size_t bytes;          /* of a page */
    struct pt_map64 index; /* of regions, by number */
    struct pt_region {
        uint64_t number;
        void **pages; /* what there is for the granules of each; NULL: nothing, of a region: it is none */
    } * regions, near[1 << PT_REGIONS_NEAR_BITS]; /* `near`: those looked at lately */
    uint32_t region_count;
    size_t region_cap;
    struct pt_page {
        uint64_t page;
        void *granules; /* 0 at first */
    } * pages;
    uint32_t count;
    size_t cap;
    void **slabs; /* memory for many pages each; of the last one so many bytes are left, from `free` on */
    uint32_t slab_count;
    size_t slab_cap, left, all;
    char *free;
};
/* `bytes`: of what there is for all granules of a page. */
void pt_pages_begin(struct pt_pages *pages, size_t bytes);
void pt_pages_release(struct pt_pages *pages);

/* As pt_pages_at, of a page that is not there, or in a region that was not looked at lately. */
void *pt_pages_look(struct pt_pages *pages, uint64_t page, bool make);

/* Where the region of a page stands among those that were looked at lately, if it does. */
static inline unsigned pt_region_near(uint64_t page)
{
    return (unsigned)((page >> PT_REGION_BITS) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PT_REGIONS_NEAR_BITS));
}

/* The same, and nothing is changed: NULL also where that is not known at once. */
static inline void *pt_pages_peek(const struct pt_pages *pages, uint64_t page)
{
    const struct pt_region *near = &pages->near[pt_region_near(page)];
    bool there = near->pages && near->number == page >> PT_REGION_BITS;
    return there ? near->pages[page % PT_REGION_PAGES] : NULL;
}

/* The same, whether it is known at once or not. */
void *pt_pages_find(const struct pt_pages *pages, uint64_t page);

/* What there is for the granules of this page; NULL: nothing, and it is not to be made. */
static inline void *pt_pages_at(struct pt_pages *pages, uint64_t page, bool make)
{
    void *granules = pt_pages_peek(pages, page);
    return __builtin_expect(granules != NULL, 1) ? granules : pt_pages_look(pages, page, make);
}

#endif
