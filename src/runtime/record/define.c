/*
 * Definitions: what the numbers in a recording stand for. Sites, stacks and names get a number when they are first
 * used, and are described then; each thread remembers some of those that it used lately.
 *
 * Guarantee: a definition is in its buffer before any event that needs it is in that of a thread. Cost: a look into a
 * small table for each event; of stacks a look at the calls that were made since the event before.
 */
#include <string.h>

#include "core/calls.h"
#include "core/hash.h"
#include "runtime/record/impl.h"
#include "runtime/record/stamp.h"
#include "runtime/shadow/watch.h"
#include "runtime/sys/module.h"
#include "runtime/sys/runtime.h"

enum { SITE_BITS = 20, STACK_BITS = 20, NAME_BITS = 14, RECORD_ROOM = 4096, MODULES = 64, INITIALS = 1 << 20 };

/* Open addressing; a number is the slot plus 1. `keys` are 0 where the slot is free. */
struct table {
    uint64_t *keys;
    uint32_t bits, count;
};
static struct table sites = {.bits = SITE_BITS}, stacks = {.bits = STACK_BITS}, names = {.bits = NAME_BITS};
static uint32_t *numbers[3]; /* of the slots of each: dense, from 1 */
static struct pt_spin lock = PT_SPIN(PT_RANK_SITE);
static _Alignas(8) unsigned char room[RECORD_ROOM]; /* for the definition that is being made */

/* Read without the lock: `count` rises when a range is there. */
static struct {
    _Atomic uint32_t count;
    atomic_bool crowded; /* there are more */
    struct {
        uintptr_t low, high;
    } ranges[MODULES];
} data;
static uint32_t initials; /* granules whose initial value was defined */
static uint32_t named;    /* objects of portent_watch */

static bool start_table(struct table *table, uint32_t **ret_numbers)
{
    table->count = 0;
    table->keys = pt_sys_reserve_table(sizeof *table->keys << table->bits);
    *ret_numbers = pt_sys_reserve_table(sizeof **ret_numbers << table->bits);
    return table->keys && *ret_numbers;
}

bool pt_record_start_definitions(void)
{
    pt_spin_reset(&lock);
    atomic_store(&data.count, 0);
    atomic_store(&data.crowded, false);
    initials = named = 0;
    return start_table(&sites, &numbers[0]) && start_table(&stacks, &numbers[1]) && start_table(&names, &numbers[2]);
}

/* The number of a key, which is not 0; 0: there are too many. */
static uint32_t number_of(struct table *table, uint32_t *of, uint64_t key, bool *ret_new)
{
    uint32_t mask = (1u << table->bits) - 1, slot = (uint32_t)(pt_mix64(key) & mask);
    while (table->keys[slot] && table->keys[slot] != key)
        slot = (slot + 1) & mask;
    *ret_new = !table->keys[slot];
    if (*ret_new && table->count >= mask / 4 * 3) {
        *ret_new = false;
        return 0;
    }
    if (*ret_new) {
        table->keys[slot] = key;
        of[slot] = ++table->count;
    }
    return of[slot];
}

static void *begin(size_t bytes, unsigned type)
{
    struct pt_record *head = (void *)room;
    bytes = (bytes + 7) & ~(size_t)7;
    memset(room, 0, bytes);
    head->bytes = (uint32_t)bytes;
    head->type = type;
    return room;
}

/* As much of a text as there is room for. */
static size_t text_bytes(const char *text, size_t most)
{
    return strnlen(text, most - 1) + 1;
}

static char *put_text(char *to, const char *text, size_t bytes)
{
    memcpy(to, text, bytes - 1); /* what follows is 0 */
    return to + bytes;
}

static uint32_t site_number(const struct pt_site *site);

static void define_site(const struct pt_site *site, uint32_t number, uint32_t caller)
{
    enum { MOST = 1024 };
    size_t file = text_bytes(site->file, MOST), function = text_bytes(site->function, MOST);
    size_t variable = text_bytes(site->variable, MOST);
    struct pt_record_site *record = begin(sizeof *record + file + function + variable, PT_RECORD_SITE);
    record->site = number;
    record->line = site->line;
    record->column = site->column;
    record->caller = caller;
    put_text(put_text(put_text(record->texts, site->file, file), site->function, function), site->variable, variable);
    pt_record_define(&record->head);
}

/* Without the lock, too: a key is there when the definition is. Where it is, or would be, and what it has: 0: it is not
 * there. */
static uint32_t find_site(const struct pt_site *site, uint32_t *ret_slot)
{
    uint32_t mask = (1u << SITE_BITS) - 1, slot = (uint32_t)(pt_mix64((uintptr_t)site) & mask);
    uint64_t key;
    /* acquire: partner of the release in site_number */
    while ((key = __atomic_load_n(&sites.keys[slot], __ATOMIC_ACQUIRE)) && key != (uintptr_t)site)
        slot = (slot + 1) & mask;
    *ret_slot = slot;
    return key ? numbers[0][slot] : 0;
}

