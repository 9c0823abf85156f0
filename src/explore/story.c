/*
 * From the tables of a run to what people read. A stretch is told by what its thread did last in it, and by what it was
 * about to do when it was left: its next step, or where it stood when the run was over. Objects have the name that the
 * source has for them, or none. Cost: linear in the steps; of the nearest run, in those of all that passed and are
 * kept.
 */
#include "explore/story.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/explore_depend.h"

enum { KEPT = 48, KEPT_STEPS = 1 << 15 };

static const char *keep(struct pt_arena *arena, struct pt_buf *buf)
{
    const char *text = buf->len ? pt_arena_strndup(arena, buf->text, buf->len) : "";
    pt_buf_release(buf);
    return text;
}

/* --- threads --- */

static const char *plain_name(const struct pt_explore_names *names, const struct pt_explore_thread *thread,
                              uint32_t slot)
{
    if (thread->name[0])
        return thread->name;
    if (slot == 0 || !thread->start)
        return slot == 0 ? "main" : "thread";
    const char *function = names->function ? names->function(names->context, thread->start) : NULL;
    return function ? function : "thread";
}

const char *const *pt_explore_thread_names(const struct pt_explore_names *names,
                                           const struct pt_explore_outcome *outcome, struct pt_arena *arena)
{
    const char **list = pt_arena_alloc(arena, ((size_t)outcome->thread_count + 1) * sizeof *list);
    for (uint32_t i = 0; i < outcome->thread_count; i++) {
        const char *name = plain_name(names, &outcome->threads[i], i);
        unsigned before = 0;
        for (uint32_t k = 0; k < i; k++)
            before += strcmp(plain_name(names, &outcome->threads[k], k), name) == 0;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_puts(&text, name);
        if (before)
            pt_buf_printf(&text, "#%u", before + 1);
        list[i] = keep(arena, &text);
    }
    return list;
}

/* --- points --- */

const char *pt_explore_loc(const struct pt_explore_spot *spot, struct pt_arena *arena)
{
    struct pt_buf text;
    if (!spot->file[0])
        return "";
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s:%" PRIu32, spot->file, spot->line);
    return keep(arena, &text);
}

/* What a thread does to itself. */
static bool is_own(enum pt_explore_kind kind)
{
    return kind == PT_EXPLORE_BEGIN || kind == PT_EXPLORE_END || kind == PT_EXPLORE_HANDLE ||
           kind == PT_EXPLORE_PAUSE || kind == PT_EXPLORE_PAUSED;
}

static const char *object_name(const struct pt_explore_names *names, enum pt_explore_kind kind, uint64_t object,
                               const struct pt_explore_spot *spot, const char *const *threads, uint32_t thread_count)
{
    if (pt_explore_space(kind) == PT_EXPLORE_SLOTS)
        return object < thread_count && !is_own(kind) ? threads[object] : kind == PT_EXPLORE_SEND ? "the process" : "";
    /* "*m" says less than the variable that m points to, where that has a name */
    bool direct = spot->variable[0] && !strpbrk(spot->variable, "*>[");
    const char *name = !direct && pt_explore_space(kind) == PT_EXPLORE_MEMORY && names->variable
                           ? names->variable(names->context, object)
                           : NULL;
    return name ? name : spot->variable;
}

struct teller {
    const struct pt_explore_names *names;
    const struct pt_explore_outcome *outcome;
    const char *const *threads;
    struct pt_arena *arena;
};

static struct pt_played_point tell(const struct teller *t, enum pt_explore_kind kind, uint64_t object, uint32_t place)
{
    const struct pt_explore_spot *spot = pt_explore_spot(t->names->places, place);
    return (struct pt_played_point){.op = pt_explore_word(kind),
                                    .object =
                                        object_name(t->names, kind, object, spot, t->threads, t->outcome->thread_count),
                                    .function = spot->function,
                                    .loc = pt_explore_loc(spot, t->arena)};
}

static struct pt_played_point tell_step(const struct teller *t, const struct pt_explore_step *step)
{
    return tell(t, step->kind, step->object, step->place);
}

static const struct pt_played_point no_point = {"", "", "", ""};

/* Where a thread stands when all is over. */
static struct pt_played_point tell_thread(const struct teller *t, uint32_t slot)
{
    const struct pt_explore_thread *thread = &t->outcome->threads[slot];
    if (thread->state != PT_EXPLORE_READY && thread->state != PT_EXPLORE_BLOCKED)
        return no_point;
    return tell(t, thread->kind, thread->object, thread->place);
}

