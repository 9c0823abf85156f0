/*
 * Strategies. What all of them share: the prefix comes first, as it stands; threads in the sleep set are left out from
 * its end on, until something is done that depends on what they are about to do (Godefroid's sleep sets); and threads
 * that spin or have just yielded are taken only if there is nobody else.
 *
 *   RANDOM  uniform over what can go on.
 *   PCT     Burckhardt et al., ASPLOS 2010: a random priority for each thread, the highest goes; at depth - 1 steps,
 *           chosen among `length`, who would go falls below all others. A thread that sleeps, yields or times out
 * falls, too: or one that waits for another in a loop would keep it from running. SURW    Zhao et al., ASPLOS 2025: the
 * thread of the next chosen step is drawn by how many each has left; until it has done it, the others may do everything
 * but theirs, at random.
 *
 * Guarantee: the same input and the same views give the same picks. Cost: linear in the slots in use.
 */
#include "core/explore_pick.h"

#include "core/explore_depend.h"

static const uint64_t fallen_from = (uint64_t)1 << 32; /* priorities below are of those that fell */

/* splitmix64 */
uint64_t pt_explore_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Below n, which is not 0. The remainder's bias is below 2^-32 for all n that occur. */
static uint64_t below(struct pt_explore_picker *picker, uint64_t n)
{
    return pt_explore_random(&picker->random) % n;
}

/* ---- weights ---- */

static const struct pt_explore_weight *weight_of(const struct pt_explore_picker *picker, uint64_t line)
{
    for (uint32_t i = 0; i < PT_EXPLORE_INDEX; i++) {
        uint16_t entry = picker->index[(line + i) % PT_EXPLORE_INDEX];
        if (!entry)
            return NULL;
        if (picker->weights[entry - 1].line == line)
            return &picker->weights[entry - 1];
    }
    return NULL;
}

static void index_weights(struct pt_explore_picker *picker)
{
    uint32_t count = picker->weights ? picker->input->weight_count : 0;
    if (count >= PT_EXPLORE_INDEX)
        count = PT_EXPLORE_INDEX - 1;
    for (uint32_t n = 0; n < count; n++) {
        uint64_t at = picker->weights[n].line;
        if (weight_of(picker, at))
            continue;
        while (picker->index[at % PT_EXPLORE_INDEX])
            at++;
        picker->index[at % PT_EXPLORE_INDEX] = (uint16_t)(n + 1);
    }
}

/* Chosen steps of a thread and of all that it starts, down to a depth that no program reaches by intent. */
static uint64_t weight_with_children(const struct pt_explore_picker *picker, uint64_t line, unsigned depth)
{
    const struct pt_explore_weight *weight = weight_of(picker, line);
    if (!weight)
        return 0;
    uint64_t sum = weight->chosen;
    for (uint32_t child = 0; depth && weight_of(picker, pt_explore_line(line, child)); child++)
        sum += weight_with_children(picker, pt_explore_line(line, child), depth - 1);
    return sum;
}

/* ---- the beginning ---- */

static void choose_changes(struct pt_explore_picker *picker)
{
    uint32_t count = picker->input->depth ? picker->input->depth - 1 : 0;
    uint64_t length = picker->input->length ? picker->input->length : 1;
    picker->change_count = count < PT_EXPLORE_CHANGES ? count : PT_EXPLORE_CHANGES;
    for (uint32_t i = 0; i < picker->change_count; i++)
        picker->changes[i] = below(picker, length);
}

void pt_explore_pick_begin(struct pt_explore_picker *picker, const struct pt_explore_input *input,
                           const struct pt_explore_stretch *prefix, const struct pt_explore_weight *weights)
{
    *picker = (struct pt_explore_picker){.input = input,
                                         .prefix = prefix,
                                         .weights = weights,
                                         .random = input->seed,
                                         .fallen = fallen_from,
                                         .intended = PT_EXPLORE_NO_SLOT};
    if (input->wishes & PT_EXPLORE_SLEEPS)
        picker->sleep = input->sleep;
    if (input->strategy == PT_EXPLORE_PCT)
        choose_changes(picker);
    if (input->strategy == PT_EXPLORE_SURW)
        index_weights(picker);
}

void pt_explore_pick_thread(struct pt_explore_picker *picker, uint32_t slot, uint32_t parent, uint64_t line)
{
    enum { DEPTH = 16 };
    picker->line[slot] = line;
    /* by line, not in order of creation: that a thread is there does not change what is random for others */
    uint64_t own = pt_mix64(picker->input->seed ^ pt_mix64(line + 1));
    picker->priority[slot] = fallen_from + 1 + (own >> 2);
    picker->left[slot] = picker->input->strategy == PT_EXPLORE_SURW ? weight_with_children(picker, line, DEPTH) : 0;
    if (parent == PT_EXPLORE_NO_SLOT)
        return;
    uint64_t *from = &picker->left[parent];
    *from -= *from < picker->left[slot] ? *from : picker->left[slot];
}