static uint32_t site_number(const struct pt_site *site)
{
    uint32_t slot, number = site ? find_site(site, &slot) : 0;
    if (!site || number || sites.count >= (1u << SITE_BITS) / 4 * 3)
        return number;
    uint32_t caller = site->caller ? site_number(site->caller) : 0;
    number = ++sites.count;
    define_site(site, number, caller);
    (void)find_site(site, &slot); /* the caller may have taken the slot */
    numbers[0][slot] = number;
    __atomic_store_n(&sites.keys[slot], (uintptr_t)site, __ATOMIC_RELEASE);
    return number;
}

uint32_t pt_record_site_number(struct pt_record_self *self, const struct pt_site *site)
{
    unsigned slot = ((uintptr_t)site >> 5) % PT_RECORD_SITES;
    if (!site || self->sites[slot].site == site)
        return site ? self->sites[slot].number : 0;
    uint32_t at, number = find_site(site, &at);
    if (!number) {
        pt_spin_lock(&lock);
        number = site_number(site);
        pt_spin_unlock(&lock);
    }
    self->sites[slot].site = site;
    self->sites[slot].number = number;
    return number;
}

static uint32_t define_stack(const struct pt_record_self *self, uint64_t hash)
{
    bool is_new;
    uint32_t number = number_of(&stacks, numbers[1], hash, &is_new), of[PT_RECORD_DEEP];
    if (!is_new)
        return number;
    for (uint32_t i = 0; i < self->depth; i++)
        of[i] = site_number(self->frames[self->depth - 1 - i]);
    struct pt_record_stack *record = begin(sizeof *record + self->depth * sizeof *of, PT_RECORD_STACK);
    record->hash = number;
    record->count = self->depth;
    memcpy(record->sites, of, self->depth * sizeof *of);
    pt_record_define(&record->head);
    return number;
}

/*
 * Which calls have changed since the event before. Calls that were looked at are marked, in the frames that
 * instrumented code keeps (core/calls.h): as long as a mark is there, the call is under way that was then, since
 * whoever calls anew overwrites it; and with it are all calls outside of it, which would have had to return first. So
 * only what lies inside of the innermost mark is looked at. Of stacks deeper than a definition holds, and where races
 * are looked for by who reads frames as they are, nothing is marked, and all calls are compared.
 *
 * A thread whose stack was exchanged (swapcontext) may find a mark on a call whose outer ones are another stack's by
 * now: then it is told the calls that its own had.
 */
static void unmark(struct pt_calls *calls)
{
    for (uint32_t i = 0; i < PT_CALLS; i++)
        calls->frames[i] = pt_calls_at(calls, i);
}

/* How many calls from the outermost on need not be looked at. */
static uint32_t marked_calls(const struct pt_calls *calls, uint32_t depth)
{
    while (depth && !((uintptr_t)calls->frames[depth - 1] & PT_CALLS_MARK))
        depth--;
    return depth;
}

/* Takes over the calls that have changed; false: none have. */
static bool take_calls(struct pt_record_self *self)
{
    struct pt_calls *calls = &__portent_calls;
    uint32_t depth = calls->depth < PT_RECORD_DEEP ? calls->depth : PT_RECORD_DEEP, from = calls->depth - depth;
    bool marks = !from && !pt_races_wanted;
    if (self->marks == PT_RECORD_UNKNOWN || (self->marks == PT_RECORD_MARKED && !marks))
        unmark(calls);
    uint32_t marked = self->marks == PT_RECORD_MARKED && marks ? marked_calls(calls, depth) : 0, same = marked;
    while (same < depth && same < self->depth && self->frames[same] == pt_calls_at(calls, from + same))
        same++;
    bool changed = same < depth || depth != self->depth;
    for (uint32_t i = same; i < depth; i++) {
        self->frames[i] = pt_calls_at(calls, from + i);
        self->hashes[i] = pt_mix64((i ? self->hashes[i - 1] : 0) + (uintptr_t)self->frames[i]);
    }
    for (uint32_t i = marked; i < depth && marks; i++)
        calls->frames[i] = (const void *)((uintptr_t)calls->frames[i] | PT_CALLS_MARK);
    self->marks = marks ? PT_RECORD_MARKED : PT_RECORD_UNMARKED;
    self->depth = depth;
    return changed;
}

uint32_t pt_record_find_stack(struct pt_record_self *self)
{
    if (!take_calls(self))
        return self->stack;
    uint64_t hash = self->depth ? self->hashes[self->depth - 1] + self->depth : 0;
    unsigned slot = hash % PT_RECORD_STACKS;
    if (!hash || self->stacks[slot].hash == hash)
        return self->stack = hash ? self->stacks[slot].number : 0;
    pt_spin_lock(&lock);
    self->stack = define_stack(self, hash);
    pt_spin_unlock(&lock);
    self->stacks[slot].hash = hash;
    self->stacks[slot].number = self->stack;
    return self->stack;
}