/* What comes next of a thread behind step `from`. */
static struct pt_played_point tell_next(const struct teller *t, uint32_t slot, uint64_t from)
{
    for (uint64_t i = from; i < t->outcome->step_count; i++)
        if (t->outcome->steps[i].who == slot)
            return tell_step(t, &t->outcome->steps[i]);
    if (slot >= t->outcome->thread_count)
        return no_point;
    const struct pt_explore_thread *thread = &t->outcome->threads[slot];
    if (thread->state == PT_EXPLORE_AWAY) /* it is in the kernel, in a call at this place */
        return tell(t, thread->kind, thread->object, thread->place);
    return tell_thread(t, slot);
}

static struct teller make_teller(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                                 struct pt_arena *arena)
{
    return (struct teller){names, outcome, pt_explore_thread_names(names, outcome, arena), arena};
}

/* `step`: how many the run had at its end. */
static struct pt_played_stretch tell_stretch(const struct teller *t, struct pt_explore_stretch taken, uint64_t step)
{
    const struct pt_explore_outcome *o = t->outcome;
    uint32_t slot = taken.who & ~PT_EXPLORE_HANDLES;
    struct pt_played_stretch stretch = {.thread = slot,
                                        .name = slot < o->thread_count ? t->threads[slot] : "thread",
                                        .steps = taken.steps,
                                        .handles = taken.who & PT_EXPLORE_HANDLES,
                                        .last = no_point,
                                        .next = no_point};
    if (step >= 1 && step <= o->step_count)
        stretch.last = tell_step(t, &o->steps[step - 1]);
    if (o->steps)
        stretch.next = tell_next(t, slot, step);
    return stretch;
}

/* The first thread has run up to its first scheduling point before anybody else was there: where it is not taken then,
 * that is a stretch without a step. */
struct pt_played_stretch *pt_explore_tell(const struct pt_explore_names *names,
                                          const struct pt_explore_outcome *outcome, struct pt_arena *arena,
                                          uint32_t *ret_count)
{
    struct teller t = make_teller(names, outcome, arena);
    struct pt_played_stretch *list = pt_arena_alloc(arena, ((size_t)outcome->taken_count + 1) * sizeof *list);
    uint64_t step = 0;
    uint32_t count = 0;
    if (outcome->steps && outcome->taken_count && outcome->taken[0].who & ~PT_EXPLORE_HANDLES)
        list[count++] = tell_stretch(&t, (struct pt_explore_stretch){0, 0}, 0);
    for (uint32_t i = 0; i < outcome->taken_count; i++) {
        step += outcome->taken[i].steps;
        list[count++] = tell_stretch(&t, outcome->taken[i], step);
    }
    *ret_count = count;
    return list;
}

/* --- failures --- */

/* The place where the thread was that had the turn. */
static const struct pt_explore_spot *failing_spot(const struct pt_explore_names *names,
                                                  const struct pt_explore_outcome *outcome,
                                                  const struct pt_explore_failure *failure)
{
    if (failure->thread < outcome->thread_count)
        return pt_explore_spot(names->places, outcome->threads[failure->thread].place);
    for (uint32_t i = 0; i < outcome->thread_count; i++)
        if (outcome->threads[i].state == PT_EXPLORE_BLOCKED)
            return pt_explore_spot(names->places, outcome->threads[i].place);
    return pt_explore_spot(names->places, 0);
}

/* "a", "a and b", "a, b and c"; returns how many: the circle, or all who wait. */
static uint32_t put_threads(const struct pt_explore_outcome *outcome, const char *const *threads, struct pt_buf *buf)
{
    uint32_t list[PT_EXPLORE_THREADS], count = pt_explore_circle(outcome, list);
    for (uint32_t i = 0, circle = count; i < outcome->thread_count && !circle; i++)
        if (outcome->threads[i].state == PT_EXPLORE_BLOCKED)
            list[count++] = i;
    for (uint32_t i = 0; i < count; i++)
        pt_buf_printf(buf, "%s%s", !i ? "" : i + 1 < count ? ", " : " and ", threads[list[i]]);
    return count;
}

