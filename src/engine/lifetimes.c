/*
 * Wrong lifetimes (contract section 10): uses of a heap block after its free, frees of one that is free, and reads of a
 * pointer that come after a store of null, or before the first store, though the recorded run went on to use the memory
 * that it read the address of. In the recorded run itself, and in others of the same events (lifetimes_scan.c).
 *
 * That a read is of a pointer and is *dereferenced* the trace shows: its value is the address of a heap block, and the
 * thread's next access of that block comes before it reads that address again. Blocks are named by their addresses in
 * recordings (0x55d0c2a0, with #2 for each further life). In traces that call them otherwise a text that names the
 * block counts as its address, and a number other than 0 that is read just before the thread accesses a block as well.
 * Not seen: pointers into the middle of a block, or to memory that is no heap block.
 *
 * Guarantee: in the order `sync` a use after free, and a pointer read as null, is reported if and only if some run has
 * it, but for reads of a pointer at a place where the recorded run has read it as null: the program looks at what it
 * reads there, unless the same thread looked at the pointer before. Each run is played by predict/replay.c, or by
 * order/possible.c, before it is shown. In `values` those are added that need another order of locks
 * (predict/slices.h), and what the search finds within the effort (lifetimes_meet.c). That a pointer which is read
 * before the first store is null then is an assumption, unless the run has read another value or `init` gives one.
 * Pointers of which some store is not in the trace, since a read returned what no store had put there (a library's),
 * are not judged. Not judged, and said to be unknown: what comes after events that are missing, traces of relevant
 * events alone (c=).
 *
 * Cost: one pass, a few bytes for each event; then the events are followed once, for `values` once more, and kept are
 * the uses of blocks until these are allocated again, of each region and place one, and all accesses of pointers.
 */
#include "engine/lifetimes.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

enum { WATCH_EVERY = 64 }; /* events */

static void *begin(const struct pt_names *names, const struct pt_check_options *options)
{
    struct lifetimes *l = pt_xcalloc(1, sizeof *l);
    l->names = names;
    l->options = *options;
    l->started = options->now ? options->now() : 0;
    l->memory = pt_races_memory(&l->pool);
    pt_meeting_begin(&l->meeting, names, options);
    pt_map64_init(&l->by_address);
    pt_map64_init(&l->pointing);
    pt_map64_init(&l->null_reads);
    pt_map64_init(&l->known);
    l->finding = pt_finding_new();
    l->finding->property = "lifetimes";
    l->finding->kind = "lifetime";
    l->finding->text = "";
    l->finding->order = options->order > PT_CHECK_ACCESS ? "sync" : "access";
    l->finding->builtin = l->finding->monitorable = l->finding->complete = true;
    return l;
}

static void release_run(struct lifetimes *l)
{
    pt_log_release(&l->log);
    pt_meeting_end(&l->meeting);
    pt_witnesses_release(&l->witnesses);
    free(l->values);
    free(l->vars);
    free(l->reads);
    free(l->latest);
    free(l->sizes);
    l->values = NULL;
    l->vars = NULL;
    l->reads = l->latest = NULL;
    l->sizes = NULL;
    l->value_cap = l->var_cap = l->read_cap = l->latest_cap = l->size_cap = 0;
    l->read_count = l->size_count = 0;
    pt_races_memory_release(&l->pool);
}

static void release(void *check)
{
    struct lifetimes *l = check;
    release_run(l);
    pt_map64_release(&l->by_address);
    pt_map64_release(&l->pointing);
    pt_map64_release(&l->null_reads);
    pt_map64_release(&l->known);
    pt_full_run_release(&l->run);
    pt_finding_free(l->finding);
    free(l);
}

/* ---- values ---- */

enum life_value pt_lifetimes_value(const struct lifetimes *l, uint64_t index)
{
    return index / 4 < l->value_cap ? l->values[index / 4] >> index % 4 * 2 & 3 : LIFE_UNKNOWN;
}

static void set_value(struct lifetimes *l, uint64_t index, enum life_value value)
{
    PT_ROOM(l->values, l->value_cap, index / 4);
    l->values[index / 4] &= (uint8_t) ~(3u << index % 4 * 2);
    l->values[index / 4] |= (uint8_t)((unsigned)value << index % 4 * 2);
}

