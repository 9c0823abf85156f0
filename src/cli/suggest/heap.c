#include "cli/suggest/heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/suggest/names.h"

void pt_suggest_heap_init(struct pt_suggest_heap *heap)
{
    *heap = (struct pt_suggest_heap){0};
    pt_blocks_init(&heap->map);
    pt_strtab_init(&heap->words);
}

void pt_suggest_heap_release(struct pt_suggest_heap *heap)
{
    pt_blocks_release(&heap->map);
    pt_strtab_release(&heap->words);
    free(heap->blocks);
    free(heap->locks);
}

/* Addresses mean something else from here on. */
void pt_suggest_heap_run(struct pt_suggest_heap *heap)
{
    pt_blocks_release(&heap->map);
    pt_blocks_init(&heap->map);
    for (size_t i = 0; i < heap->lock_cap; i++)
        heap->locks[i].other = PT_NONE;
}

/* Freed blocks stay until something else is allocated there: their addresses are known to be old then. */
void pt_suggest_heap_alloc(struct pt_suggest_heap *heap, const struct pt_names *names, const struct pt_event *event)
{
    struct pt_suggest_block block = {.place = event->loc};
    uint64_t size = event->value.kind == PT_VALUE_INT && event->value.i > 0 ? (uint64_t)event->value.i : 1;
    if (!pt_suggest_address(pt_name(names, PT_SPACE_HEAP, event->object), &block.low))
        return;
    const struct pt_block *old;
    while ((old = pt_blocks_first(&heap->map, block.low, block.low + size))) {
        heap->blocks[old->name].again = block.again = true;
        pt_blocks_remove(&heap->map, old->low, old->low + old->size);
    }
    pt_blocks_add(&heap->map, (struct pt_block){block.low, size, heap->count});
    PT_PUSH(heap->blocks, heap->count, heap->cap, block);
}

static uint32_t block_at(const struct pt_suggest_heap *heap, uint64_t address)
{
    const struct pt_block *block = pt_blocks_first(&heap->map, address, address + 1);
    return block ? block->name : PT_NONE;
}

uint32_t pt_suggest_heap_block(const struct pt_suggest_heap *heap, const char *name, uint64_t *ret_offset)
{
    uint64_t address;
    if (!pt_suggest_address(name, &address))
        return PT_NONE;
    uint32_t block = block_at(heap, address);
    if (block != PT_NONE)
        *ret_offset = address - heap->blocks[block].low;
    return block;
}

static void look_at_lock(struct pt_suggest_heap *heap, const struct pt_names *names, uint32_t lock)
{
    const char *name = pt_name(names, PT_SPACE_LOCK, lock);
    struct pt_suggest_lock_words words = {.block = PT_NONE};
    uint64_t address = 0;
    struct pt_buf text;
    pt_buf_init(&text);
    if (pt_suggest_address(name, &address))
        words.block = block_at(heap, address);
    if (words.block == PT_NONE) {
        pt_buf_puts(&text, name);
    } else {
        const struct pt_suggest_block *block = &heap->blocks[words.block];
        pt_buf_printf(&text, "the lock at +%" PRIu64 " of the same block", address - block->low);
        words.own = pt_strtab_intern(&heap->words, text.text, text.len);
        text.len = 0;
        pt_buf_printf(&text, "the lock at +%" PRIu64 " of what %s allocates", address - block->low,
                      pt_name(names, PT_SPACE_LOC, block->place));
    }
    words.other = pt_strtab_intern(&heap->words, text.text, text.len);
    pt_buf_release(&text);
    heap->locks[lock] = words;
}

uint32_t pt_suggest_heap_lock(struct pt_suggest_heap *heap, const struct pt_names *names, uint32_t lock, uint32_t block)
{
    size_t before = heap->lock_cap;
    PT_GROW(heap->locks, heap->lock_cap, (size_t)lock + 1);
    for (size_t i = before; i < heap->lock_cap; i++)
        heap->locks[i].other = PT_NONE;
    if (heap->locks[lock].other == PT_NONE)
        look_at_lock(heap, names, lock);
    const struct pt_suggest_lock_words *words = &heap->locks[lock];
    return words->block != PT_NONE && words->block == block ? words->own : words->other;
}
