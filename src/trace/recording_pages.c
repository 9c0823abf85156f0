/*
 * A table with something for each granule of memory, for what is known of memory while a recording is read.
 *
 * Guarantee: what was put there is found. Cost: of a page that was looked at lately a comparison, otherwise a look into
 * a hash table; memory for each page that something was made for.
 */
#include <stdlib.h>

#include "core/hash.h"
#include "trace/recording_impl.h"

void rec_pages_begin(struct rec_pages *p, uint32_t bytes)
{
    p->begun = true;
    p->bytes = bytes;
    pt_map64_init(&p->index);
}

void *rec_pages_at(struct rec_pages *p, uint64_t page, bool make)
{
    struct rec_page *near = &p->near[page % REC_NEAR];
    if (near->granules && near->page == page)
        return near->granules;
    uint32_t *index = make ? pt_map64_at(&p->index, page) : NULL, at = make ? *index : pt_map64_get(&p->index, page);
    if (at == PT_NONE && !make)
        return NULL;
    if (at == PT_NONE) {
        at = *index = p->count;
        struct rec_page made = {page, pt_xcalloc(REC_GRANULES, p->bytes)};
        PT_PUSH(p->pages, p->count, p->cap, made);
    }
    *near = p->pages[at];
    return near->granules;
}

void rec_pages_release(struct rec_pages *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        free(p->pages[i].granules);
    free(p->pages);
    if (p->begun)
        pt_map64_release(&p->index);
    *p = (struct rec_pages){0};
}