/* ---- strategies ---- */

static uint32_t next_in(const struct pt_explore_set *set, uint32_t from)
{
    for (uint32_t slot = from; slot < PT_EXPLORE_THREADS; slot++) {
        uint64_t rest = set->words[slot / 64] >> slot % 64;
        if (rest)
            return slot + (uint32_t)__builtin_ctzll(rest);
        slot |= 63;
    }
    return PT_EXPLORE_NO_SLOT;
}

static uint32_t count_of(const struct pt_explore_set *set)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < PT_EXPLORE_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(set->words[i]);
    return count;
}

static struct pt_explore_set without(const struct pt_explore_set *set, const struct pt_explore_set *others)
{
    struct pt_explore_set rest;
    for (unsigned i = 0; i < PT_EXPLORE_WORDS; i++)
        rest.words[i] = set->words[i] & ~others->words[i];
    return rest;
}

static uint32_t any_of(struct pt_explore_picker *picker, const struct pt_explore_set *set)
{
    uint64_t skip = below(picker, count_of(set));
    uint32_t slot = next_in(set, 0);
    while (skip--)
        slot = next_in(set, slot + 1);
    return slot;
}

/* It goes on because time passes, not because of what somebody did. */
static bool is_idle(const struct pt_explore_view *view, uint32_t slot)
{
    const struct pt_explore_step *next = &view->next[slot];
    return next->kind == PT_EXPLORE_SLEEP || next->kind == PT_EXPLORE_YIELD || next->flags & PT_EXPLORE_TIMED_OUT;
}

/* The running one; else the next behind it, around. Those for whom time has to pass come last. */
static uint32_t pick_first(const struct pt_explore_view *view, const struct pt_explore_set *set)
{
    struct pt_explore_set busy = *set;
    for (uint32_t slot = next_in(set, 0); slot != PT_EXPLORE_NO_SLOT; slot = next_in(set, slot + 1))
        if (is_idle(view, slot))
            pt_explore_drop(&busy, slot);
    const struct pt_explore_set *from = pt_explore_is_empty(&busy) ? set : &busy;
    uint32_t start = view->current == PT_EXPLORE_NO_SLOT ? 0 : view->current;
    if (from == set) /* all of these wait: not always the same one first */
        start++;
    uint32_t slot = next_in(from, start);
    return slot == PT_EXPLORE_NO_SLOT ? next_in(from, 0) : slot;
}

static uint32_t highest(const struct pt_explore_picker *picker, const struct pt_explore_set *set)
{
    uint32_t best = next_in(set, 0);
    for (uint32_t slot = best; slot != PT_EXPLORE_NO_SLOT; slot = next_in(set, slot + 1))
        if (picker->priority[slot] > picker->priority[best])
            best = slot;
    return best;
}

static uint32_t pick_by_priority(struct pt_explore_picker *picker, const struct pt_explore_view *view,
                                 const struct pt_explore_set *set)
{
    uint32_t slot = highest(picker, set);
    for (uint32_t i = 0; i < picker->change_count; i++)
        if (picker->changes[i] == view->step) {
            picker->priority[slot] = --picker->fallen;
            slot = highest(picker, set);
        }
    if (is_idle(view, slot))
        picker->priority[slot] = --picker->fallen;
    return slot;
}

enum { UNFAIR = 200 }; /* picks for which threads may be kept back, about */

/* Whose chosen step is next: as likely as it has such left. Threads that cannot go on may be drawn, too; that is the
 * point: the others wait with theirs. */
static uint32_t draw_intended(struct pt_explore_picker *picker)
{
    uint64_t sum = 0;
    for (uint32_t slot = 0; slot < PT_EXPLORE_THREADS; slot++)
        sum += picker->left[slot];
    if (!sum)
        return PT_EXPLORE_NO_SLOT;
    uint64_t at = below(picker, sum);
    uint32_t slot = 0;
    while (at >= picker->left[slot])
        at -= picker->left[slot++];
    return slot;
}

