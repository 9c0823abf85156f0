/*
 * Blocks of decentralised properties, whole or damaged. The input is a block, or a list of flips (their number, then
 * offset and mask of each) and a property file whose block they are applied to. What the validator accepts must be safe
 * to evaluate.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "block.h"
#include "logic/mttl/mttl.h"

/* The block of a property file, NULL when it has none. */
static struct pt_mttl *build(const uint8_t *data, size_t size)
{
    const struct pt_property *list[16];
    struct pt_mttl *block = NULL;
    struct pt_err err;
    uint32_t count = 0;
    struct pt_properties *props = pt_properties_new();
    if (pt_properties_add(props, "fuzz", (const char *)data, size, NULL, NULL, &err) == PT_OK) {
        for (uint32_t i = 0; i < props->count && count < 16; i++)
            if (props->items[i].kind == PT_KIND_MTTL)
                list[count++] = &props->items[i];
        if (count && pt_mttl_compile(list, count, &block, &err) != PT_OK)
            block = NULL;
    }
    pt_properties_free(props);
    return block;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_mttl *block = NULL;
    size_t bytes = size, flips = size ? data[0] % 16 : 0;
    if (size >= sizeof *block && memcmp(data, PT_MTTL_MAGIC, 8) == 0) {
        block = pt_xmalloc(size);
        memcpy(block, data, size);
    } else if (size > 1 + 3 * flips && (block = build(data + 1 + 3 * flips, size - 1 - 3 * flips))) {
        bytes = block->bytes;
        if (!pt_mttl_validate(block, bytes))
            abort(); /* what the compiler makes is valid */
        for (size_t i = 0; i < flips; i++) {
            const uint8_t *flip = data + 1 + 3 * i;
            ((uint8_t *)block)[(flip[0] | (size_t)flip[1] << 8) % bytes] ^= flip[2];
        }
    }
    if (block && pt_mttl_validate(block, bytes) && block_is_modest(block))
        block_evaluate(block);
    free(block);
    return 0;
}
