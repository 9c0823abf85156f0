/*
 * Ids of the stream, and the NAME and SITE frames that explain them. Objects keep their ids; there are at most
 * OBJECTS_MOST of them, further ones share one. Threads come and go: their id is their number, and frames of those that
 * are gone are left out when the list of frames is made anew, so what a new reader gets stays short.
 *
 * Only the sender calls these, so nothing here is locked.
 *
 * Guarantee: an id is explained before the first event that uses it. Cost: a look in a hash table for each event.
 */
#include <string.h>

#include "runtime/channel/name.h"
#include "runtime/stream/impl.h"

enum {
    OBJECT_BITS = 18,
    OBJECTS_MOST = 1 << (OBJECT_BITS - 2),
    KNOWN_BITS = 17,
    BUCKETS = 4096,
    BASES = 1024,
    TIDY_BYTES = 1 << 20,
    TEXT = 300,
};

struct object {
    uint64_t key;       /* an address, a number, or a site */
    uint32_t space, id; /* id + 1; 0: a free place */
};
enum { SPACE_SITE = PT_WIRE_SPACES };

/* A thread, as the program's own tables have it. */
struct brief {
    uint32_t number, parent, tid;
    uint64_t runs;
    char label[16];
    uint32_t activity;
    uint64_t waits_for;
};

struct pt_blob pt_static_names, pt_thread_names;
uint32_t pt_thread_names_made;

static struct {
    struct object *table;
    uint32_t count, ids[PT_WIRE_SPACES + 1];
} objects;
static struct {
    struct pt_stream_peer *list; /* 0 is none */
    uint32_t used, free, buckets[BUCKETS];
} known;
static struct {
    char name[PT_KNOWN_NAME - 12];
    uint32_t count;
} bases[BASES];
static uint32_t base_count;

static void name_frame(struct pt_blob *blob, enum pt_wire_space space, uint32_t id, const char *text)
{
    struct pt_wire_name name = {.space = space, .id = id};
    (void)pt_blob_frame(blob, PT_WIRE_NAME, &name.head + 1, sizeof name - sizeof name.head, text);
}

static void name_states(void)
{
    static const char *const texts[PT_STATE_COUNT] = {
        [PT_STATE_RUNNING] = "running",          [PT_STATE_READY] = "ready",
        [PT_STATE_LOCK] = "blocked: lock",       [PT_STATE_CONDITION] = "blocked: condition",
        [PT_STATE_BARRIER] = "blocked: barrier", [PT_STATE_SEMAPHORE] = "blocked: semaphore",
        [PT_STATE_JOIN] = "blocked: join",       [PT_STATE_SLEEP] = "blocked: sleep",
    };
    for (uint32_t i = 0; i < PT_STATE_COUNT; i++)
        name_frame(&pt_static_names, PT_WIRE_STATE, i, texts[i]);
}

bool pt_names_start(void)
{
    objects.table = pt_sys_reserve_table(sizeof *objects.table << OBJECT_BITS);
    known.list = pt_sys_reserve_table(sizeof *known.list << KNOWN_BITS);
    known.used = 1;
    if (!objects.table || !known.list)
        return false;
    name_states();
    for (uint32_t space = PT_WIRE_VAR; space < PT_WIRE_STATE; space++) {
        name_frame(&pt_static_names, (enum pt_wire_space)space, 0, "(others)");
        objects.ids[space] = 1;
    }
    objects.ids[SPACE_SITE] = 1; /* 0: no place */
    return true;
}

/* The id of a key, and whether it is new; 0 stands for all that do not fit. */
static uint32_t id_of(uint32_t space, uint64_t key, bool *ret_new)
{
    uint64_t hash = (key + space) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> (64 - OBJECT_BITS));
    *ret_new = false;
    while (objects.table[at].id) {
        if (objects.table[at].key == key && objects.table[at].space == space)
            return objects.table[at].id - 1;
        at = (at + 1) & ((1u << OBJECT_BITS) - 1);
    }
    if (objects.count >= OBJECTS_MOST)
        return 0;
    objects.count++;
    *ret_new = true;
    objects.table[at] = (struct object){key, space, ++objects.ids[space]};
    return objects.table[at].id - 1;
}

uint32_t pt_names_object(enum pt_wire_space space, uint64_t address)
{
    bool new;
    char text[TEXT];
    uint32_t id = id_of(space, address, &new);
    if (new) {
        pt_symbol_text(address, text, sizeof text);
        name_frame(&pt_static_names, space, id, text);
    }
    return id;
}