static enum life_value classify(struct pt_value value)
{
    if (value.kind == PT_VALUE_UNKNOWN)
        return LIFE_UNKNOWN;
    return (value.kind == PT_VALUE_INT || value.kind == PT_VALUE_BOOL) && value.i == 0 ? LIFE_NULL : LIFE_OTHER;
}

/* The address that a block is named by, 0x55d0c2a0 or 0x55d0c2a0#2; 0: it is not. */
static uint64_t address_of(const struct lifetimes *l, uint32_t block)
{
    const char *name = pt_name(l->names, PT_SPACE_HEAP, block);
    if (strncmp(name, "0x", 2) != 0)
        return 0;
    char *end;
    uint64_t address = strtoull(name, &end, 16);
    return *end == '\0' || *end == '#' ? address : 0;
}

/* The block that begins where the value points to, plus 1; 0: none. */
static uint32_t pointed_to(const struct lifetimes *l, struct pt_value value)
{
    uint32_t block = PT_NONE;
    if (value.kind == PT_VALUE_STRING)
        block = pt_strtab_find(&l->names->space[PT_SPACE_HEAP], value.s, value.len);
    else if (value.kind == PT_VALUE_INT || value.kind == PT_VALUE_UINT)
        block = pt_map64_get(&l->by_address, value.u);
    return block == PT_NONE ? 0 : block + 1;
}

static struct life_var *var_at(struct lifetimes *l, uint32_t id)
{
    PT_ROOM(l->vars, l->var_cap, id);
    return &l->vars[id];
}

uint32_t pt_lifetimes_block(struct lifetimes *l, uint32_t id)
{
    struct life_var *var = var_at(l, id);
    const struct pt_strtab *blocks = &l->names->space[PT_SPACE_HEAP], *vars = &l->names->space[PT_SPACE_VAR];
    if (var->block || var->looked == blocks->count)
        return var->block;
    const char *name = pt_strtab_text(vars, id);
    size_t len = pt_strtab_len(vars, id), at = len;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    bool offset = at > 1 && at < len && name[at - 1] == '+';
    var->looked = blocks->count;
    var->block = pt_strtab_find(blocks, name, offset ? at - 1 : len) + 1; /* PT_NONE + 1 is 0 */
    return var->block;
}

uint64_t pt_lifetimes_place(const struct lifetimes *l, uint32_t loc, uint32_t var)
{
    const char *name = pt_name(l->names, PT_SPACE_VAR, var), *plus = strrchr(name, '+');
    bool offset = plus && plus != name && plus[1] && plus[strspn(plus + 1, "0123456789") + 1] == '\0';
    return offset ? pt_mix64(strtoull(plus + 1, NULL, 10)) + loc : (uint64_t)loc << 32 | var;
}

/* ---- pointers ---- */

static void dereference(struct lifetimes *l, struct life_read *read)
{
    if (!read->index)
        return;
    set_value(l, read->index - 1, LIFE_DEREFERENCED);
    l->vars[read->var].pointer = true;
    read->index = 0;
}

/* The thread accesses memory of the block. */
static void use_block(struct lifetimes *l, uint32_t thread, uint32_t block)
{
    uint32_t index = pt_map64_get(&l->pointing, (uint64_t)thread << 32 | block);
    if (index != PT_NONE)
        dereference(l, &l->reads[index]);
    if (!address_of(l, block))
        dereference(l, &l->latest[thread]);
}

static void note_read(struct lifetimes *l, const struct pt_event *event, uint32_t index)
{
    const struct life_read read = {index + 1, event->object};
    uint32_t block = pointed_to(l, event->value);
    if (event->value.kind == PT_VALUE_INT || event->value.kind == PT_VALUE_UINT)
        l->latest[event->thread] = read;
    if (!block)
        return;
    uint32_t *at = pt_map64_at(&l->pointing, (uint64_t)event->thread << 32 | (block - 1));
    if (*at == PT_NONE) {
        *at = l->read_count;
        PT_PUSH(l->reads, l->read_count, l->read_cap, read);
    } else {
        l->reads[*at] = read;
    }
}

