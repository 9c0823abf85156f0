/*
 * Races as findings (core/found.h): one for each pair of places, whichever came second, and for each set of properties
 * that ask for it, with both sides as they were when it was seen first; all others are only counted.
 *
 * Guarantee: every race that was met is counted or reported, with nothing locked. Cost: a look-up for each that is met,
 * and text for each that is new.
 */
#include <stdio.h>
#include <string.h>

#include "core/channel.h"
#include "core/finding_key.h"
#include "core/hash.h"
#include "runtime/race/life_impl.h"
#include "runtime/sys/sys.h"

enum { PAIR_BITS = 16, SIDES = 2, TEXT = 1024, THREAD_BITS = 20 };

struct created {
    uint32_t place, stack;
    _Atomic uint64_t name[PT_RACE_NAME / 8]; /* of a thread that has one, and where nobody else knows it */
};
struct pair {
    _Atomic uint64_t places; /* both, the lower one first, and 1 more; 0: free */
    _Atomic uint64_t key;
};
static struct created *created; /* by the number of the thread */
static struct pair *pairs;

bool pt_race_report_start(void)
{
    created = pt_sys_reserve_table(sizeof *created << THREAD_BITS);
    pairs = pt_sys_reserve_table(sizeof *pairs << PAIR_BITS);
    return created && pairs;
}

void pt_race_report_restart(void)
{
    pt_sys_empty(created, sizeof *created << THREAD_BITS);
    pt_sys_empty(pairs, sizeof *pairs << PAIR_BITS);
}

void pt_race_created(uint32_t thread, uint32_t place, uint32_t stack)
{
    if (thread >> THREAD_BITS == 0)
        created[thread] = (struct created){place, stack};
}

void pt_race_named(uint32_t thread, const char *name)
{
    uint64_t words[PT_RACE_NAME / 8] = {0};
    strncpy((char *)words, name, PT_RACE_NAME - 1);
    for (unsigned i = 0; i < PT_RACE_NAME / 8 && thread >> THREAD_BITS == 0; i++)
        atomic_store_explicit(&created[thread].name[i], words[i], memory_order_relaxed);
}

static const char *name_of(uint32_t thread, uint64_t *room)
{
    for (unsigned i = 0; i < PT_RACE_NAME / 8; i++)
        room[i] = thread >> THREAD_BITS ? 0 : atomic_load_explicit(&created[thread].name[i], memory_order_relaxed);
    return (const char *)room;
}

/* file:line, as traces name places. */
static void write_place(char *out, const struct pt_site *site)
{
    size_t len = strnlen(site->file, TEXT - 16);
    memcpy(out, site->file, len);
    snprintf(out + len, 16, ":%u", site->line);
}

static uint64_t make_key(const struct pt_site *one, const struct pt_site *other)
{
    char first[TEXT], second[TEXT];
    write_place(first, one);
    write_place(second, other);
    return pt_finding_key_race((struct pt_finding_side){first, one->variable},
                               (struct pt_finding_side){second, other->variable});
}

uint64_t pt_race_pair_key(uint32_t one, uint32_t other)
{
    uint64_t places = (one < other ? (uint64_t)one << 32 | other : (uint64_t)other << 32 | one) + 1;
    uint32_t at = (uint32_t)(pt_mix64(places) >> (64 - PAIR_BITS));
    struct pair *pair = NULL;
    for (uint32_t tries = 0; tries < 64 && !pair; tries++, at = (at + 1) & ((1u << PAIR_BITS) - 1)) {
        uint64_t there = atomic_load_explicit(&pairs[at].places, memory_order_relaxed);
        if (there == places || (!there && atomic_compare_exchange_strong(&pairs[at].places, &there, places)) ||
            there == places)
            pair = &pairs[at];
    }
    uint64_t key = pair ? atomic_load_explicit(&pair->key, memory_order_relaxed) : 0;
    if (!key) {
        key = make_key(pt_race_site_at(one), pt_race_site_at(other));
        if (pair)
            atomic_store_explicit(&pair->key, key, memory_order_relaxed);
    }
    return key;
}

static uint32_t kind_of(const struct pt_cell_access *access)
{
    if (access->op != PT_RACE_OP_ACCESS)
        return PT_KIND_FREED;
    if (access->kind & PT_CELL_READS && access->kind & PT_CELL_WRITES)
        return PT_KIND_UPDATE_AT;
    return access->kind & PT_CELL_WRITES ? PT_KIND_WRITE_AT : PT_KIND_READ_AT;
}

struct pt_found_side pt_race_make_side(const struct pt_cell_access *access, uint32_t thread, uintptr_t granule,
                                       struct pt_race_side *out)
{
    const struct pt_site *site = pt_race_site_at(access->place);
    unsigned first = (unsigned)__builtin_ctz(access->bytes | 0x100u);
    struct pt_found_side side = {
        .thread = thread + 1,
        .thread_name = name_of(thread, out->name),
        .kind = kind_of(access),
        .flags = access->kind & PT_CELL_ATOMIC ? PT_FOUND_ATOMIC : 0,
        .address = granule + first,
        .size = (unsigned)__builtin_popcount(access->bytes),
        .variable = site->variable,
        .stack = {out->stack, 1, false},
        .locks = out->locks,
        .created = {out->creation, 0, false},
    };
    side.stack.count = pt_race_stack_read(access->note.stack, out->stack + 1, PT_FOUND_FRAMES, &side.stack.lost);
    if (side.stack.count && out->stack[1] == site) /* a call, which is the access itself */
        side.stack.sites++;
    else
        side.stack.count++;
    out->stack[0] = site;
    side.lock_count = pt_race_locks_read(access->note.locks, out->held, PT_FOUND_LOCKS);
    for (uint32_t i = 0; i < side.lock_count; i++)
        out->locks[i] = (struct pt_found_lock){out->held[i].site ? out->held[i].site->variable : "",
                                               out->held[i].address, out->held[i].site};
    if (!thread || thread >> THREAD_BITS)
        return side;
    if (created[thread].place != UINT32_MAX && created[thread].place)
        out->creation[side.created.count++] = pt_race_site_at(created[thread].place);
    side.created.count += pt_race_stack_read(created[thread].stack, out->creation + side.created.count, PT_FOUND_FRAMES,
                                             &side.created.lost);
    if (side.created.count > 1 && out->creation[0] == out->creation[1]) { /* that call runs the thread's function */
        side.created.sites++;
        side.created.count--;
    }
    return side;
}

