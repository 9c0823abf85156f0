/*
 * The state behind the views of `watch`: each thread's state, locks and recent past, and the last events. Rings of
 * fixed size hold all of it, and the whole past in stretches that get longer with it, so an event costs constant time
 * and a day of events no more memory than a minute. After a gap in the stream what threads hold is forgotten rather
 * than guessed.
 */
#include "cli/watch/scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/change.h"
#include "report/words.h"

struct pt_scene *pt_scene_new(const struct pt_names *names, const char *address, struct pt_finding *const *findings,
                              uint32_t property_count)
{
    struct pt_scene *scene = pt_xcalloc(1, sizeof *scene);
    scene->names = names;
    scene->address = address;
    scene->stretch = 1;
    scene->threads = pt_xcalloc(PT_SCENE_THREADS, sizeof *scene->threads);
    scene->property_count = property_count;
    scene->properties = pt_xcalloc((size_t)property_count + 1, sizeof *scene->properties);
    for (uint32_t i = 0; i < property_count; i++)
        scene->properties[i] = (struct pt_scene_property){.name = findings[i]->property,
                                                          .text = findings[i]->text ? findings[i]->text : "",
                                                          .verdict = findings[i]->verdict};
    return scene;
}

void pt_scene_free(struct pt_scene *scene)
{
    if (!scene)
        return;
    for (uint32_t t = 0; t < scene->thread_count; t++)
        free(scene->threads[t].locks);
    free(scene->threads);
    free(scene->properties);
    free(scene->index);
    free(scene);
}

/* --- time --- */

static uint8_t marks_of(const struct pt_scene_thread *thread)
{
    uint8_t held = thread->lock_count ? PT_MARK_HELD : 0;
    switch (thread->state) {
    case PT_SCENE_RUNNING:
        return PT_MARK_RAN | held;
    case PT_SCENE_READY:
        return PT_MARK_READY | held;
    case PT_SCENE_BLOCKED:
        return PT_MARK_BLOCKED | held;
    case PT_SCENE_ENDED:
        break;
    }
    return 0;
}

/* Two stretches become one, until the column has one. */
static void thin_out(struct pt_scene *scene, uint64_t column)
{
    while (column / scene->stretch >= PT_SCENE_PAST) {
        for (uint32_t t = 0; t < scene->thread_count; t++) {
            uint8_t *past = scene->threads[t].past;
            for (unsigned i = 0; i < PT_SCENE_PAST / 2; i++)
                past[i] = past[2 * i] | past[2 * i + 1];
            memset(past + PT_SCENE_PAST / 2, 0, PT_SCENE_PAST / 2);
        }
        scene->stretch *= 2;
    }
}

/* What threads did from the present column to that one: nothing new. */
static void fill_past(struct pt_scene *scene, uint64_t column)
{
    thin_out(scene, column);
    for (uint32_t t = 0; t < scene->thread_count; t++) {
        struct pt_scene_thread *thread = &scene->threads[t];
        for (uint64_t i = scene->column / scene->stretch; i <= column / scene->stretch; i++)
            thread->past[i] |= marks_of(thread);
    }
}

void pt_scene_advance(struct pt_scene *scene, uint64_t time)
{
    if (!scene->started || time <= scene->now)
        return;
    scene->now = time;
    uint64_t column = (time - scene->origin) / PT_SCENE_COLUMN_NS;
    uint64_t fresh = column - scene->column;
    if (fresh)
        fill_past(scene, column);
    if (fresh > PT_SCENE_COLUMNS)
        fresh = PT_SCENE_COLUMNS;
    for (uint32_t t = 0; fresh && t < scene->thread_count; t++) {
        struct pt_scene_thread *thread = &scene->threads[t];
        for (uint64_t c = column - fresh + 1; c <= column; c++)
            thread->marks[c % PT_SCENE_COLUMNS] = marks_of(thread);
    }
    scene->column = column;
}

/* --- threads --- */

static void mark(struct pt_scene *scene, struct pt_scene_thread *thread, uint8_t marks)
{
    thread->marks[scene->column % PT_SCENE_COLUMNS] |= marks;
    thread->past[scene->column / scene->stretch] |= marks;
}