static bool waits_to_be_woken(const struct pt_explore_outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->thread_count; i++) {
        uint32_t kind = outcome->threads[i].kind;
        if (outcome->threads[i].state == PT_EXPLORE_BLOCKED &&
            (kind == PT_EXPLORE_WAKE || kind == PT_EXPLORE_FUTEX_WOKEN || kind == PT_EXPLORE_PAUSED))
            return true;
    }
    return false;
}

static void put_what(const struct teller *t, const struct pt_explore_failure *failure, bool place, struct pt_buf *buf)
{
    const struct pt_explore_spot *spot = failing_spot(t->names, t->outcome, failure);
    switch (failure->kind) {
    case PT_EXPLORE_FAILS_SIGNAL:
        pt_buf_printf(buf, "killed by signal %d (%s)", failure->number, strsignal(failure->number));
        break;
    case PT_EXPLORE_FAILS_STATUS:
        pt_buf_printf(buf, "exit status %d", failure->number);
        if (place && failure->measured)
            pt_buf_printf(buf, ", where its ordinary schedule ends with %d", failure->ordinary);
        else if (place)
            pt_buf_printf(buf, ", where %d is expected", failure->ordinary);
        return;
    case PT_EXPLORE_FAILS_DEADLOCK:
        pt_buf_puts(buf, "deadlock of ");
        put_threads(t->outcome, t->threads, buf);
        return;
    case PT_EXPLORE_FAILS_STUCK:
        pt_buf_printf(buf, "nobody can go on%s: ", waits_to_be_woken(t->outcome) ? " (a lost wake-up?)" : "");
        pt_buf_puts(buf, put_threads(t->outcome, t->threads, buf) == 1 ? " waits for ever" : " wait for ever");
        return;
    case PT_EXPLORE_FAILS_LIVELOCK:
        pt_buf_puts(buf, "livelock: those that can go on only spin");
        return;
    case PT_EXPLORE_FAILS_TIMEOUT:
        pt_buf_puts(buf, "it did not end in time");
        return;
    case PT_EXPLORE_FAILS_RACE:
        pt_buf_puts(buf, "data race");
        break;
    case PT_EXPLORE_FAILS_LIFETIME:
        pt_buf_puts(buf, "use of memory after its end");
        break;
    case PT_EXPLORE_FAILS_PROPERTY:
        pt_buf_puts(buf, "a property is violated");
        return;
    default:
        return;
    }
    if (failure->thread < t->outcome->thread_count)
        pt_buf_printf(buf, " in %s", t->threads[failure->thread]);
    if (place && spot->file[0])
        pt_buf_printf(buf, ", after %s:%" PRIu32, spot->file, spot->line);
}

const char *pt_explore_about(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                             const struct pt_explore_failure *failure, struct pt_arena *arena)
{
    struct teller t = make_teller(names, outcome, arena);
    struct pt_buf text;
    pt_buf_init(&text);
    put_what(&t, failure, false, &text);
    return keep(arena, &text);
}

struct pt_side *pt_explore_side(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                                const struct pt_explore_failure *failure, struct pt_arena *arena)
{
    struct teller t = make_teller(names, outcome, arena);
    struct pt_side *side = pt_arena_alloc(arena, sizeof *side);
    const struct pt_explore_spot *spot = failing_spot(names, outcome, failure);
    const char *loc = pt_explore_loc(spot, arena);
    side->step = (struct pt_step){.thread = failure->thread < outcome->thread_count ? t.threads[failure->thread] : "-",
                                  .op = pt_explore_failure_words[failure->kind],
                                  .object = spot->variable[0] ? spot->variable : "-",
                                  .loc = loc[0] ? loc : "-",
                                  .var = PT_NONE};
    return side;
}

/* A thread that spins and was left where there is no place (sched_yield): what it did last that has one. */
static struct pt_played_point tell_wait(const struct teller *t, uint32_t slot)
{
    const struct pt_explore_outcome *o = t->outcome;
    struct pt_played_point point = tell_thread(t, slot);
    bool spins = o->threads[slot].state == PT_EXPLORE_READY;
    for (uint64_t i = o->steps ? o->step_count : 0; i-- > 0 && spins && !point.loc[0];)
        if (o->steps[i].who == slot && o->steps[i].place)
            point = tell_step(t, &o->steps[i]);
    return point;
}

