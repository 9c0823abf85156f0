/*
 * The table of watched variables, and the lists of them that hang on granules.
 *
 * Guarantee: whoever has locked a granule sees all variables that are watched in it. Cost: a variable is in as many
 * lists as it has granules; an access of a granule without one pays nothing.
 */
#include "runtime/shadow/watch.h"

#include <string.h>

#include "runtime/shadow/path.h"
#include "runtime/shadow/silence.h"
#include "runtime/sys/module.h"
#include "runtime/sys/sys.h"

enum { WATCH_BITS = 22, NODE_BITS = 26, CHUNK = 1 << 18 };

struct pt_watched *pt_watched;
struct pt_watch_node *pt_watch_nodes;

static const struct pt_config *config;
static struct pt_spin lock =
    PT_SPIN(PT_RANK_WATCH); /* for the tables below; granules are locked after it, never the other way round */
static uint32_t watched_count, node_count = 1, free_nodes; /* nodes that were given back, as a list */
static unsigned char *chunk;
static size_t chunk_left;
static struct {
    struct pt_watched *table; /* the parent's, in a child that begins anew */
    uint32_t from, to;        /* those that the parent itself has asked for */
} inherited;

bool pt_watch_start(void)
{
    config = pt_runtime_config();
    watched_count = config->watch_count;
    pt_watched = pt_sys_reserve_table(sizeof *pt_watched << WATCH_BITS);
    pt_watch_nodes = pt_watch_nodes ? pt_watch_nodes : pt_sys_reserve_table(sizeof *pt_watch_nodes << NODE_BITS);
    return pt_watched && pt_watch_nodes && !(watched_count >> WATCH_BITS);
}

bool pt_watch_restart(void)
{
    inherited.table = pt_watched;
    inherited.from = config->watch_count;
    inherited.to = watched_count;
    pt_sys_empty(pt_watch_nodes, sizeof *pt_watch_nodes << NODE_BITS);
    pt_spin_reset(&lock);
    node_count = 1;
    free_nodes = 0;
    chunk_left = 0;
    pt_path_restart();
    return pt_watch_start();
}

static unsigned char *keep_room(size_t bytes)
{
    if (bytes > CHUNK / 4)
        return pt_sys_reserve(bytes);
    if (chunk_left < bytes) {
        chunk = pt_sys_reserve(CHUNK);
        chunk_left = chunk ? CHUNK : 0;
        if (!chunk)
            return NULL;
    }
    unsigned char *room = chunk;
    chunk += bytes;
    chunk_left -= bytes;
    return room;
}

static uint32_t new_node(void)
{
    uint32_t node = free_nodes;
    if (!node)
        return node_count++;
    free_nodes = pt_watch_nodes[node].next;
    return node;
}

/* Puts the variable into the lists of its granules and records its value now. All its granules are locked meanwhile. */
static bool mark(struct pt_shadow_self *self, uint32_t object)
{
    struct pt_watched *watched = &pt_watched[object];
    uintptr_t address = pt_watch_address(watched), low = address & ~(uintptr_t)7, end = address + watched->size;
    uint64_t nodes = (end - low + 7) / 8;
    if (!watched->last)
        watched->last = keep_room((watched->size + 7) & ~(size_t)7);
    if (!watched->last || (node_count + nodes) >> NODE_BITS || !pt_address_ok(end)) {
        pt_runtime_give_up();
        return false;
    }
    pt_silence_widen(low, (end + 7) & ~(uintptr_t)7);
    uintptr_t locked = low;
    for (; locked < end; locked += 8) {
        pt_shadow_word *word = pt_shadow_word_of(locked);
        if (!word)
            break;
        uint64_t seen = pt_granule_lock(word);
        struct pt_fine *fine = pt_granule_make_fine(self, locked, &seen);
        if (fine) {
            uint32_t node = new_node();
            pt_watch_nodes[node] = (struct pt_watch_node){object, fine->watch};
            fine->watch = node;
        }
        atomic_store_explicit(word, seen | PT_SHADOW_LOCKED, memory_order_relaxed);
    }
    if (self->records)
        pt_shadow_hooks.shares(self, low, end); /* from the next access on it is seen */
    memcpy(watched->last, (const void *)address, watched->size);
    if (!watched->path)
        pt_shadow_hooks.initial(self, object);
    for (uintptr_t granule = low; granule < locked; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        pt_granule_unlock(word, atomic_load_explicit(word, memory_order_relaxed) & ~PT_SHADOW_LOCKED);
    }
    return locked >= end;
}

