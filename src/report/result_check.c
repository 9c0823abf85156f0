/*
 * One of the "findings" of a built-in check, which check.c writes, read back. Guarantee: whatever the file holds, lists
 * end in NULL and a place belongs to each lock, or it is refused. Cost: linear in the members.
 */
#include "report/result_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES_MOST = 1000 };

static const char *const *read_texts(struct reading *r, const struct pt_json_node *object, const char *key)
{
    const struct pt_json_node *list = rd_array(r, object, "a side", key);
    const char **texts = pt_arena_alloc(r->arena, (pt_json_count(list) + 1) * sizeof *texts);
    for (size_t i = 0; i < pt_json_count(list); i++)
        texts[i] = rd_text(r, pt_json_at(list, i), "a text of a side");
    texts[pt_json_count(list)] = NULL;
    return texts;
}

/* The same, NULL where there is no such member. */
static const char *const *read_texts_if(struct reading *r, const struct pt_json_node *object, const char *key)
{
    return rd_array(r, object, "a side", key) ? read_texts(r, object, key) : NULL;
}

static uint64_t read_address(struct reading *r, const char *text)
{
    char *end;
    errno = 0;
    uint64_t address = strtoull(text, &end, 16);
    if (strncmp(text, "0x", 2) != 0 || !text[2] || *end || errno)
        rd_fail(r, "the \"address\" of a side is none");
    return address;
}

/* What check.c's put_about writes, and `locks`, which is called otherwise in a cycle. */
static void read_about(struct reading *r, const struct pt_json_node *object, const char *locks, struct pt_side *side)
{
    side->event = rd_uint_or(r, object, "a side", "event", INT64_MAX, 0);
    side->address = read_address(r, rd_string_or(r, object, "a side", "address", "0x0"));
    side->size = rd_uint_or(r, object, "a side", "size", INT64_MAX, 0);
    side->atomic = rd_bool_or(r, object, "a side", "atomic", false);
    side->stack = read_texts(r, object, "stack");
    side->lost = rd_bool_or(r, object, "a side", "stack_lost", false);
    side->locks = read_texts(r, object, locks);
    side->locked_at = read_texts_if(r, object, "locked_at");
    side->created = read_texts_if(r, object, "created");
    side->created_lost = rd_bool_or(r, object, "a side", "created_lost", false);
    if (side->locked_at && pt_json_count(rd_array(r, object, "a side", "locked_at")) !=
                               pt_json_count(rd_array(r, object, "a side", locks)))
        rd_fail(r, "\"locked_at\" has not as many members as \"%s\"", locks);
}

static void read_side(struct reading *r, const struct pt_json_node *object, struct pt_side *side)
{
    rd_step(r, object, "a side", &side->step);
    read_about(r, object, "locks", side);
}

/* A thread of a deadlock. */
static void read_waiting(struct reading *r, const struct pt_json_node *object, struct pt_side *side)
{
    side->step = (struct pt_step){.thread = rd_string(r, object, "a side", "thread"),
                                  .op = rd_string_or(r, object, "a side", "op", "acq"),
                                  .object = rd_string(r, object, "a side", "wants"),
                                  .loc = rd_string(r, object, "a side", "loc"),
                                  .var = PT_NONE};
    read_about(r, object, "holds", side);
}

static void read_sides(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    static const char *const keys[] = {"first", "second"};
    const struct pt_json_node *cycle = rd_array(r, object, "a finding", "cycle");
    size_t count = cycle ? pt_json_count(cycle) : 2;
    if (count > SIDES_MOST) {
        rd_fail(r, "\"cycle\" has too many members");
        return;
    }
    finding->sides = pt_arena_alloc(r->arena, (count + 1) * sizeof *finding->sides);
    for (size_t i = 0; i < count && !r->failed; i++) {
        const struct pt_json_node *side = cycle ? pt_json_at(cycle, i) : rd_object(r, object, "a finding", keys[i]);
        if (side && cycle)
            read_waiting(r, side, &finding->sides[finding->side_count++]);
        else if (side)
            read_side(r, side, &finding->sides[finding->side_count++]);
    }
}

void rd_seen(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    struct pt_confirmation *c = &finding->confirmation;
    const struct pt_json_node *seen = rd_array(r, object, "a finding", "seen"),
                              *met = rd_array(r, object, "a finding", "met");
    size_t count = seen ? pt_json_count(seen) : 0;
    if (count > SIDES_MOST)
        rd_fail(r, "\"seen\" has too many members");
    c->met = met != NULL;
    for (size_t i = 0; i < 2 && i < pt_json_count(met) && !r->failed; i++)
        c->met_address[i] = read_address(r, rd_text(r, pt_json_at(met, i), "an address that met"));
    c->seen = pt_arena_alloc(r->arena, (count + 1) * sizeof *c->seen);
    for (size_t i = 0; i < count && !r->failed; i++)
        read_side(r, pt_json_at(seen, i), &c->seen[c->seen_count++]);
}

void rd_check(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    const struct pt_json_node *witness = rd_array(r, object, "a finding", "witness");
    finding->order = rd_string_or(r, object, "a finding", "order", "access");
    finding->note = rd_string_or(r, object, "a finding", "note", NULL);
    finding->object = rd_string(r, object, "a finding", "object");
    finding->also = read_texts_if(r, object, "also");
    finding->count = rd_uint(r, object, "a finding", "count", INT64_MAX);
    read_sides(r, object, finding);
    const struct pt_json_node *block = rd_object(r, object, "a finding", "block");
    if (block) {
        finding->block = pt_arena_alloc(r->arena, sizeof *finding->block);
        read_side(r, block, finding->block);
    }
    if (pt_json_count(witness) >= UINT32_MAX)
        rd_fail(r, "\"witness\" is too long");
    if (r->failed)
        return;
    finding->witness = rd_steps(r, witness, "a witness");
    finding->witness_count = (uint32_t)pt_json_count(witness);
    rd_schedule(r, object, finding);
    rd_played(r, object, finding);
}