uint32_t pt_record_name_number(const char *name)
{
    enum { MOST = 2048 };
    bool is_new;
    size_t bytes = text_bytes(name, MOST);
    uint64_t hash = pt_fnv(PT_FNV_NOTHING, name, bytes - 1);
    pt_spin_lock(&lock);
    uint32_t number = number_of(&names, numbers[2], hash ? hash : 1, &is_new);
    if (is_new) {
        struct pt_record_name *record = begin(sizeof *record + bytes, PT_RECORD_NAME);
        record->number = number;
        put_text(record->text, name, bytes);
        pt_record_define(&record->head);
    }
    pt_spin_unlock(&lock);
    return number;
}

void pt_record_define_thread(const struct pt_thread *thread, uint64_t start, const char *name)
{
    size_t bytes = text_bytes(name, 256);
    uint64_t base = start ? pt_module_base(start) : 0; /* takes the loader's lock, which comes before ours */
    pt_spin_lock(&lock);
    struct pt_record_thread *record = begin(sizeof *record + bytes, PT_RECORD_THREAD);
    record->thread = pt_thread_number(thread);
    record->parent = thread->parent;
    record->start = start;
    record->module_base = base;
    record->ordinal = thread->ordinal;
    put_text(record->name, name, bytes);
    pt_record_define(&record->head);
    pt_spin_unlock(&lock);
}

void pt_record_define_object(uintptr_t address, const char *name)
{
    size_t bytes = text_bytes(name, 256);
    pt_spin_lock(&lock);
    struct pt_record_object *record = begin(sizeof *record + bytes, PT_RECORD_OBJECT);
    record->address = address;
    put_text(record->name, name, bytes);
    pt_record_define(&record->head);
    pt_spin_unlock(&lock);
}

uint32_t pt_record_define_named(const struct pt_watched *object)
{
    uint32_t memory = object->size <= PT_REC_RAW_MOST ? object->size : 0;
    size_t bytes = text_bytes(object->name, 1024);
    pt_spin_lock(&lock);
    struct pt_rec_named *record = begin(sizeof *record + memory + bytes, PT_REC_NAMED);
    uint32_t number = record->number = ++named;
    record->address = pt_watch_address(object);
    record->size = object->size;
    record->type = object->type;
    record->bytes = memory;
    memcpy(record->rest, object->last, memory);
    put_text(record->rest + memory, object->name, bytes);
    pt_record_define(&record->head);
    pt_spin_unlock(&lock);
    return number;
}

static void define_program(void)
{
    char file[2048];
    unsigned char id[PT_ID_MAX];
    pt_sys_program(file, sizeof file);
    uint32_t id_bytes = pt_module_identity("", id);
    size_t bytes = text_bytes(file, sizeof file);
    pt_spin_lock(&lock);
    struct pt_rec_program *record = begin(sizeof *record + bytes, PT_REC_PROGRAM);
    record->id_bytes = id_bytes;
    memcpy(record->id, id, id_bytes);
    put_text(record->file, file, bytes);
    pt_record_define(&record->head);
    pt_spin_unlock(&lock);
}

static bool meets_static(uintptr_t low, uintptr_t high)
{
    uint32_t count = atomic_load_explicit(&data.count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (high > data.ranges[i].low && low < data.ranges[i].high)
            return true;
    return false;
}

static bool is_static(uintptr_t address)
{
    return meets_static(address, address + 1);
}

bool pt_record_may_have_static(uintptr_t low, uintptr_t high)
{
    return atomic_load_explicit(&data.crowded, memory_order_acquire) || meets_static(low, high);
}

static void note_range(uintptr_t low, uintptr_t high)
{
    uint32_t count = atomic_load_explicit(&data.count, memory_order_relaxed);
    if (low >= high)
        return;
    if (count == MODULES) {
        atomic_store_explicit(&data.crowded, true, memory_order_release);
    } else if (!is_static(low)) {
        data.ranges[count].low = low;
        data.ranges[count].high = high;
        atomic_store_explicit(&data.count, count + 1, memory_order_release);
    }
}

void pt_record_define_initial(uintptr_t granule, bool known)
{
    if (!is_static(granule))
        return;
    pt_spin_lock(&lock);
    if (initials < INITIALS) {
        initials++;
        struct pt_rec_initial *record = begin(sizeof *record, PT_REC_INITIAL);
        record->address = granule;
        record->known = known;
        memcpy(&record->value, (const void *)granule, sizeof record->value);
        pt_record_define(&record->head);
    }
    pt_spin_unlock(&lock);
}

static void define_module(void *context, const char *file, uint64_t base, uint64_t low, uint64_t high)
{
    (void)context;
    size_t bytes = text_bytes(file, RECORD_ROOM - sizeof(struct pt_record_module) - 8);
    pt_spin_lock(&lock);
    struct pt_record_module *record = begin(sizeof *record + bytes, PT_RECORD_MODULE);
    record->base = base;
    record->low = low;
    record->high = high;
    put_text(record->file, file, bytes);
    pt_record_define(&record->head);
    note_range(low, high);
    pt_spin_unlock(&lock);
    if (low < high)
        pt_stamp_name(low, high); /* waits for threads that may wait for the lock */
}

void pt_record_define_modules(void)
{
    define_program();
    pt_module_each(define_module, NULL);
}
