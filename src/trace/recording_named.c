/*
 * Memory that the program has named (portent_watch), in a recording. An access of it is what it would be without a name
 * and then one of each of its names, whose value is that of the whole object: the name is a view of the memory.
 *
 * Why both. What was done there before it had a name, and what ends it, is of the memory; so conflicts, races and
 * lifetimes are looked for there, and are what they are without names. Properties speak of the name. The memory comes
 * first: what an access of the name needs is then at least what the access needs. A run in which only the names'
 * accesses stand, each for the whole access, is one of the program: reads of the name see what those of the memory do.
 *
 * The initial value is what the memory had when it was named, as in `run`; a name ends when some of its memory begins
 * or ends.
 *
 * Guarantee: values are known where all bytes are: from the definition, or as accesses gave them. Cost: nothing where
 * nothing has a name; otherwise a look-up for each granule of an access, and for memory that begins or ends one for
 * each of its granules or for each name, whatever is less.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/channel_impl.h"
#include "trace/recording_impl.h"

enum { GRANULE = 8 };

void rec_names_begin(struct rec_names *n)
{
    pt_map64_init(&n->by_number);
    pt_map64_init(&n->at);
    n->free = PT_NONE;
}

void rec_names_release(struct rec_names *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        free(n->items[i].memory);
    free(n->items);
    free(n->nodes);
    pt_map64_release(&n->by_number);
    pt_map64_release(&n->at);
}

bool rec_names_define(struct rec_names *n, struct pt_channel_reader *d)
{
    struct pt_rec_named record;
    memcpy(&record.head, d->record, sizeof record.head);
    if (record.head.bytes <= sizeof record || d->record[record.head.bytes - 1] != '\0')
        return false;
    memcpy(&record, d->record, sizeof record);
    const unsigned char *rest = d->record + offsetof(struct pt_rec_named, rest);
    size_t room = record.head.bytes - offsetof(struct pt_rec_named, rest);
    if (!record.size || record.size > PT_REC_NAMED_MOST || record.address + record.size < record.address ||
        record.type > PT_WATCH_CHARS || record.bytes >= room || (record.bytes && record.bytes != record.size))
        return false;
    uint32_t *index = pt_map64_at(&n->by_number, record.number);
    if (*index != PT_NONE) /* where the oldest chunks were given back they stand twice */
        return true;
    const char *name = (const char *)rest + record.bytes;
    struct rec_named made = {.address = record.address, .size = record.size, .type = record.type};
    made.name = pt_names_intern_clean(d->names, PT_SPACE_VAR, name, strlen(name));
    made.known = record.bytes;
    if (record.bytes) {
        made.memory = pt_xmalloc(record.bytes);
        memcpy(made.memory, rest, record.bytes);
    }
    *index = n->count;
    PT_PUSH(n->items, n->count, n->cap, made);
    return true;
}

void rec_names_give_initials(struct rec_names *n, struct pt_channel_reader *d)
{
    for (; n->given < n->count; n->given++) {
        const struct rec_named *named = &n->items[n->given];
        struct pt_event event = {.op = PT_OP_INIT, .thread = PT_NONE, .object = named->name};
        event.loc = pt_names_intern_clean(d->names, PT_SPACE_LOC, "-", 1);
        if (named->known)
            event.value = chan_decode(d, named->type, named->size, named->memory);
        if (event.value.kind != PT_VALUE_UNKNOWN)
            PT_PUSH(d->inits, d->init_count, d->init_cap, event);
    }
}

static void link_at(struct rec_names *n, uint64_t granule, uint32_t item)
{
    uint32_t *first = pt_map64_at(&n->at, granule), node = n->free;
    struct rec_name_node made = {item, *first};
    if (node != PT_NONE) {
        n->free = n->nodes[node].next;
        n->nodes[node] = made;
    } else {
        node = n->node_count;
        PT_PUSH(n->nodes, n->node_count, n->node_cap, made);
    }
    *first = node;
}

