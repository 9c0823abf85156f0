/*
 * What a watched program looks like now and looked like lately: the data behind the terminal's and the browser's view.
 *
 * Memory is bounded however long the program runs: a fixed number of columns per thread (a column shows what a thread
 * did in PT_SCENE_COLUMN_NS), of stretches of all the time since the start (they get longer, two become one), of
 * threads (ended ones make room), of items (what happened, one by one) and of notes.
 */
#ifndef PT_CLI_WATCH_SCENE_H
#define PT_CLI_WATCH_SCENE_H

#include "base/buf.h"
#include "finding/finding.h"
#include "trace/wire.h"

enum {
    PT_SCENE_COLUMN_NS = 100 * 1000 * 1000,
    PT_SCENE_COLUMNS = 512, /* of which the last ones are shown; a power of two */
    PT_SCENE_PAST = 512,    /* stretches */
    PT_SCENE_THREADS = 256,
    PT_SCENE_ITEMS = 1 << 13, /* a power of two */
    PT_SCENE_NOTES = 128,
};

enum pt_scene_state { PT_SCENE_READY, PT_SCENE_RUNNING, PT_SCENE_BLOCKED, PT_SCENE_ENDED };

/* What happened in a column of a thread. */
enum {
    PT_MARK_RAN = 1,
    PT_MARK_READY = 2,
    PT_MARK_BLOCKED = 4,
    PT_MARK_HELD = 8, /* it held a lock */
    PT_MARK_EVENT = 16,
    PT_MARK_CONTENDED = 32,
};

struct pt_scene_thread {
    uint32_t name;
    enum pt_scene_state state;
    uint64_t since;  /* when it got into that state */
    char detail[48]; /* what it waits for, "" when nobody knows */
    uint32_t *locks; /* that it holds, in the order it took them */
    uint32_t lock_count;
    size_t lock_cap;
    uint8_t marks[PT_SCENE_COLUMNS];
    uint8_t past[PT_SCENE_PAST]; /* the same, of stretches */
};

/* What happened, in the order it did. */
struct pt_scene_item {
    uint64_t time;
    uint8_t op; /* enum pt_op; PT_OP_COUNT: a note; PT_OP_LOST */
    uint32_t thread, object, loc;
    uint64_t number; /* of a note, or of lost events */
};

struct pt_scene_note {
    uint64_t number;
    enum pt_verdict verdict;
    char text[160];
};

struct pt_scene_property {
    const char *name, *text; /* the formula, "" for a module */
    enum pt_verdict verdict;
    enum pt_how how;
    uint64_t time;   /* of the last change */
    char cause[160]; /* the event that made it, "" none */
    char states[64];
};

struct pt_scene {
    const struct pt_names *names;
    const char *address;
    char program[128];
    uint32_t pid;
    bool started, ended;
    uint64_t origin, now; /* the stream's time: at the connection, at present */
    uint64_t column;      /* the present one, counted from the origin */
    uint64_t stretch;     /* columns of one */
    uint64_t events, lost;
    uint32_t *index; /* name of a thread: its place in threads */
    size_t index_cap;
    struct pt_scene_thread *threads;
    uint32_t thread_count;
    uint64_t hidden; /* threads that found no room */
    struct pt_scene_property *properties;
    uint32_t property_count;
    struct pt_scene_item items[PT_SCENE_ITEMS];
    uint64_t item_count; /* ever; the last PT_SCENE_ITEMS are here */
    struct pt_scene_note notes[PT_SCENE_NOTES];
    uint64_t note_count;
};

struct pt_scene *pt_scene_new(const struct pt_names *names, const char *address, struct pt_finding *const *findings,
                              uint32_t property_count);
void pt_scene_free(struct pt_scene *scene);
/* What the source of the stream says of its last event, or of its beginning. */
void pt_scene_take(struct pt_scene *scene, const struct pt_wire_item *item);
/* Time has passed. */
void pt_scene_advance(struct pt_scene *scene, uint64_t time);
void pt_scene_change(struct pt_scene *scene, uint32_t property, const struct pt_change *change, enum pt_how how);
/* The states of an automaton as they are now. */
void pt_scene_states(struct pt_scene *scene, uint32_t property, const uint32_t *states, uint32_t count);

const char *pt_scene_state_word(enum pt_scene_state state);
/* The item's text, "" when its note is forgotten: "event(write)", "acq(m)", "12 events lost". */
void pt_scene_item_text(const struct pt_scene *scene, const struct pt_scene_item *item, struct pt_buf *buf);
const char *pt_scene_property_word(const struct pt_scene_property *property);

#endif