bool pt_watch_is_placed(uint32_t object)
{
    pt_spin_lock(&lock);
    bool placed = pt_watched[object].last; /* and stays so: one that has ended does not come again */
    pt_spin_unlock(&lock);
    return placed;
}

void pt_watch_place(struct pt_shadow_self *self, uint32_t object, uintptr_t address)
{
    const struct pt_watch *watch = (const struct pt_watch *)((const char *)config + config->watches) + object;
    struct pt_watched *watched = &pt_watched[object];
    pt_spin_lock(&lock);
    if (!watched->last) {
        atomic_store_explicit(&watched->address, watch->link_count ? 0 : address, memory_order_relaxed);
        watched->size = watch->size;
        watched->bit_offset = watch->bit_offset;
        watched->bit_size = watch->bit_size;
        watched->type = watch->type;
        watched->quiet = watch->quiet;
        watched->local = watch->local;
        watched->name = (const char *)config + watch->name;
        if (watch->link_count)
            pt_path_begin(self, object, watch, address);
        else
            mark(self, object);
    }
    pt_spin_unlock(&lock);
}

/* --- for path.c --- */

void pt_watch_lock(void)
{
    pt_spin_lock(&lock);
}

void pt_watch_unlock(void)
{
    pt_spin_unlock(&lock);
}

void *pt_watch_room(size_t bytes)
{
    return keep_room((bytes + 7) & ~(size_t)7);
}

uint32_t pt_watch_new(uint32_t size)
{
    if (watched_count >> WATCH_BITS)
        return 0;
    pt_watched[watched_count].size = size;
    return watched_count++;
}

bool pt_watch_put(struct pt_shadow_self *self, uint32_t object, uintptr_t address)
{
    atomic_store_explicit(&pt_watched[object].address, address, memory_order_relaxed);
    return mark(self, object);
}

static void take_from(struct pt_fine *fine, uint32_t object)
{
    for (uint32_t *link = &fine->watch; *link; link = &pt_watch_nodes[*link].next)
        if (pt_watch_nodes[*link].object == object) {
            uint32_t node = *link;
            *link = pt_watch_nodes[node].next;
            pt_watch_nodes[node].next = free_nodes;
            free_nodes = node;
            return;
        }
}

void pt_watch_take(struct pt_shadow_self *self, uint32_t object)
{
    struct pt_watched *watched = &pt_watched[object];
    uintptr_t address = pt_watch_address(watched), end = address + watched->size;
    for (uintptr_t granule = address & ~(uintptr_t)7; address && granule < end; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        if (!word)
            continue;
        uint64_t seen = pt_granule_lock(word);
        if (seen & PT_SHADOW_FINE) {
            pt_granule_before_write(self, seen, 0xff); /* its last event comes before what is said of it next */
            take_from(&pt_fines[pt_shadow_access(seen)], object);
        }
        pt_granule_unlock(word, seen);
    }
    atomic_store_explicit(&watched->address, 0, memory_order_relaxed);
}

static const char *keep_text(const char *text)
{
    char *copy = (char *)keep_room((strlen(text) + 8) & ~(size_t)7);
    return copy ? strcpy(copy, text) : "?";
}

const char *pt_watch_name(uint32_t object)
{
    return pt_watched[object].name ? pt_watched[object].name : "?";
}

/* How many objects have been watched under this name, this one included; names beyond the table all count as first. */
static uint32_t next_ordinal(const char *name)
{
    enum { NAMES = 4096 };
    static struct {
        const char *name;
        uint32_t count;
    } names[NAMES];
    static unsigned used;
    for (unsigned i = 0; i < used; i++)
        if (strcmp(names[i].name, name) == 0)
            return ++names[i].count;
    if (used < NAMES) {
        names[used].name = keep_text(name);
        names[used++].count = 1;
    }
    return 1;
}