static uint32_t pick_by_weight(struct pt_explore_picker *picker, const struct pt_explore_view *view,
                               const struct pt_explore_set *set)
{
    if (picker->intended == PT_EXPLORE_NO_SLOT)
        picker->intended = draw_intended(picker);
    struct pt_explore_set others = *view->chosen;
    if (picker->intended != PT_EXPLORE_NO_SLOT)
        pt_explore_drop(&others, picker->intended);
    struct pt_explore_set may = without(set, &others);
    /* What was drawn cannot come now; or will not, because those that may go on spin until one of the others does: so
     * it is given up now and then. */
    if (pt_explore_is_empty(&may) || below(picker, UNFAIR) == 0) {
        may = *set;
        picker->intended = PT_EXPLORE_NO_SLOT;
    }
    return any_of(picker, &may);
}

/* ---- a pick ---- */

static bool is_bound(const struct pt_explore_view *view, uint32_t slot)
{
    return view->bound && pt_explore_has(view->bound, slot);
}

static uint32_t follow(struct pt_explore_picker *picker, const struct pt_explore_view *view)
{
    const struct pt_explore_stretch *stretch = &picker->prefix[picker->at];
    uint32_t slot = stretch->who & ~PT_EXPLORE_HANDLES;
    uint32_t handles = picker->used ? 0 : stretch->who & PT_EXPLORE_HANDLES;
    if (slot >= PT_EXPLORE_THREADS || !pt_explore_has(view->enabled, slot) ||
        (handles ? !pt_explore_has(view->signals, slot) : is_bound(view, slot)))
        return PT_EXPLORE_NO_SLOT;
    if (++picker->used >= stretch->steps) {
        picker->at++;
        picker->used = 0;
    }
    return slot | handles;
}

static uint32_t choose(struct pt_explore_picker *picker, const struct pt_explore_view *view)
{
    struct pt_explore_set awake = without(view->enabled, &picker->sleep), busy;
    if (pt_explore_is_empty(&awake)) {
        picker->why = PT_EXPLORE_REDUNDANT;
        return PT_EXPLORE_NO_SLOT;
    }
    busy = without(&awake, view->yields);
    if (pt_explore_is_empty(&busy))
        busy = awake;
    uint32_t slot;
    switch (picker->input->strategy) {
    case PT_EXPLORE_RANDOM:
        slot = any_of(picker, &busy);
        break;
    case PT_EXPLORE_PCT:
        slot = pick_by_priority(picker, view, &busy);
        break;
    case PT_EXPLORE_SURW:
        slot = pick_by_weight(picker, view, &busy);
        break;
    default:
        slot = pick_first(view, &busy);
    }
    bool handles = pt_explore_has(view->signals, slot) &&
                   (is_bound(view, slot) || picker->input->strategy == PT_EXPLORE_FIRST || below(picker, 2));
    return slot | (handles ? PT_EXPLORE_HANDLES : 0);
}

/* Who sleeps is woken by a step that depends on its next one. */
static void wake_dependent(struct pt_explore_picker *picker, const struct pt_explore_view *view, uint32_t taken)
{
    for (uint32_t slot = next_in(&picker->sleep, 0); slot != PT_EXPLORE_NO_SLOT;
         slot = next_in(&picker->sleep, slot + 1))
        if (slot == taken || pt_explore_depends(&view->next[slot], &view->next[taken]))
            pt_explore_drop(&picker->sleep, slot);
}

static void note_taken(struct pt_explore_picker *picker, const struct pt_explore_view *view, uint32_t slot)
{
    if (!picker->forced)
        wake_dependent(picker, view, slot);
    if (!pt_explore_has(view->chosen, slot))
        return;
    picker->left[slot] -= picker->left[slot] > 0;
    picker->intended = PT_EXPLORE_NO_SLOT;
}

uint32_t pt_explore_pick_next(const struct pt_explore_picker *picker)
{
    if (picker->diverged || picker->at >= picker->input->prefix_count)
        return PT_EXPLORE_NO_SLOT;
    return picker->prefix[picker->at].who & ~PT_EXPLORE_HANDLES;
}

uint32_t pt_explore_pick(struct pt_explore_picker *picker, const struct pt_explore_view *view)
{
    uint32_t who = PT_EXPLORE_NO_SLOT;
    picker->forced = false;
    if (!picker->diverged && picker->at < picker->input->prefix_count) {
        who = follow(picker, view);
        picker->forced = who != PT_EXPLORE_NO_SLOT;
        if (!picker->forced) {
            picker->diverged = true;
            picker->diverged_at = view->step + 1;
            picker->why = PT_EXPLORE_DIVERGED;
            if (picker->input->wishes & PT_EXPLORE_STRICT)
                return PT_EXPLORE_NO_SLOT;
        }
    }
    if (!picker->forced)
        who = choose(picker, view);
    if (who != PT_EXPLORE_NO_SLOT)
        note_taken(picker, view, who & ~PT_EXPLORE_HANDLES);
    return who;
}
