/*
 * Knowledge vectors as shared, immutable values, as clocks are in order/clock.h.
 *
 * Guarantee: a join that adds nothing returns the larger operand, so threads that have nothing new for each other soon
 * have the very same vector. Cost: O(1) where both are the same, else O(slots + variables).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/knowledge_impl.h"

struct know_shown *pt_shown_new(const struct pt_mttl_entry *entry, size_t entry_size, size_t *bytes)
{
    size_t size = offsetof(struct know_shown, entry) + entry_size;
    struct know_shown *s = pt_xmalloc(size);
    *s = (struct know_shown){.bytes = bytes, .size = size, .refs = 1};
    memcpy(&s->entry, entry, entry_size);
    *bytes += size;
    return s;
}

void pt_shown_unref(struct know_shown *shown)
{
    if (shown && --shown->refs == 0) {
        *shown->bytes -= shown->size;
        free(shown);
    }
}

static size_t vector_size(uint32_t slots, uint32_t vars)
{
    return sizeof(struct know_vector) + vars * sizeof(struct know_pair) + slots * sizeof(struct know_shown *);
}

static struct know_vector *vector_new(uint32_t slots, uint32_t vars, size_t *bytes)
{
    struct know_vector *v = pt_xcalloc(1, vector_size(slots, vars));
    v->bytes = bytes;
    v->refs = 1;
    v->slots = slots;
    v->vars = vars;
    v->shown = (struct know_shown **)(void *)(v->pairs + vars);
    *bytes += vector_size(slots, vars);
    return v;
}

struct know_vector *pt_vector_ref(struct know_vector *v)
{
    if (v)
        v->refs++;
    return v;
}

void pt_vector_unref(struct know_vector *v)
{
    if (!v || --v->refs > 0)
        return;
    for (uint32_t i = 0; i < v->slots; i++)
        pt_shown_unref(v->shown[i]);
    *v->bytes -= vector_size(v->slots, v->vars);
    free(v);
}

void pt_vector_set(struct know_vector **place, struct know_vector *other)
{
    (void)pt_vector_ref(other);
    pt_vector_unref(*place);
    *place = other;
}

static bool is_newer(const struct know_shown *a, const struct know_shown *b)
{
    return a && (!b || a->entry.version > b->entry.version);
}

static bool knows_more(const struct know_vector *a, const struct know_vector *b)
{
    for (uint32_t i = 0; i < a->slots; i++)
        if (is_newer(a->shown[i], pt_vector_get(b, i)))
            return true;
    for (uint32_t i = 0; i < a->vars; i++)
        if (a->pairs[i].writes > b->pairs[i].writes)
            return true;
    return false;
}

static void put_shown(struct know_vector *v, uint32_t slot, struct know_shown *shown)
{
    if (shown)
        shown->refs++;
    pt_shown_unref(v->shown[slot]);
    v->shown[slot] = shown;
}

static struct know_vector *copy(const struct know_vector *v, uint32_t slots, uint32_t vars, size_t *bytes)
{
    struct know_vector *c = vector_new(v && v->slots > slots ? v->slots : slots, vars, bytes);
    for (uint32_t i = 0; v && i < v->slots; i++)
        put_shown(c, i, v->shown[i]);
    if (v && vars)
        memcpy(c->pairs, v->pairs, vars * sizeof *c->pairs);
    return c;
}

static struct know_vector *maximum(const struct know_vector *a, const struct know_vector *b)
{
    struct know_vector *c = copy(a, b->slots, a->vars, a->bytes);
    for (uint32_t i = 0; i < b->slots; i++)
        if (is_newer(b->shown[i], c->shown[i]))
            put_shown(c, i, b->shown[i]);
    for (uint32_t i = 0; i < b->vars; i++)
        if (b->pairs[i].writes > c->pairs[i].writes)
            c->pairs[i] = b->pairs[i];
    return c;
}

void pt_vector_absorb(struct know_vector **place, struct know_vector *other)
{
    if (*place == other || !other || (*place && !knows_more(other, *place)))
        return;
    if (!*place || !knows_more(*place, other)) {
        pt_vector_set(place, other);
        return;
    }
    struct know_vector *c = maximum(*place, other);
    pt_vector_unref(*place);
    *place = c;
}

void pt_vector_show(struct know_vector **place, struct know_shown *shown, uint32_t vars, size_t *bytes)
{
    uint32_t slot = shown->entry.slot;
    struct know_vector *c = copy(*place, slot + 1, vars, bytes);
    put_shown(c, slot, shown);
    pt_vector_unref(*place);
    *place = c;
}

void pt_vector_write(struct know_vector **place, uint32_t var, struct know_pair pair, uint32_t vars, size_t *bytes)
{
    struct know_vector *c = copy(*place, 0, vars, bytes);
    c->pairs[var] = pair;
    pt_vector_unref(*place);
    *place = c;
}