static void compose(char *out, size_t room, const char *name, uint32_t ordinal)
{
    char digits[12];
    unsigned count = 0;
    for (uint32_t rest = ordinal; rest; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    size_t length = strlen(name), keep = room - 14;
    if (length > keep)
        length = keep;
    memcpy(out, name, length);
    if (ordinal > 1) {
        out[length++] = '#';
        while (count)
            out[length++] = digits[--count];
    }
    out[length] = 0;
}

/* Under the lock; the name lives for ever. */
static void add(struct pt_shadow_self *self, uintptr_t address, uint32_t size, uint32_t type, const char *name)
{
    if (watched_count >> WATCH_BITS) {
        pt_runtime_give_up();
        return;
    }
    uint32_t object = watched_count++;
    atomic_store_explicit(&pt_watched[object].address, address, memory_order_relaxed);
    pt_watched[object].size = size;
    pt_watched[object].type = type;
    pt_watched[object].name = name;
    pt_watched[object].given = true;
    pt_shadow_hooks.watch(self, object);
    mark(self, object);
    pt_runtime_activate(PT_ACTIVE_RECORDS);
}

/* Where silence lasts the range of what is watched does not grow, and all that properties name was found before the
 * start: nobody asks for more. One of the same name would have events of that name: they are lost. */
static void leave_out(const char *name)
{
    const struct pt_watch *watches = (const struct pt_watch *)((const char *)config + config->watches);
    for (uint32_t i = 0; i < config->watch_count; i++)
        if (strcmp((const char *)config + watches[i].name, name) == 0)
            pt_runtime_lost();
}

void pt_watch_add(struct pt_shadow_self *self, uintptr_t address, uint32_t size, uint32_t type, const char *name)
{
    char full[512];
    pt_spin_lock(&lock);
    compose(full, sizeof full, name, next_ordinal(name));
    if (pt_is_lasting())
        leave_out(full);
    else
        add(self, address, size, type, keep_text(full));
    pt_spin_unlock(&lock);
}

void pt_watch_inherit(struct pt_shadow_self *self)
{
    if (!inherited.table)
        return;
    pt_spin_lock(&lock);
    for (uint32_t i = inherited.from; i < inherited.to; i++) {
        const struct pt_watched *watched = &inherited.table[i];
        uintptr_t address = pt_watch_address(watched);
        if (address && watched->last && watched->name)
            add(self, address, watched->size, watched->type, watched->name);
    }
    pt_spin_unlock(&lock);
    pt_sys_release_table(inherited.table, sizeof *pt_watched << WATCH_BITS);
    inherited.table = NULL;
}

void pt_watch_each(void (*visit)(void *context, uint32_t object, const struct pt_watched *watched), void *context)
{
    pt_spin_lock(&lock);
    uint32_t count = watched_count;
    pt_spin_unlock(&lock);
    for (uint32_t i = 0; i < count; i++)
        if (pt_watch_address(&pt_watched[i]) && pt_watched[i].last && pt_watched[i].name)
            visit(context, i, &pt_watched[i]);
}

/* Has memory that is given back, of which this granule is locked, become something else than `last`? It is read by the
 * kernel: it may have gone another way before. */
static bool ends_otherwise(const struct pt_watched *watched, uintptr_t address, uintptr_t granule)
{
    unsigned char now[8];
    uintptr_t from = address > granule ? address : granule, to = address + watched->size;
    size_t size = (to < granule + 8 ? to : granule + 8) - from;
    return watched->last && !watched->bit_size && pt_sys_read_memory(now, (const void *)from, size) &&
           memcmp(now, watched->last + (from - address), size) != 0;
}

/* Who gives back the memory of a variable of the configuration puts something else there, without a store. */
static void look_back(struct pt_shadow_self *self, uint32_t object, uintptr_t address, uintptr_t granule)
{
    const struct pt_watched *watched = &pt_watched[object];
    if (self->gives_back && address && (object < config->watch_count || ends_otherwise(watched, address, granule)))
        pt_shadow_hooks.foreign(self, object, NULL);
}

void pt_watch_end(struct pt_shadow_self *self, uintptr_t granule, struct pt_fine *fine, unsigned bytes)
{
    uint32_t *link = &fine->watch;
    while (*link) {
        struct pt_watched *watched = &pt_watched[pt_watch_nodes[*link].object];
        uintptr_t low = granule + (unsigned)__builtin_ctz(bytes), high = granule + 32 - (unsigned)__builtin_clz(bytes);
        uintptr_t address = pt_watch_address(watched);
        if (address && (address >= high || address + watched->size <= low)) {
            link = &pt_watch_nodes[*link].next;
            continue;
        }
        if (watched->path)
            pt_path_ended(self, pt_watch_nodes[*link].object, address);
        else
            look_back(self, pt_watch_nodes[*link].object, address, granule);
        atomic_store_explicit(&watched->address, 0, memory_order_relaxed); /* also for its other granules */
        *link = pt_watch_nodes[*link].next;
    }
}

static uintptr_t highest(uintptr_t a, uintptr_t b)
{
    return a > b ? a : b;
}

static uintptr_t lowest(uintptr_t a, uintptr_t b)
{
    return a < b ? a : b;
}

/* Of several that have the same bytes of the access it is told of the oldest, otherwise of who has more of them. */
bool pt_watch_is_told(uint32_t object, uintptr_t from, uintptr_t to)
{
    uintptr_t address = pt_watch_address(&pt_watched[object]), low = highest(address, from);
    uintptr_t high = lowest(address + pt_watched[object].size, to);
    uint64_t word = atomic_load_explicit(pt_shadow_peek(low & ~(uintptr_t)7), memory_order_relaxed);
    uint32_t node = word & PT_SHADOW_FINE ? pt_fines[pt_shadow_access(word & ~PT_SHADOW_LOCKED)].watch : 0;
    for (; node; node = pt_watch_nodes[node].next) {
        uint32_t other = pt_watch_nodes[node].object;
        const struct pt_watched *watched = &pt_watched[other];
        uintptr_t begin = pt_watch_address(watched), end = begin + watched->size;
        bool same = highest(begin, from) == low && lowest(end, to) == high;
        if (other != object && begin && begin <= low && end >= high && !watched->bit_size && !watched->is_link &&
            (!same || other < object))
            return true;
    }
    return false;
}

bool pt_watch_field_changed(const struct pt_watched *watched)
{
    const unsigned char *now = (const void *)pt_watch_address(watched);
    for (uint32_t bit = watched->bit_offset; bit < watched->bit_offset + watched->bit_size && bit / 8 < watched->size;
         bit++)
        if ((now[bit / 8] ^ watched->last[bit / 8]) >> (bit % 8) & 1)
            return true;
    return false;
}

/* A jump out of the callback ends it, too: then the stack has been cut back above the caller's frame. */
static bool is_moving(const struct pt_shadow_self *self, const struct pt_watched *watched)
{
    uintptr_t address = pt_watch_address(watched);
    return address < self->moving.to && address + watched->size > self->moving.from &&
           (uintptr_t)__builtin_frame_address(0) < self->moving.frame;
}

bool pt_watch_differs(const struct pt_shadow_self *self, uint32_t object)
{
    struct pt_watched *watched = &pt_watched[object];
    bool differs = watched->bit_size
                       ? pt_watch_field_changed(watched)
                       : memcmp(watched->last, (const void *)pt_watch_address(watched), watched->size) != 0;
    if (differs)
        memcpy(watched->last, (const void *)pt_watch_address(watched), watched->size);
    return differs && !is_moving(self, watched);
}

/* Is it in the list of this locked granule? Not if its memory was given back. */
static bool is_listed(uint64_t word, uint32_t object)
{
    uint32_t node = word & PT_SHADOW_FINE ? pt_fines[pt_shadow_access(word)].watch : 0;
    while (node && pt_watch_nodes[node].object != object)
        node = pt_watch_nodes[node].next;
    return node;
}

static void compare(struct pt_shadow_self *self, uint32_t object, uintptr_t address)
{
    uintptr_t low = address & ~(uintptr_t)7, end = address + pt_watched[object].size, granule = low;
    bool listed = true;
    for (; granule < end && listed; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        if (!word)
            break;
        listed = is_listed(pt_granule_lock(word), object);
    }
    if (listed && granule >= end && (pt_watch_differs(self, object) || pt_watched[object].foreign))
        pt_shadow_hooks.foreign(self, pt_path_object(object), NULL);
    while (granule > low) {
        pt_shadow_word *word = pt_shadow_peek(granule -= 8);
        pt_granule_unlock(word, atomic_load_explicit(word, memory_order_relaxed) & ~PT_SHADOW_LOCKED);
    }
}

void pt_watch_compare(struct pt_shadow_self *self, size_t stack)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    pt_spin_lock(&lock);
    for (uint32_t i = 0; i < watched_count; i++) {
        uintptr_t address = pt_watch_address(&pt_watched[i]);
        if (address && pt_watched[i].last && frame - address > stack)
            compare(self, i, address);
    }
    pt_spin_unlock(&lock);
}

int64_t pt_watch_event(const char *name)
{
    const uint32_t *names = (const void *)((const char *)config + config->events);
    for (uint32_t i = 0; i < config->event_count; i++)
        if (strcmp((const char *)config + names[i], name) == 0)
            return i;
    return -1;
}