/* A place for a new thread: of the one that ended first, where all are taken. */
static struct pt_scene_thread *place(struct pt_scene *scene)
{
    if (scene->thread_count < PT_SCENE_THREADS)
        return &scene->threads[scene->thread_count++];
    struct pt_scene_thread *oldest = NULL;
    for (uint32_t t = 0; t < scene->thread_count; t++) {
        struct pt_scene_thread *thread = &scene->threads[t];
        if (thread->state == PT_SCENE_ENDED && (!oldest || thread->since < oldest->since))
            oldest = thread;
    }
    if (oldest) {
        scene->index[oldest->name] = PT_NONE;
        free(oldest->locks);
    }
    return oldest;
}

/* NULL: there is no room for it. */
static struct pt_scene_thread *thread_of(struct pt_scene *scene, uint32_t name)
{
    if (name >= scene->index_cap) {
        size_t old = scene->index_cap;
        PT_GROW(scene->index, scene->index_cap, (size_t)name + 1);
        memset(scene->index + old, 0xff, (scene->index_cap - old) * sizeof *scene->index);
    }
    if (scene->index[name] != PT_NONE)
        return &scene->threads[scene->index[name]];
    struct pt_scene_thread *thread = place(scene);
    if (!thread) {
        scene->hidden++;
        return NULL;
    }
    *thread = (struct pt_scene_thread){.name = name, .state = PT_SCENE_RUNNING, .since = scene->now};
    scene->index[name] = (uint32_t)(thread - scene->threads);
    return thread;
}

static enum pt_scene_state state_named(const char *text)
{
    if (strcmp(text, "running") == 0)
        return PT_SCENE_RUNNING;
    if (strcmp(text, "ready") == 0)
        return PT_SCENE_READY;
    return strcmp(text, "ended") == 0 ? PT_SCENE_ENDED : PT_SCENE_BLOCKED;
}

static void set_state(const struct pt_scene *scene, struct pt_scene_thread *thread, const struct pt_wire_item *item)
{
    thread->state = state_named(pt_name(scene->names, PT_SPACE_STATE, item->event.object));
    thread->since = item->event.time;
    snprintf(thread->detail, sizeof thread->detail, "%s", item->detail ? item->detail : "");
    if (thread->state == PT_SCENE_ENDED)
        thread->lock_count = 0;
}

static void leave_lock(struct pt_scene_thread *thread, uint32_t lock)
{
    for (uint32_t i = thread->lock_count; i-- > 0;) {
        if (thread->locks[i] != lock)
            continue;
        memmove(thread->locks + i, thread->locks + i + 1, (thread->lock_count - i - 1) * sizeof *thread->locks);
        thread->lock_count--;
        return;
    }
}

static void act(struct pt_scene *scene, struct pt_scene_thread *thread, const struct pt_wire_item *item)
{
    switch ((enum pt_op)item->event.op) {
    case PT_OP_STATE:
        set_state(scene, thread, item);
        return;
    case PT_OP_ACQ:
    case PT_OP_RACQ:
        PT_PUSH(thread->locks, thread->lock_count, thread->lock_cap, item->event.object);
        return;
    case PT_OP_REL:
    case PT_OP_RREL:
        leave_lock(thread, item->event.object);
        return;
    case PT_OP_CONTENDED:
        mark(scene, thread, PT_MARK_CONTENDED);
        return;
    case PT_OP_EVENT:
        mark(scene, thread, PT_MARK_EVENT);
        return;
    default:
        return;
    }
}

/* --- what happened --- */

static void push(struct pt_scene *scene, struct pt_scene_item item)
{
    scene->items[scene->item_count++ % PT_SCENE_ITEMS] = item;
}

/* What locks and threads did in a gap is not known. */
static void forget(struct pt_scene *scene)
{
    for (uint32_t t = 0; t < scene->thread_count; t++)
        scene->threads[t].lock_count = 0;
}