uint32_t pt_names_text(enum pt_wire_space space, uint32_t name)
{
    bool new;
    uint32_t id = id_of(space, name, &new);
    if (new)
        name_frame(&pt_static_names, space, id, pt_name_text(name));
    return id;
}

uint32_t pt_names_var(uint32_t object)
{
    bool new;
    uint32_t id = id_of(PT_WIRE_VAR, object, &new);
    if (new)
        name_frame(&pt_static_names, PT_WIRE_VAR, id, pt_watched[object].name ? pt_watched[object].name : "");
    return id;
}

uint32_t pt_names_site(const struct pt_site *site)
{
    bool new;
    uint32_t id = site ? id_of(SPACE_SITE, (uintptr_t)site, &new) : 0;
    if (id && new) {
        struct pt_wire_site frame = {.id = id, .line = site->line};
        (void)pt_blob_frame(&pt_static_names, PT_WIRE_SITE, &frame.head + 1, sizeof frame - sizeof frame.head,
                            site->file);
    }
    return id;
}

/* --- threads --- */

static uint32_t *bucket_of(uint32_t number)
{
    return &known.buckets[number % BUCKETS];
}

static struct pt_stream_peer *find(uint32_t number)
{
    for (uint32_t at = *bucket_of(number); at; at = known.list[at].next)
        if (known.list[at].number == number)
            return &known.list[at];
    return NULL;
}

/* `worker`, then `worker#2`, ...; a text with its ordinal behind it. */
static void give_name(struct pt_stream_peer *thread, const char *base)
{
    size_t len = 0;
    while (base[len] && len + 1 < sizeof bases[0].name)
        thread->name[len] = base[len], len++;
    thread->name[len] = 0;
    uint32_t at = 0, ordinal = thread->number;
    while (at < base_count && strcmp(bases[at].name, thread->name) != 0)
        at++;
    if (at == base_count && at < BASES)
        memcpy(bases[base_count++].name, thread->name, len + 1);
    if (at < BASES)
        ordinal = ++bases[at].count;
    if (ordinal > 1) {
        char digits[12];
        unsigned count = 0;
        for (; ordinal; ordinal /= 10)
            digits[count++] = (char)('0' + ordinal % 10);
        thread->name[len++] = '#';
        while (count)
            thread->name[len++] = digits[--count];
        thread->name[len] = 0;
    }
    name_frame(&pt_thread_names, PT_WIRE_THREAD, thread->number, thread->name);
}

static struct pt_stream_peer *make(uint32_t number)
{
    uint32_t at = known.free;
    if (at)
        known.free = known.list[at].next;
    else if (!(known.used >> KNOWN_BITS))
        at = known.used++;
    struct pt_stream_peer *thread = &known.list[at]; /* 0, the last resort, stands for all that there is no room for */
    memset(thread, 0, sizeof *thread);
    thread->number = number;
    if (at) {
        thread->next = *bucket_of(number);
        *bucket_of(number) = at;
    }
    return thread;
}

static void introduce(struct pt_stream_peer *thread, uint64_t runs, const char *label)
{
    char function[PT_KNOWN_NAME];
    if (thread->number == 0)
        give_name(thread, "main");
    else if (label[0])
        give_name(thread, label);
    else if (runs && pt_symbol_function(runs, function, sizeof function))
        give_name(thread, function);
    else if (!thread->name[0])
        give_name(thread, "thread");
    thread->introduced = true;
}

void pt_names_introduce(uint32_t number, uint32_t parent, uint32_t tid, uint64_t runs, const char *label)
{
    struct pt_stream_peer *thread = find(number);
    if (!thread)
        thread = make(number);
    if (!thread->introduced)
        introduce(thread, runs, label);
    thread->parent = parent;
    if (tid)
        thread->tid = tid;
}

static void brief_of(const struct pt_thread *thread, struct brief *brief)
{
    *brief = (struct brief){pt_thread_number(thread), thread->parent, thread->tid, thread->runs, "", 0, 0};
    memcpy(brief->label, thread->label, sizeof brief->label);
}

struct search {
    uint32_t number;
    bool found;
    struct brief brief;
};

static void recognise(void *context, const struct pt_thread *thread)
{
    struct search *search = context;
    if (pt_thread_number(thread) != search->number)
        return;
    search->found = true;
    brief_of(thread, &search->brief);
}

