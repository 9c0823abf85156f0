/*
 * Files of `portent compile`, whole or damaged. The length and the hash in the head are made right first, or damage
 * would get no further than these: they find accidents, the checks behind them are for files that were made up. What
 * pt_ptc_problem accepts must have all its texts inside and be safe to evaluate.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "block.h"
#include "core/hash.h"
#include "core/ptc.h"
#include "core/shape.h"

static volatile size_t sink; /* so that no read is left out */

static void read_text(const struct pt_config *config, uint32_t offset)
{
    sink += strlen((const char *)config + offset);
}

static void read_watches(const struct pt_config *config)
{
    const struct pt_watch *watches = (const void *)((const char *)config + config->watches);
    for (uint32_t i = 0; i < config->watch_count; i++) {
        const struct pt_watch *w = &watches[i];
        struct pt_shape shape = {w->size, w->type, w->bit_offset, w->bit_size};
        unsigned char *memory = pt_xcalloc(1, w->size);
        struct pt_value value = pt_shape_value(&shape, memory);
        sink += value.kind == PT_VALUE_STRING ? value.len : value.u;
        free(memory);
        read_text(config, w->module);
        read_text(config, w->name);
    }
}

static void read_tables(const struct pt_config *config)
{
    const uint32_t *events = (const void *)((const char *)config + config->events);
    const struct pt_start *starts = (const void *)((const char *)config + config->starts);
    const struct pt_function *functions = (const void *)((const char *)config + config->functions);
    for (uint32_t i = 0; i < config->event_count; i++)
        read_text(config, events[i]);
    for (uint32_t i = 0; i < config->start_count; i++)
        read_text(config, starts[i].module);
    for (uint32_t i = 0; i < config->function_count; i++) {
        read_text(config, functions[i].module);
        read_text(config, functions[i].name);
    }
    const struct pt_library *libraries = (const void *)((const char *)config + config->libraries);
    for (uint32_t i = 0; i < config->library_count; i++) {
        read_text(config, libraries[i].module);
        for (uint32_t k = 0; k < libraries[i].id_bytes; k++)
            sink += libraries[i].id[k];
    }
    read_text(config, config->options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_ptc *head = pt_xmalloc(size ? size : 1);
    if (size)
        memcpy(head, data, size);
    (void)!pt_ptc_problem(head, size);
    if (size >= sizeof *head) {
        memcpy(head->magic, PT_PTC_MAGIC, sizeof head->magic);
        head->version = PT_PTC_VERSION;
        head->id_bytes %= PT_ID_MAX + 1;
        head->config_bytes = size - sizeof *head;
        head->hash = pt_fnv(PT_FNV_NOTHING, head + 1, size - sizeof *head);
    }
    if (!pt_ptc_problem(head, size)) {
        const struct pt_config *config = (const void *)(head + 1);
        const struct pt_mttl *block = (const void *)((const char *)config + config->mttl);
        read_watches(config);
        read_tables(config);
        if (block_is_modest(block))
            block_evaluate(block);
    }
    free(head);
    return 0;
}