void pt_scene_take(struct pt_scene *scene, const struct pt_wire_item *item)
{
    enum pt_wire_read what = item->what;
    const struct pt_event *event = &item->event;
    if (what == PT_WIRE_READ_HELLO) {
        scene->started = true;
        scene->origin = scene->now = event->time;
        scene->pid = item->pid;
        const char *slash = strrchr(item->program, '/');
        snprintf(scene->program, sizeof scene->program, "%s", slash ? slash + 1 : item->program);
        return;
    }
    if (event->has_time)
        pt_scene_advance(scene, event->time);
    if (what == PT_WIRE_READ_BYE)
        scene->ended = true;
    if (what == PT_WIRE_READ_LOST) {
        scene->lost += item->lost;
        forget(scene);
        push(scene,
             (struct pt_scene_item){.time = event->time, .op = PT_OP_LOST, .thread = PT_NONE, .number = item->lost});
    }
    if ((what != PT_WIRE_READ_EVENT && what != PT_WIRE_READ_SNAPSHOT) || event->thread == PT_NONE)
        return;
    struct pt_scene_thread *thread = thread_of(scene, event->thread);
    if (thread) {
        act(scene, thread, item);
        mark(scene, thread, marks_of(thread));
    }
    scene->events += what == PT_WIRE_READ_EVENT;
    push(
        scene,
        (struct pt_scene_item){
            .time = event->time, .op = event->op, .thread = event->thread, .object = event->object, .loc = event->loc});
}

/* --- properties --- */

void pt_scene_states(struct pt_scene *scene, uint32_t property, const uint32_t *states, uint32_t count)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_change_states(states, count, &text);
    snprintf(scene->properties[property].states, sizeof scene->properties->states, "%s", text.text);
    pt_buf_release(&text);
}

const char *pt_scene_property_word(const struct pt_scene_property *property)
{
    if (property->verdict == PT_VERDICT_VIOLATED)
        return property->how == PT_HOW_DEAD ? "dead" : property->how == PT_HOW_LATE ? "late" : "violated";
    return property->verdict == PT_VERDICT_HOLDS ? "good so far" : pt_words_verdict(property->verdict);
}

void pt_scene_change(struct pt_scene *scene, uint32_t index, const struct pt_change *change, enum pt_how how)
{
    struct pt_scene_property *property = &scene->properties[index];
    struct pt_scene_note *note = &scene->notes[scene->note_count % PT_SCENE_NOTES];
    property->verdict = change->to;
    property->how = how;
    property->time = change->timed ? change->time : scene->now;
    char *cause = change->step ? pt_words_step(change->step) : NULL;
    snprintf(property->cause, sizeof property->cause, "%s", cause ? cause : "");
    free(cause);
    note->number = scene->note_count++;
    note->verdict = change->to;
    snprintf(note->text, sizeof note->text, "property '%.80s' is %s after event %" PRIu64, property->name,
             change->to == PT_VERDICT_HOLDS ? "known again" : pt_scene_property_word(property), change->event);
    push(scene,
         (struct pt_scene_item){.time = property->time, .op = PT_OP_COUNT, .thread = PT_NONE, .number = note->number});
}

/* --- words --- */

const char *pt_scene_state_word(enum pt_scene_state state)
{
    static const char *const words[] = {[PT_SCENE_READY] = "ready",
                                        [PT_SCENE_RUNNING] = "running",
                                        [PT_SCENE_BLOCKED] = "blocked",
                                        [PT_SCENE_ENDED] = "ended"};
    return words[state];
}

void pt_scene_item_text(const struct pt_scene *scene, const struct pt_scene_item *item, struct pt_buf *buf)
{
    if (item->op == PT_OP_COUNT) {
        const struct pt_scene_note *note = &scene->notes[item->number % PT_SCENE_NOTES];
        pt_buf_puts(buf, note->number == item->number ? note->text : "");
    } else if (item->op == PT_OP_LOST) {
        pt_buf_printf(buf, "%" PRIu64 " event%s lost", item->number, pt_words_plural(item->number));
    } else {
        pt_buf_printf(buf, "%s(%s)", pt_op_word(item->op), pt_name(scene->names, pt_op_space(item->op), item->object));
    }
}
