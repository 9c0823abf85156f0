/*
 * A table with something for each granule of memory, for what is known of memory while a recording is read.
 *
 * Guarantee: what was put there is found. Cost: of a page that was looked at lately a comparison, otherwise a look into
 * a hash table; memory for each page that something was made for.
 */
#include "trace/pages.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/hash.h"

void pt_pages_begin(struct pt_pages *p, uint32_t bytes)
{
    p->begun = true;
    p->bytes = bytes;
    pt_map64_init(&p->index);
}

void *pt_pages_look(struct pt_pages *p, uint64_t page, bool make)
{
    struct pt_page *near = &p->near[page % PT_PAGES_NEAR];
    uint32_t *index = make ? pt_map64_at(&p->index, page) : NULL, at = make ? *index : pt_map64_get(&p->index, page);
    if (at == PT_NONE && !make)
        return NULL;
    if (at == PT_NONE) {
        at = *index = p->count;
        struct pt_page made = {page, pt_xcalloc(PT_PAGE_GRANULES, p->bytes)};
        PT_PUSH(p->pages, p->count, p->cap, made);
    }
    *near = p->pages[at];
    return near->granules;
}

void pt_pages_release(struct pt_pages *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        free(p->pages[i].granules);
    free(p->pages);
    if (p->begun)
        pt_map64_release(&p->index);
    *p = (struct pt_pages){0};
}
