/* One of the "findings" of a built-in check, which check.c writes, read back. */
#include "report/result_impl.h"

static const char *const *read_texts(struct reading *r, const struct pt_json_node *object, const char *key)
{
    const struct pt_json_node *list = rd_array(r, object, "a side", key);
    const char **texts = pt_arena_alloc(r->arena, (pt_json_count(list) + 1) * sizeof *texts);
    for (size_t i = 0; i < pt_json_count(list); i++)
        texts[i] = rd_text(r, pt_json_at(list, i), "a text of a side");
    texts[pt_json_count(list)] = NULL;
    return texts;
}

static void read_side(struct reading *r, const struct pt_json_node *object, struct pt_side *side)
{
    rd_step(r, object, "a side", &side->step);
    side->event = rd_uint(r, object, "a side", "event", INT64_MAX);
    side->stack = read_texts(r, object, "stack");
    side->locks = read_texts(r, object, "locks");
}

void rd_check(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    const struct pt_json_node *witness = rd_array(r, object, "a finding", "witness");
    finding->order = rd_string_or(r, object, "a finding", "order", "access");
    finding->object = rd_string(r, object, "a finding", "object");
    finding->count = rd_uint(r, object, "a finding", "count", INT64_MAX);
    finding->sides = pt_arena_alloc(r->arena, 2 * sizeof *finding->sides);
    static const char *const keys[] = {"first", "second"};
    for (unsigned i = 0; i < 2; i++) {
        const struct pt_json_node *side = rd_object(r, object, "a finding", keys[i]);
        if (side)
            read_side(r, side, &finding->sides[finding->side_count++]);
    }
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
}
