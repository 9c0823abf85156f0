/*
 * Dependence of steps by what they act on. Memory: common bytes, and one of the two writes them. An object of
 * synchronisation counts as its first byte, so that whoever frees or overwrites it depends on who uses it; a wait for a
 * condition acts on the mutex, too. Threads: who is created, and who ends. Slots are numbers in order of creation, so
 * any two creations depend.
 *
 * Guarantee: never false where the order of two neighbouring steps can be seen by the program; true for some where it
 * cannot (two posts of a semaphore, two readers that take a lock). Cost: some ten instructions.
 */
#include "core/explore_depend.h"

#define KIND(name, word, reads, writes, blocks) {word, reads, writes, blocks},
static const struct {
    const char *word;
    bool reads, writes, blocks;
} kinds[] = {PT_EXPLORE_KINDS(KIND)};
#undef KIND

const char *pt_explore_word(enum pt_explore_kind kind)
{
    return kind < PT_EXPLORE_KIND_COUNT ? kinds[kind].word : "?";
}
bool pt_explore_kind_reads(enum pt_explore_kind kind)
{
    return kind < PT_EXPLORE_KIND_COUNT && kinds[kind].reads;
}
bool pt_explore_kind_writes(enum pt_explore_kind kind)
{
    return kind < PT_EXPLORE_KIND_COUNT && kinds[kind].writes;
}
bool pt_explore_kind_blocks(enum pt_explore_kind kind)
{
    return kind < PT_EXPLORE_KIND_COUNT && kinds[kind].blocks;
}

enum pt_explore_space pt_explore_space(enum pt_explore_kind kind)
{
    switch (kind) {
    case PT_EXPLORE_BEGIN:
    case PT_EXPLORE_END:
    case PT_EXPLORE_CREATE:
    case PT_EXPLORE_JOIN:
    case PT_EXPLORE_SEND:
    case PT_EXPLORE_HANDLE:
    case PT_EXPLORE_PAUSE:
    case PT_EXPLORE_PAUSED:
        return PT_EXPLORE_SLOTS;
    case PT_EXPLORE_DESCRIPTOR:
        return PT_EXPLORE_FILES;
    case PT_EXPLORE_FENCE:
    case PT_EXPLORE_SLEEP:
    case PT_EXPLORE_YIELD:
    case PT_EXPLORE_FOREIGN:
    case PT_EXPLORE_EXITS:
    case PT_EXPLORE_KIND_COUNT:
        return PT_EXPLORE_NOTHING;
    default:
        return PT_EXPLORE_MEMORY;
    }
}

struct range {
    uint64_t from, to;
    bool writes;
};

/* Up to two; returns how many. */
static unsigned ranges_of(const struct pt_explore_step *step, struct range out[2])
{
    bool writes = pt_explore_kind_writes(step->kind), waits = step->kind == PT_EXPLORE_WAIT;
    uint64_t bytes = step->size ? step->size : 1;
    if (step->kind == PT_EXPLORE_WAKE)
        waits = true;
    else if (step->other && !waits)
        bytes = step->other; /* of more than size can say, or of a block that is freed */
    out[0] = (struct range){step->object, step->object + bytes, writes};
    out[1] = (struct range){step->other, step->other + 1, true};
    return waits && step->other ? 2 : 1;
}

static bool memory_depends(const struct pt_explore_step *a, const struct pt_explore_step *b)
{
    struct range left[2], right[2];
    unsigned left_count = ranges_of(a, left), right_count = ranges_of(b, right);
    for (unsigned i = 0; i < left_count; i++)
        for (unsigned j = 0; j < right_count; j++)
            if (left[i].from < right[j].to && right[j].from < left[i].to && (left[i].writes || right[j].writes))
                return true;
    return false;
}

static bool is_signal(const struct pt_explore_step *step)
{
    return step->kind == PT_EXPLORE_SEND || step->kind == PT_EXPLORE_HANDLE || step->kind == PT_EXPLORE_PAUSE ||
           step->kind == PT_EXPLORE_PAUSED;
}

/* A signal that is sent to the process may be any thread's. */
static bool signals_depend(const struct pt_explore_step *a, const struct pt_explore_step *b)
{
    return a->object == b->object || a->object == PT_EXPLORE_NO_SLOT || b->object == PT_EXPLORE_NO_SLOT;
}

bool pt_explore_enables(const struct pt_explore_step *a, const struct pt_explore_step *b)
{
    if (a->kind == PT_EXPLORE_CREATE && b->kind == PT_EXPLORE_BEGIN)
        return a->object == b->who;
    return a->kind == PT_EXPLORE_END && b->kind == PT_EXPLORE_JOIN && a->who == b->object;
}

/* Whatever the receiver of a signal does next may be to handle it. */
static bool is_sent_to(const struct pt_explore_step *a, const struct pt_explore_step *b)
{
    return a->kind == PT_EXPLORE_SEND && (a->object == b->who || a->object == PT_EXPLORE_NO_SLOT);
}

bool pt_explore_depends(const struct pt_explore_step *a, const struct pt_explore_step *b)
{
    if (a->who == b->who || is_sent_to(a, b) || is_sent_to(b, a))
        return true;
    enum pt_explore_space space = pt_explore_space(a->kind);
    if (space != pt_explore_space(b->kind))
        return false;
    switch (space) {
    case PT_EXPLORE_MEMORY:
        return memory_depends(a, b);
    case PT_EXPLORE_SLOTS:
        if (a->kind == PT_EXPLORE_CREATE && b->kind == PT_EXPLORE_CREATE)
            return true;
        if (is_signal(a) && is_signal(b))
            return signals_depend(a, b);
        return pt_explore_enables(a, b) || pt_explore_enables(b, a);
    case PT_EXPLORE_FILES:
        return true;
    default:
        return false;
    }
}