static void unlink_at(struct rec_names *n, uint64_t granule, uint32_t item)
{
    uint32_t *link = pt_map64_at(&n->at, granule);
    while (*link != PT_NONE && n->nodes[*link].item != item)
        link = &n->nodes[*link].next;
    if (*link == PT_NONE)
        return;
    uint32_t node = *link;
    *link = n->nodes[node].next;
    n->nodes[node].next = n->free;
    n->free = node;
}

static void for_granules(struct rec_names *n, uint32_t item,
                         void (*what)(struct rec_names *n, uint64_t granule, uint32_t item))
{
    uint64_t low = n->items[item].address, high = low + n->items[item].size;
    for (uint64_t granule = low / GRANULE; granule <= (high - 1) / GRANULE; granule++)
        what(n, granule, item);
}

void rec_names_take(struct rec_names *n, const struct rec_event *event)
{
    uint32_t item = pt_map64_get(&n->by_number, event->value);
    if (item == PT_NONE || n->items[item].live)
        return;
    n->items[item].live = true;
    n->live++;
    for_granules(n, item, link_at);
}

static bool overlaps(const struct rec_named *named, uint64_t from, uint64_t to)
{
    return named->live && named->address < to && named->address + named->size > from;
}

static void end_if(struct rec_names *n, uint32_t item, uint64_t from, uint64_t to)
{
    if (!overlaps(&n->items[item], from, to))
        return;
    for_granules(n, item, unlink_at);
    n->items[item].live = false;
    n->live--;
}

void rec_names_end(struct rec_names *n, uint64_t from, uint64_t to)
{
    if ((to - 1) / GRANULE - from / GRANULE > n->count) {
        for (uint32_t i = 0; i < n->count && n->live; i++)
            end_if(n, i, from, to);
        return;
    }
    for (uint64_t granule = from / GRANULE; granule <= (to - 1) / GRANULE && n->live; granule++)
        for (uint32_t node = pt_map64_get(&n->at, granule), next; node != PT_NONE; node = next) {
            next = n->nodes[node].next; /* of another object, which stays */
            end_if(n, n->nodes[node].item, from, to);
        }
}

/* The access of [from, to) of the object: what it has then, if that is known. */
static struct pt_value see(struct rec_named *named, struct pt_channel_reader *d, const struct rec_event *access,
                           uint64_t from, uint64_t to)
{
    const uint8_t *bytes = access->raw ? access->raw : (const uint8_t *)&access->value;
    bool given = access->raw || access->size <= sizeof access->value;
    if (!named->memory)
        return (struct pt_value){0};
    if (given)
        memcpy(named->memory + (from - named->address), bytes + (from - access->address), to - from);
    named->known = given && (named->known || to - from == named->size);
    return named->known ? chan_decode(d, named->type, named->size, named->memory) : (struct pt_value){0};
}

/* A variable that the program names as it is called anyhow. */
static bool is_called_so(const struct pt_channel_reader *d, uint32_t events, uint32_t name)
{
    bool called = false;
    for (uint32_t i = 0; i < events && !called; i++)
        called = d->queue[i].object == name && pt_op_space(d->queue[i].op) == PT_SPACE_VAR;
    return called;
}

uint32_t rec_names_access(struct rec_names *n, struct pt_channel_reader *d, const struct rec_event *access,
                          struct pt_event event)
{
    uint64_t end = access->address + access->size;
    uint32_t count = 0, before = d->queue_count;
    for (uint64_t granule = access->address / GRANULE; granule <= (end - 1) / GRANULE; granule++)
        for (uint32_t node = pt_map64_get(&n->at, granule); node != PT_NONE; node = n->nodes[node].next) {
            struct rec_named *named = &n->items[n->nodes[node].item];
            uint64_t from = named->address > access->address ? named->address : access->address;
            uint64_t to = named->address + named->size < end ? named->address + named->size : end;
            if (from >= to || from / GRANULE != granule || is_called_so(d, before, named->name))
                continue;
            event.object = named->name;
            event.value = see(named, d, access, from, to);
            event.from = event.to = 0;
            pt_event_set_bytes(&event, from - named->address, to - named->address, named->size);
            PT_PUSH(d->queue, d->queue_count, d->queue_cap, event);
            count++;
        }
    return count;
}
