/*
 * The schedule of a finding of `explore`, which played.c writes, read back. Guarantee: whatever the file holds, texts
 * are there and lists end, or it is refused. Cost: linear in the members.
 */
#include "report/result_impl.h"

#include <string.h>

static struct pt_played_point read_point(struct reading *r, const struct pt_json_node *object, const char *key)
{
    const struct pt_json_node *point = rd_object(r, object, "a stretch", key);
    if (!point)
        return (struct pt_played_point){"", "", "", ""};
    return (struct pt_played_point){.op = rd_string(r, point, "a point", "op"),
                                    .object = rd_string_or(r, point, "a point", "object", ""),
                                    .function = rd_string_or(r, point, "a point", "function", ""),
                                    .loc = rd_string_or(r, point, "a point", "loc", "")};
}

static struct pt_played_stretch *read_stretches(struct reading *r, const struct pt_json_node *list, uint32_t *ret_count)
{
    size_t size = pt_json_count(list);
    struct pt_played_stretch *stretches = pt_arena_alloc(r->arena, (size + 1) * sizeof *stretches);
    for (size_t i = 0; i < size && !r->failed; i++) {
        const struct pt_json_node *object = pt_json_at(list, i);
        stretches[(*ret_count)++] = (struct pt_played_stretch){
            .thread = (uint32_t)rd_uint(r, object, "a stretch", "thread", UINT32_MAX),
            .name = rd_string(r, object, "a stretch", "name"),
            .steps = rd_uint(r, object, "a stretch", "steps", INT64_MAX),
            .handles = rd_bool_or(r, object, "a stretch", "handles", false),
            .last = read_point(r, object, "last"),
            .next = read_point(r, object, "next"),
        };
    }
    return stretches;
}

static void read_waits(struct reading *r, const struct pt_json_node *list, struct pt_played *played)
{
    size_t size = pt_json_count(list);
    played->waits = pt_arena_alloc(r->arena, (size + 1) * sizeof *played->waits);
    for (size_t i = 0; i < size && !r->failed; i++) {
        const struct pt_json_node *object = pt_json_at(list, i);
        played->waits[played->wait_count++] = (struct pt_played_wait){
            .thread = (uint32_t)rd_uint(r, object, "a wait", "thread", UINT32_MAX),
            .name = rd_string(r, object, "a wait", "name"),
            .point = read_point(r, object, "point"),
            .owner = rd_string_or(r, object, "a wait", "owner", ""),
        };
    }
}

static const char *const *read_names(struct reading *r, const struct pt_json_node *list)
{
    const char **names = pt_arena_alloc(r->arena, (pt_json_count(list) + 1) * sizeof *names);
    for (size_t i = 0; i < pt_json_count(list); i++)
        names[i] = rd_text(r, pt_json_at(list, i), "a name of a thread");
    return names;
}

void rd_played(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    static const char *const where = "a schedule";
    struct pt_played *played = pt_arena_alloc(r->arena, sizeof *played);
    if (!pt_json_get(object, "failure"))
        return;
    played->failure = rd_string(r, object, where, "failure");
    played->what = rd_string(r, object, where, "what");
    played->found_by = rd_string(r, object, where, "found_by");
    played->file = rd_string_or(r, object, where, "schedule_file", NULL);
    played->output = rd_string_or(r, object, where, "output", NULL);
    played->run = rd_uint(r, object, where, "run", INT64_MAX);
    played->seed = rd_uint_or(r, object, where, "seed", UINT64_MAX, 0);
    played->steps = rd_uint_or(r, object, where, "steps", INT64_MAX, 0);
    played->preemptions = rd_uint_or(r, object, where, "preemptions", INT64_MAX, 0);
    const char *number = strcmp(played->failure, "signal") == 0 ? "signal" : "status";
    played->number = pt_json_get(object, number) ? (int64_t)rd_uint(r, object, where, number, 255) : -1;
    played->reproduced = rd_bool_or(r, object, where, "reproduced", false);
    played->threads = read_names(r, rd_array(r, object, where, "threads"));
    played->stretches = read_stretches(r, rd_array(r, object, where, "stretches"), &played->stretch_count);
    read_waits(r, rd_array(r, object, where, "waits"), played);
    const struct pt_json_node *passing = rd_array(r, object, where, "passing");
    if (passing)
        played->passing = read_stretches(r, passing, &played->passing_count);
    finding->played = played;
}

/* The losses are read as they are; the rest has defaults. */
void rd_explored(struct reading *r, const struct pt_json_node *root, struct pt_result *result)
{
    static const char *const where = "\"explore\"";
    const struct pt_json_node *object = rd_object(r, root, "the result", "explore");
    if (!object)
        return;
    struct pt_explored *e = pt_arena_alloc(r->arena, sizeof *e);
    const struct pt_json_node *losses = rd_array(r, object, where, "losses"), *ordinary, *seconds;
    e->strategy = rd_string(r, object, where, "strategy");
    e->seed = rd_uint_or(r, object, where, "seed", UINT64_MAX, 0);
    e->runs = rd_uint(r, object, where, "runs", INT64_MAX);
    e->distinct = rd_uint_or(r, object, where, "distinct", INT64_MAX, 0);
    e->redundant = rd_uint_or(r, object, where, "redundant", INT64_MAX, 0);
    e->diverged = rd_uint_or(r, object, where, "diverged", INT64_MAX, 0);
    e->failing = rd_uint_or(r, object, where, "failing", INT64_MAX, 0);
    e->complete = rd_bool_or(r, object, where, "complete", false);
    e->why = rd_string_or(r, object, where, "why", NULL);
    e->bounded = pt_json_get(object, "preemptions") != NULL;
    e->preemptions = rd_uint_or(r, object, where, "preemptions", INT64_MAX, 0);
    e->losses = losses ? read_names(r, losses) : NULL;
    ordinary = pt_json_get(object, "ordinary");
    e->killed = !pt_json_is_integer(ordinary);
    e->ordinary = e->killed ? 0 : (int64_t)rd_uint(r, object, where, "ordinary", 255);
    e->stress = rd_bool_or(r, object, where, "stress", false);
    e->fell_back = rd_string_or(r, object, where, "fell_back", NULL);
    e->controlled = rd_uint_or(r, object, where, "controlled", INT64_MAX, 0);
    e->served = rd_bool_or(r, object, where, "fork_server", false);
    e->unserved = rd_string_or(r, object, where, "unserved", NULL);
    seconds = pt_json_get(object, "seconds");
    e->seconds = pt_json_is(seconds, PT_VALUE_FLOAT) ? seconds->value.d : 0;
    result->explored = e;
}
