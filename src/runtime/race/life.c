/*
 * Uses and frees of memory that has ended, as findings: what is used or freed, by whom, and where it ended.
 *
 * Guarantee: whatever is reported did happen, and was wrong: the memory is nobody's at that moment (kept.c, stopped.c),
 * or lies below the frames that the thread's stack has. Cost: nothing where no mark is found; a search, and text for
 * each pair of places that is new.
 */
#include "runtime/race/life_impl.h"
#include "runtime/sys/module.h"

static struct {
    uintptr_t low, high;
} program; /* its own file */

static void note_program(void *context, const char *file, uint64_t base, uint64_t low, uint64_t high)
{
    (void)context, (void)base;
    if (file[0])
        return;
    program.low = (uintptr_t)low;
    program.high = (uintptr_t)high;
}

bool pt_life_start(uint64_t bytes)
{
    pt_module_each(note_program, NULL);
    return pt_life_mark_start() && pt_life_kept_start(bytes);
}

void pt_life_restart(void)
{
    pt_life_mark_restart();
    pt_life_kept_restart();
    pt_life_stopped_restart();
}

/* The call that the thread is in, of which libc's function is the innermost. */
static const struct pt_site *call_now(void)
{
    static const struct pt_site unknown = {"", "", "", 0, 0, NULL};
    return __portent_calls.depth ? __portent_calls.frames[(__portent_calls.depth - 1) % PT_CALLS] : &unknown;
}

struct pt_life_end pt_life_end_now(struct pt_race_self *self, uintptr_t start, size_t size)
{
    return (struct pt_life_end){.start = start,
                                .size = size,
                                .thread = self->number,
                                .place = pt_race_place_of(call_now()),
                                .stack = pt_race_stack_now(),
                                .locks = pt_race_locks_now(self)};
}

/* What is wrong now: an access or a free by the calling thread. */
struct wrong {
    const char *note;
    uintptr_t address;
    size_t size;
    struct pt_cell_access access;
};

static struct wrong wrong_now(struct pt_race_self *self, const char *note, uintptr_t address, size_t size,
                              unsigned kind, const struct pt_site *site)
{
    return (struct wrong){note,
                          address,
                          size,
                          {.place = pt_race_place_of(site ? site : call_now()),
                           .kind = kind & 7,
                           .op = (uint8_t)(kind >> PT_RACE_OP_AT),
                           .note = {.stack = pt_race_stack_now(), .locks = pt_race_locks_now(self)}}};
}

static struct pt_found_side side_of(const struct pt_cell_access *access, uint32_t thread, uintptr_t address,
                                    size_t size, struct pt_race_side *out)
{
    struct pt_found_side side = pt_race_make_side(access, thread, 0, out);
    side.address = address;
    side.size = size;
    return side;
}

/* `end` NULL: there is none. */
static void report(const struct pt_race_self *self, const struct wrong *wrong, const struct pt_life_end *end)
{
    uint32_t place = end ? end->place : wrong->access.place;
    uint64_t key = pt_life_key(pt_race_pair_key(wrong->access.place, place), PT_FOUND_OBSERVED);
    if (!pt_race_hooks.is_new(key))
        return;
    struct pt_race_side out[2];
    struct pt_found_side sides[2] = {
        side_of(&wrong->access, self->number, wrong->address, wrong->size, &out[0]),
    };
    if (end) {
        struct pt_cell_access ended = {.place = end->place,
                                       .kind = PT_CELL_WRITES,
                                       .op = PT_RACE_OP_FREE,
                                       .note = {.stack = end->stack, .locks = end->locks}};
        sides[1] = side_of(&ended, end->thread, end->start, end->block.size ? end->block.size : end->size, &out[1]);
    }
    struct pt_found found = {.check = PT_FOUND_LIFETIME,
                             .how = PT_FOUND_OBSERVED,
                             .key = key,
                             .note = wrong->note,
                             .object = sides[0].variable,
                             .address = wrong->address,
                             .size = wrong->size,
                             .sides = sides,
                             .side_count = end ? 2 : 1};
    struct pt_race_origin origin;
    if (end && end->block.size) {
        origin.block = end->block;
        pt_race_add_block(&found, &origin);
    } else if (end && end->what == PT_LIFE_BLOCK) {
        found.block.start = end->start;
        found.block.size = end->size;
    }
    pt_race_hooks.found(&found, PT_RACE_CHECK);
}

static bool end_at(uintptr_t address, struct pt_life_end *ret_end)
{
    return pt_life_kept_at(address, ret_end) || pt_life_stopped_at(address, ret_end);
}

void pt_life_use(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, const struct pt_site *site,
                 uintptr_t frame)
{
    struct pt_life_end end;
    uintptr_t to = address + size, at = pt_life_first_marked(address, to);
    if (at < to && end_at(at, &end)) {
        const char *note = end.what == PT_LIFE_STACK ? PT_LIFE_USE_OF_STACK : PT_LIFE_USE_AFTER_FREE;
        uintptr_t until = end.start + end.size < to ? end.start + end.size : to;
        struct wrong wrong = wrong_now(self, note, at, until - at, kind, site);
        report(self, &wrong, &end);
    } else if (pt_life_is_below(self, address, frame)) {
        struct wrong wrong = wrong_now(self, PT_LIFE_USE_OF_STACK, address, size, kind, site);
        report(self, &wrong, NULL);
    }
}

/* What can be no block: the program's own variables and functions, the stack, and what no allocator returns. */
static bool is_no_block(const struct pt_race_self *self, uintptr_t start, uintptr_t frame)
{
    enum { LEAST_ALIGNMENT = 8 };
    return start % LEAST_ALIGNMENT || (start >= program.low && start < program.high) ||
           (start >= frame && start < self->stack_high && frame >= self->stack_low);
}

enum pt_life_free pt_life_free(struct pt_race_self *self, uintptr_t start, uintptr_t frame)
{
    enum { FREES = PT_RACE_WRITE | PT_RACE_OP_FREE << PT_RACE_OP_AT };
    struct pt_life_end end;
    if (pt_life_is_marked(start) && pt_life_kept_at(start, &end)) {
        bool again = end.start == start;
        size_t size = again && end.block.size ? end.block.size : end.start + end.size - start;
        struct wrong wrong =
            wrong_now(self, again ? PT_LIFE_DOUBLE_FREE : PT_LIFE_INVALID_FREE, start, size, FREES, NULL);
        report(self, &wrong, &end);
        return again ? PT_LIFE_AGAIN : PT_LIFE_WRONG;
    }
    if (!is_no_block(self, start, frame))
        return PT_LIFE_GOOD;
    struct wrong wrong = wrong_now(self, PT_LIFE_INVALID_FREE, start, 0, FREES, NULL);
    report(self, &wrong, NULL);
    return PT_LIFE_WRONG;
}