static void on_access(struct lifetimes *l, const struct pt_event *event, uint32_t index)
{
    enum life_value value = classify(event->value);
    uint32_t block = pt_lifetimes_block(l, event->object);
    if (block)
        use_block(l, event->thread, block - 1);
    l->latest[event->thread].index = 0;
    struct life_var *var = var_at(l, event->object);
    var->unseen |= pt_foreign_value(&var->value, event); /* stored by code that is not recorded */
    set_value(l, index, value);
    if (event->op == PT_OP_READ && value == LIFE_NULL)
        *pt_map64_at(&l->null_reads, pt_lifetimes_place(l, event->loc, event->object)) = 1;
    if (event->op == PT_OP_READ && value == LIFE_OTHER) {
        var->set |= !var->written;
        note_read(l, event, index);
    }
    var->written |= pt_op_writes(event->op);
}

static void follow(struct lifetimes *l, const struct pt_event *event)
{
    uint32_t index = (uint32_t)l->log.count;
    pt_log_add(&l->log, event, l->run.events);
    PT_ROOM(l->latest, l->latest_cap, event->thread);
    if (pt_op_space(event->op) == PT_SPACE_VAR) {
        on_access(l, event, index);
        return;
    }
    l->latest[event->thread].index = 0;
    if (event->op != PT_OP_ALLOC)
        return;
    uint64_t address = address_of(l, event->object);
    if (address)
        *pt_map64_at(&l->by_address, address) = event->object;
    PT_PUSH(l->sizes, l->size_count, l->size_cap, event->value);
}

/* ---- the check ---- */

static void stop(struct lifetimes *l, const char *why)
{
    l->run.unknown = why;
    l->run.stopped = true;
}

static void watch_memory(struct lifetimes *l)
{
    size_t bytes = l->log.bytes + l->value_cap + l->var_cap * sizeof *l->vars + l->read_cap * sizeof *l->reads +
                   l->size_cap * sizeof *l->sizes + pt_map64_bytes(&l->pointing) + pt_map64_bytes(&l->by_address);
    if (bytes + pt_meeting_bytes(&l->meeting) > l->peak)
        l->peak = bytes + pt_meeting_bytes(&l->meeting);
    if (!l->options.memory_limit || bytes <= l->options.memory_limit)
        return;
    stop(l, "the memory limit was reached");
    release_run(l);
}

static enum pt_status take(void *check, const struct pt_event *event, struct pt_err *err)
{
    struct lifetimes *l = check;
    bool looked_at;
    pt_meeting_event(&l->meeting, event);
    if (event->op == PT_OP_INIT && !l->run.stopped) {
        struct life_var *var = var_at(l, event->object);
        var->set = classify(event->value) != LIFE_NULL;
        var->value = event->value;
    }
    enum pt_status status = pt_full_run_event(&l->run, l->options.trace, event, &looked_at, err);
    if (!looked_at)
        return status;
    if (pt_trf_counts(event->op))
        follow(l, event);
    if (l->log.count >= PT_NONE)
        stop(l, "there are more events than this check looks at");
    if (l->run.events % WATCH_EVERY == 0)
        watch_memory(l);
    return PT_OK;
}

static struct pt_check_found finish(void *check, const char *lost)
{
    struct lifetimes *l = check;
    struct pt_finding *f = l->finding;
    watch_memory(l);
    pt_lifetimes_scan(l, false);
    if (l->options.order >= PT_CHECK_VALUES)
        pt_lifetimes_scan(l, true);
    if (l->meeting.mistake)
        l->run.unknown = l->meeting.mistake;
    if (!l->size_count && !l->run.unknown && !lost && f->verdict == PT_VERDICT_HOLDS)
        f->message = "the trace has no heap blocks (alloc events)";
    pt_full_run_settle(&l->run, f, lost);
    f->peak_bytes = l->peak;
    f->seconds = l->options.now ? (double)(l->options.now() - l->started) / 1e9 : 0;
    return (struct pt_check_found){.finding = f};
}

const struct pt_check_kind pt_check_lifetimes = {
    .begin = begin,
    .event = take,
    .finish = finish,
    .free = release,
};