static const char *tell_owner(const struct teller *t, uint32_t owner)
{
    struct pt_buf text;
    if (owner >= t->outcome->thread_count)
        return "";
    if (t->outcome->threads[owner].state != PT_EXPLORE_ENDED)
        return t->threads[owner];
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s (ended)", t->threads[owner]);
    return keep(t->arena, &text);
}

static void tell_waits(const struct teller *t, struct pt_played *played)
{
    const struct pt_explore_outcome *o = t->outcome;
    played->waits = pt_arena_alloc(t->arena, ((size_t)o->thread_count + 1) * sizeof *played->waits);
    for (uint32_t i = 0; i < o->thread_count; i++) {
        if (o->threads[i].state != PT_EXPLORE_BLOCKED && o->threads[i].state != PT_EXPLORE_READY)
            continue;
        played->waits[played->wait_count++] = (struct pt_played_wait){
            .thread = i,
            .name = t->threads[i],
            .point = tell_wait(t, i),
            .owner = o->threads[i].kind != PT_EXPLORE_JOIN ? tell_owner(t, o->threads[i].owner) : ""};
    }
}

struct pt_played *pt_explore_story(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                                   const struct pt_explore_failure *failure, const struct pt_explore_outcome *passing,
                                   struct pt_arena *arena)
{
    struct teller t = make_teller(names, outcome, arena);
    struct pt_played *played = pt_arena_alloc(arena, sizeof *played);
    struct pt_buf what;
    pt_buf_init(&what);
    put_what(&t, failure, true, &what);
    played->failure = pt_explore_failure_words[failure->kind];
    played->what = keep(arena, &what);
    played->found_by = "";
    played->number =
        failure->kind == PT_EXPLORE_FAILS_SIGNAL || failure->kind == PT_EXPLORE_FAILS_STATUS ? failure->number : -1;
    played->steps = outcome->result.step_count;
    played->preemptions = outcome->result.preemptions;
    played->threads = t.threads;
    played->output = outcome->output ? pt_arena_strndup(arena, outcome->output, strlen(outcome->output)) : NULL;
    played->stretches = pt_explore_tell(names, outcome, arena, &played->stretch_count);
    if (failure->kind == PT_EXPLORE_FAILS_DEADLOCK || failure->kind == PT_EXPLORE_FAILS_STUCK ||
        failure->kind == PT_EXPLORE_FAILS_LIVELOCK)
        tell_waits(&t, played);
    if (passing)
        played->passing = pt_explore_tell(names, passing, arena, &played->passing_count);
    return played;
}

/* --- runs that passed --- */

void pt_explore_passed_add(struct pt_explore_passed *passed, const struct pt_explore_outcome *o)
{
    if (!o->steps || o->step_count > KEPT_STEPS)
        return;
    if (!passed->runs)
        passed->runs = pt_xcalloc(KEPT, sizeof *passed->runs);
    struct pt_explore_outcome *kept = &passed->runs[passed->next++ % KEPT];
    pt_explore_outcome_release(kept);
    pt_explore_outcome_copy(o, kept);
    if (passed->count < KEPT)
        passed->count++;
}

void pt_explore_passed_release(struct pt_explore_passed *passed)
{
    for (uint32_t i = 0; i < passed->count; i++)
        pt_explore_outcome_release(&passed->runs[i]);
    free(passed->runs);
    *passed = (struct pt_explore_passed){0};
}

static uint32_t common(const struct pt_explore_places *places, const struct pt_explore_outcome *a,
                       const struct pt_explore_outcome *b)
{
    uint32_t count = 0;
    while (count < a->step_count && count < b->step_count && a->steps[count].who == b->steps[count].who &&
           a->steps[count].kind == b->steps[count].kind &&
           pt_explore_spot(places, a->steps[count].place)->key == pt_explore_spot(places, b->steps[count].place)->key)
        count++;
    return count;
}

const struct pt_explore_outcome *pt_explore_nearest(const struct pt_explore_passed *passed,
                                                    const struct pt_explore_places *places,
                                                    const struct pt_explore_outcome *outcome)
{
    const struct pt_explore_outcome *best = NULL;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < passed->count; i++) {
        uint32_t length = common(places, &passed->runs[i], outcome);
        if (best && (length < longest || (length == longest && passed->runs[i].taken_count >= best->taken_count)))
            continue;
        best = &passed->runs[i];
        longest = length;
    }
    return best;
}