void pt_race_add_block(struct pt_found *found, struct pt_race_origin *origin)
{
    found->block.start = origin->block.start;
    found->block.size = origin->block.size;
    found->block.thread = origin->block.thread + 1;
    found->block.thread_name = name_of(origin->block.thread, origin->name);
    origin->stack[0] = pt_race_site_at(origin->block.place);
    found->block.stack.sites = origin->stack;
    found->block.stack.count =
        1 + pt_race_stack_read(origin->block.stack, origin->stack + 1, PT_FOUND_FRAMES, &found->block.stack.lost);
    if (found->block.stack.count > 1 && origin->stack[0]->line == origin->stack[1]->line &&
        strcmp(origin->stack[0]->function, origin->stack[1]->function) == 0) { /* the allocator's call is still there */
        found->block.stack.sites++;
        found->block.stack.count--;
    }
}

/* What a report of two accesses is about, beside that. */
struct about {
    enum pt_found_check check;
    enum pt_found_how how;
    uint64_t key;
    const char *note;
    uint64_t asked; /* by whom, as pt_race_hooks says */
};

static void report_as(const struct about *about, const struct pt_race_self *self, uintptr_t granule,
                      const struct pt_cell_seen *earlier, const struct pt_cell_access *access)
{
    if (!pt_race_hooks.is_new(about->key))
        return;
    struct pt_race_side out[SIDES];
    struct pt_found_side sides[SIDES];
    sides[0] = pt_race_make_side(&earlier->access, pt_race_thread_at(pt_epoch_thread(earlier->at)), granule, &out[0]);
    sides[1] = pt_race_make_side(access, self->number, granule, &out[1]);
    unsigned common = earlier->access.bytes & access->bytes;
    const char *name = sides[1].variable && *sides[1].variable ? sides[1].variable : sides[0].variable;
    struct pt_found found = {.check = about->check,
                             .how = about->how,
                             .key = about->key,
                             .note = about->note,
                             .object = name,
                             .address = granule + (unsigned)__builtin_ctz(common | 0x100u),
                             .size = (unsigned)__builtin_popcount(common),
                             .sides = sides,
                             .side_count = SIDES};
    struct pt_race_origin origin;
    if (pt_race_block_at((uintptr_t)found.address, &origin.block))
        pt_race_add_block(&found, &origin);
    pt_race_hooks.found(&found, about->asked);
}

/* A use that comes before the end of its memory and need not: races say so where the end comes second. What was used
 * after its end is found by its mark (life.c). */
static void report_life(const struct pt_race_self *self, uintptr_t granule, const struct pt_cell_seen *earlier,
                        const struct pt_cell_access *access, uint64_t key)
{
    bool stack = access->op == PT_RACE_OP_STACK;
    if (!pt_race_looks.lives || access->op == PT_RACE_OP_ACCESS || earlier->access.op != PT_RACE_OP_ACCESS)
        return;
    struct about about = {PT_FOUND_LIFETIME, PT_FOUND_PREDICTED, pt_life_key(key, PT_FOUND_PREDICTED),
                          stack ? PT_LIFE_USE_OF_STACK : PT_LIFE_USE_AFTER_FREE, PT_RACE_CHECK};
    report_as(&about, self, granule, earlier, access);
}

static void report_race(const struct pt_race_self *self, uintptr_t granule, const struct pt_cell_seen *earlier,
                        const struct pt_cell_access *access, uint64_t key)
{
    uint32_t other = pt_race_thread_at(pt_epoch_thread(earlier->at));
    uint64_t asked = pt_race_hooks.asked(granule, earlier->access.bytes & access->bytes, other, self->number);
    if (!asked)
        return;
    bool element = strchr(pt_race_site_at(access->place)->variable, '[');
    uint64_t properties = asked & ~PT_RACE_CHECK, apart = pt_race_hooks.apart(granule, element, other, self->number);
    if (properties || apart) /* a pair may race on other memory first, for which others ask */
        key = pt_mix64(key ^ properties ^ apart) | 1;
    report_as(&(struct about){PT_FOUND_RACE, PT_FOUND_OBSERVED, key, "", asked}, self, granule, earlier, access);
}

static void report_one(struct pt_race_self *self, uintptr_t granule, const struct pt_cell_seen *earlier,
                       const struct pt_cell_access *access)
{
    uint64_t key = pt_race_pair_key(earlier->access.place, access->place);
    report_life(self, granule, earlier, access, key);
    if (pt_race_looks.races)
        report_race(self, granule, earlier, access, key);
}

void pt_race_report(struct pt_race_self *self, uintptr_t granule, const struct pt_cell_access *access)
{
    uint32_t count = self->met_count;
    self->met_count = 0;
    for (uint32_t i = 0; i < count; i++)
        report_one(self, granule, &self->met[i], access);
}
