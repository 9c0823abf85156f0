/*
 * A table with something for each granule of memory, for what is known of memory while a recording is read: regions of
 * pages, each a list of them by number. Programs use few regions, so a small table finds them without a search.
 *
 * Guarantee: what was put there is found, and stays where it is. Cost: of a region that was looked at lately a
 * comparison, otherwise a look into a hash table; memory for each page that something was made for, 8 KiB for each
 * region, and at most as much again.
 */
#include "trace/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LINE = 64, FIRST_SLABS = 1 << 21, SMALL_SLAB = 1 << 16, LARGE_SLAB = 1 << 22 };

void pt_pages_begin(struct pt_pages *p, size_t bytes)
{
    p->begun = true;
    p->bytes = bytes;
    pt_map64_init(&p->index);
}

/* Where there is some memory, slabs are so large that they can be of large pages of the machine. */
static void *new_page(struct pt_pages *p)
{
    size_t need = p->bytes;
    if (p->left < need) {
        p->left = p->all < FIRST_SLABS ? SMALL_SLAB : LARGE_SLAB;
        p->all += p->left;
        p->free = pt_xlarge(p->left);
        PT_PUSH(p->slabs, p->slab_count, p->slab_cap, p->free);
        size_t skip = (LINE - (uintptr_t)p->free % LINE) % LINE;
        p->free += skip;
        p->left -= skip;
    }
    void *page = p->free;
    p->free += need;
    p->left -= need;
    return memset(page, 0, need);
}

static struct pt_region *region_at(struct pt_pages *p, uint64_t page, bool make)
{
    uint64_t number = page >> PT_REGION_BITS;
    struct pt_region *near = &p->near[pt_region_near(page)];
    if (near->pages && near->number == number)
        return near;
    uint32_t *index = make ? pt_map64_at(&p->index, number) : NULL;
    uint32_t at = make ? *index : pt_map64_get(&p->index, number);
    if (at == PT_NONE && !make)
        return NULL;
    if (at == PT_NONE) {
        at = *index = p->region_count;
        struct pt_region made = {number, pt_xcalloc(PT_REGION_PAGES, sizeof(void *))};
        PT_PUSH(p->regions, p->region_count, p->region_cap, made);
    }
    *near = p->regions[at];
    return near;
}

void *pt_pages_look(struct pt_pages *p, uint64_t page, bool make)
{
    struct pt_region *region = region_at(p, page, make);
    void **granules = region ? &region->pages[page % PT_REGION_PAGES] : NULL;
    if (!granules || (!*granules && !make))
        return NULL;
    if (!*granules) {
        *granules = new_page(p);
        PT_PUSH(p->pages, p->count, p->cap, ((struct pt_page){page, *granules}));
    }
    return *granules;
}

void *pt_pages_find(const struct pt_pages *p, uint64_t page)
{
    void *granules = pt_pages_peek(p, page);
    uint32_t at = granules ? PT_NONE : pt_map64_get(&p->index, page >> PT_REGION_BITS);
    return at == PT_NONE ? granules : p->regions[at].pages[page % PT_REGION_PAGES];
}

void pt_pages_release(struct pt_pages *p)
{
    for (uint32_t i = 0; i < p->slab_count; i++)
        free(p->slabs[i]);
    free(p->slabs);
    for (uint32_t i = 0; i < p->region_count; i++)
        free(p->regions[i].pages);
    free(p->regions);
    free(p->pages);
    if (p->begun)
        pt_map64_release(&p->index);
    *p = (struct pt_pages){0};
}
