/*
 * Knowledge vectors as shared, immutable values, as clocks are in order.c: a join that adds nothing returns the larger
 * operand, so threads that have nothing to tell each other soon hold the very same vector.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/knowledge_impl.h"

struct shown *pt_shown_new(const struct pt_mttl_entry *entry, size_t entry_size, size_t *bytes)
{
    size_t size = offsetof(struct shown, entry) + entry_size;
    struct shown *s = pt_xmalloc(size);
    *s = (struct shown){.bytes = bytes, .size = size, .refs = 1};
    memcpy(&s->entry, entry, entry_size);
    *bytes += size;
    return s;
}

void pt_shown_unref(struct shown *shown)
{
    if (shown && --shown->refs == 0) {
        *shown->bytes -= shown->size;
        free(shown);
    }
}

static size_t vector_size(uint32_t slots, uint32_t vars)
{
    return sizeof(struct vector) + vars * sizeof(struct pair) + slots * sizeof(struct shown *);
}

static struct vector *vector_new(uint32_t slots, uint32_t vars, size_t *bytes)
{
    struct vector *v = pt_xcalloc(1, vector_size(slots, vars));
    v->bytes = bytes;
    v->refs = 1;
    v->slots = slots;
    v->vars = vars;
    v->shown = (struct shown **)(void *)(v->pairs + vars);
    *bytes += vector_size(slots, vars);
    return v;
}

struct vector *pt_vector_ref(struct vector *v)
{
    if (v)
        v->refs++;
    return v;
}

void pt_vector_unref(struct vector *v)
{
    if (!v || --v->refs > 0)
        return;
    for (uint32_t i = 0; i < v->slots; i++)
        pt_shown_unref(v->shown[i]);
    *v->bytes -= vector_size(v->slots, v->vars);
    free(v);
}

void pt_vector_set(struct vector **place, struct vector *other)
{
    (void)pt_vector_ref(other);
    pt_vector_unref(*place);
    *place = other;
}

static bool is_newer(const struct shown *a, const struct shown *b)
{
    return a && (!b || a->entry.version > b->entry.version);
}

static bool knows_more(const struct vector *a, const struct vector *b)
{
    for (uint32_t i = 0; i < a->slots; i++)
        if (is_newer(a->shown[i], pt_vector_get(b, i)))
            return true;
    for (uint32_t i = 0; i < a->vars; i++)
        if (a->pairs[i].writes > b->pairs[i].writes)
            return true;
    return false;
}

static void put_shown(struct vector *v, uint32_t slot, struct shown *shown)
{
    if (shown)
        shown->refs++;
    pt_shown_unref(v->shown[slot]);
    v->shown[slot] = shown;
}

static struct vector *copy(const struct vector *v, uint32_t slots, uint32_t vars, size_t *bytes)
{
    struct vector *c = vector_new(v && v->slots > slots ? v->slots : slots, vars, bytes);
    for (uint32_t i = 0; v && i < v->slots; i++)
        put_shown(c, i, v->shown[i]);
    if (v && vars)
        memcpy(c->pairs, v->pairs, vars * sizeof *c->pairs);
    return c;
}

static struct vector *maximum(const struct vector *a, const struct vector *b)
{
    struct vector *c = copy(a, b->slots, a->vars, a->bytes);
    for (uint32_t i = 0; i < b->slots; i++)
        if (is_newer(b->shown[i], c->shown[i]))
            put_shown(c, i, b->shown[i]);
    for (uint32_t i = 0; i < b->vars; i++)
        if (b->pairs[i].writes > c->pairs[i].writes)
            c->pairs[i] = b->pairs[i];
    return c;
}

void pt_vector_absorb(struct vector **place, struct vector *other)
{
    if (*place == other || !other || (*place && !knows_more(other, *place)))
        return;
    if (!*place || !knows_more(*place, other)) {
        pt_vector_set(place, other);
        return;
    }
    struct vector *c = maximum(*place, other);
    pt_vector_unref(*place);
    *place = c;
}

void pt_vector_show(struct vector **place, struct shown *shown, uint32_t vars, size_t *bytes)
{
    uint32_t slot = shown->entry.slot;
    struct vector *c = copy(*place, slot + 1, vars, bytes);
    put_shown(c, slot, shown);
    pt_vector_unref(*place);
    *place = c;
}

void pt_vector_write(struct vector **place, uint32_t var, struct pair pair, uint32_t vars, size_t *bytes)
{
    struct vector *c = copy(*place, 0, vars, bytes);
    c->pairs[var] = pair;
    pt_vector_unref(*place);
    *place = c;
}