/* Whoever waits for a thread may mention it before it has said anything, if nobody listened when it was created; and it
 * may have been in no list when the survey was made: its parent was in the middle of creating it. */
struct pt_stream_peer *pt_names_thread(uint32_t number)
{
    struct pt_stream_peer *thread = find(number);
    if (thread)
        return thread;
    thread = make(number);
    struct search search = {.number = number};
    pt_thread_each(recognise, &search);
    if (search.found) {
        introduce(thread, search.brief.runs, search.brief.label);
        thread->parent = search.brief.parent;
        thread->tid = search.brief.tid;
    } else {
        give_name(thread, number ? "thread" : "main");
    }
    return thread;
}

void pt_names_rename(uint32_t number, const char *label)
{
    if (!label[0])
        return;
    struct pt_stream_peer *thread = pt_names_thread(number);
    give_name(thread, label);
    thread->introduced = true;
}

struct pt_stream_peer *pt_names_by_tid(uint32_t tid)
{
    for (uint32_t i = 1; i < known.used && tid; i++)
        if (known.list[i].tid == tid && !known.list[i].ended)
            return &known.list[i];
    return NULL;
}

struct survey {
    struct brief *list;
    uint32_t count, room;
};

static void note(void *context, const struct pt_thread *thread)
{
    struct survey *survey = context;
    if (survey->count == survey->room)
        return;
    struct brief *brief = &survey->list[survey->count++];
    brief_of(thread, brief);
    /* a state that changes meanwhile is reported by an event: somebody is connected already */
    brief->activity = atomic_load_explicit(&thread->activity, memory_order_seq_cst);
    brief->waits_for = atomic_load_explicit(&thread->waits_for, memory_order_seq_cst);
    if (atomic_load_explicit(&thread->activity, memory_order_seq_cst) != brief->activity)
        brief->activity = PT_STATE_RUNNING;
}

/* Shell's: qsort may allocate. */
static void sort(struct brief *list, uint32_t count)
{
    for (uint32_t gap = count / 2; gap; gap /= 2) {
        for (uint32_t i = gap; i < count; i++) {
            struct brief moved = list[i];
            uint32_t at = i;
            for (; at >= gap && list[at - gap].number > moved.number; at -= gap)
                list[at] = list[at - gap];
            list[at] = moved;
        }
    }
}

/* Threads are listed under a lock of the program's threads; names are found afterwards, in the order in which the
 * threads were started: `worker#2` is the second one. */
void pt_names_survey(void)
{
    struct survey survey = {.room = 1 << KNOWN_BITS};
    survey.list = pt_sys_reserve(survey.room * sizeof *survey.list);
    if (!survey.list)
        return;
    pt_thread_each(note, &survey);
    sort(survey.list, survey.count);
    for (uint32_t i = 0; i < survey.count; i++) {
        const struct brief *brief = &survey.list[i];
        pt_names_introduce(brief->number, brief->parent, brief->tid, brief->runs, brief->label);
    }
    for (uint32_t i = 0; i < survey.count; i++) { /* each has its name now, and may be waited for */
        const struct brief *brief = &survey.list[i];
        uint32_t object = pt_send_state_object(brief->activity, brief->waits_for);
        struct pt_stream_peer *thread = pt_names_thread(brief->number);
        thread->state = brief->activity;
        thread->state_object = object;
    }
    pt_sys_release(survey.list, survey.room * sizeof *survey.list);
}

void pt_names_each(void (*visit)(void *context, struct pt_stream_peer *thread), void *context)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (uint32_t at = known.buckets[i]; at; at = known.list[at].next)
            if (!known.list[at].ended)
                visit(context, &known.list[at]);
}

/* Forgets threads that have ended once their frames are many. */
void pt_names_tidy(void)
{
    static size_t kept;
    if (pt_thread_names.len < TIDY_BYTES + 2 * kept)
        return;
    pt_thread_names.len = 0;
    pt_thread_names_made++;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        for (uint32_t *link = &known.buckets[i]; *link;) {
            struct pt_stream_peer *thread = &known.list[*link];
            if (!thread->ended) {
                name_frame(&pt_thread_names, PT_WIRE_THREAD, thread->number, thread->name);
                link = &thread->next;
                continue;
            }
            uint32_t gone = *link;
            *link = thread->next;
            thread->next = known.free;
            thread->tid = 0;
            known.free = gone;
        }
    }
    kept = pt_thread_names.len;
}
