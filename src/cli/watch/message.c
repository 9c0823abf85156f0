/*
 * Messages are JSON that is read by html/model.js and html/fleet.js. Times are nanoseconds since the connection to the
 * program. Cost: the members of the fleet, and of the program that is looked at its threads and what has happened.
 */
#include "cli/watch/message.h"

#include "report/json_writer.h"
#include "report/words.h"

static uint64_t since_origin(const struct pt_scene *scene, uint64_t time)
{
    return time > scene->origin ? time - scene->origin : 0;
}

static void put_properties(struct pt_json *json, const struct pt_scene *scene)
{
    pt_json_open(json, "properties", '[');
    for (uint32_t i = 0; i < scene->property_count; i++) {
        const struct pt_scene_property *property = &scene->properties[i];
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "name", property->name);
        pt_json_string(json, "verdict", pt_words_verdict(property->verdict));
        pt_json_string(json, "word", pt_scene_property_word(property));
        pt_json_string(json, "states", property->states);
        pt_json_string(json, "text", property->text);
        if (property->verdict == PT_VERDICT_VIOLATED) {
            pt_json_uint(json, "time", since_origin(scene, property->time));
            pt_json_string(json, "cause", property->cause);
        }
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

/* A character for each stretch of time since the start: '0' and its marks. */
static void put_past(struct pt_json *json, const struct pt_scene *scene, const struct pt_scene_thread *thread)
{
    char text[PT_SCENE_PAST + 1];
    uint64_t count = scene->column / scene->stretch + 1;
    for (uint64_t i = 0; i < count; i++)
        text[i] = (char)('0' + thread->past[i]);
    text[count] = '\0';
    pt_json_string(json, "past", text);
}

static void put_threads(struct pt_json *json, const struct pt_scene *scene, bool past)
{
    pt_json_open(json, "threads", '[');
    for (uint32_t t = 0; t < scene->thread_count; t++) {
        const struct pt_scene_thread *thread = &scene->threads[t];
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "name", pt_name(scene->names, PT_SPACE_THREAD, thread->name));
        pt_json_string(json, "state", pt_scene_state_word(thread->state));
        if (thread->detail[0])
            pt_json_string(json, "detail", thread->detail);
        pt_json_open(json, "locks", '[');
        for (uint32_t i = 0; i < thread->lock_count; i++)
            pt_json_string(json, NULL, pt_name(scene->names, PT_SPACE_LOCK, thread->locks[i]));
        pt_json_close(json, ']');
        if (past)
            put_past(json, scene, thread);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

/* [time, op, thread, text, place]; of notes and losses the op is "note" and "lost", and there is no thread. */
static void put_item(struct pt_json *json, const struct pt_scene *scene, const struct pt_scene_item *item)
{
    bool note = item->op == PT_OP_COUNT, lost = item->op == PT_OP_LOST;
    pt_json_open(json, NULL, '[');
    pt_json_uint(json, NULL, since_origin(scene, item->time));
    pt_json_string(json, NULL, note ? "note" : pt_op_word(item->op));
    if (note || lost) {
        struct pt_buf text;
        pt_buf_init(&text);
        pt_scene_item_text(scene, item, &text);
        pt_json_string(json, NULL, "");
        pt_json_string(json, NULL, text.text ? text.text : "");
        pt_json_string(json, NULL, "");
        pt_buf_release(&text);
    } else {
        pt_json_string(json, NULL, pt_name(scene->names, PT_SPACE_THREAD, item->thread));
        pt_json_string(json, NULL, pt_name(scene->names, pt_op_space(item->op), item->object));
        pt_json_string(json, NULL, pt_name(scene->names, PT_SPACE_LOC, item->loc));
    }
    pt_json_close(json, ']');
}

/* How everything stands with one program, and what has happened to it. */
static void put_scene(struct pt_json *json, const struct pt_scene *scene, uint64_t *next, uint64_t max, bool past)
{
    uint64_t from = scene->item_count - *next > max ? scene->item_count - max : *next;
    pt_json_string(json, "program", scene->program);
    pt_json_uint(json, "pid", scene->pid);
    pt_json_string(json, "address", scene->address);
    pt_json_bool(json, "ended", scene->ended);
    pt_json_uint(json, "now", since_origin(scene, scene->now));
    pt_json_uint(json, "events", scene->events);
    pt_json_uint(json, "lost", scene->lost);
    put_properties(json, scene);
    if (past)
        pt_json_uint(json, "stretch", scene->stretch * PT_SCENE_COLUMN_NS);
    put_threads(json, scene, past);
    pt_json_uint(json, "skipped", from - *next);
    pt_json_open(json, "items", '[');
    for (; from < scene->item_count; from++)
        put_item(json, scene, &scene->items[from % PT_SCENE_ITEMS]);
    pt_json_close(json, ']');
    *next = scene->item_count;
}

static void put_member(struct pt_json *json, const struct pt_watched *member)
{
    pt_json_open(json, NULL, '{');
    pt_json_uint(json, "id", member->id);
    pt_json_string(json, "program", member->program ? member->program : "");
    pt_json_uint(json, "pid", member->pid);
    pt_json_string(json, "address", member->address);
    pt_json_bool(json, "ended", member->over);
    pt_json_uint(json, "threads", member->scene->thread_count);
    pt_json_uint(json, "events", member->scene->events);
    pt_json_uint(json, "lost", member->scene->lost);
    pt_json_open(json, "verdicts", '[');
    for (uint32_t i = 0; i < member->verdicts.count; i++)
        pt_json_string(json, NULL, pt_words_verdict(member->verdicts.shown[i]));
    pt_json_close(json, ']');
    pt_json_close(json, '}');
}

static void put_fleet(struct pt_json *json, const struct pt_fleet *fleet)
{
    const struct pt_watched *first = fleet->count ? fleet->members[0] : NULL;
    pt_json_open(json, "fleet", '{');
    pt_json_uint(json, "running", fleet->alive);
    pt_json_uint(json, "came", fleet->came);
    pt_json_uint(json, "forgotten", fleet->forgotten);
    pt_json_uint(json, "pending", fleet->pending_count);
    if (fleet->listens)
        pt_json_string(json, "listens", fleet->listens);
    pt_json_open(json, "properties", '[');
    for (uint32_t i = 0; first && i < first->verdicts.count; i++)
        pt_json_string(json, NULL, first->verdicts.findings[i]->property);
    pt_json_close(json, ']');
    pt_json_open(json, "programs", '[');
    for (uint32_t i = 0; i < fleet->count; i++)
        put_member(json, fleet->members[i]);
    pt_json_close(json, ']');
    pt_json_close(json, '}');
}

void pt_message_write(const struct pt_fleet *fleet, const struct pt_scene *scene, uint64_t *next, uint64_t max,
                      bool past, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    pt_json_open(&json, NULL, '{');
    if (fleet->watching->several)
        put_fleet(&json, fleet);
    if (scene)
        put_scene(&json, scene, next, max, past);
    pt_json_close(&json, '}');
}
