/*
 * Writing and reading what local_report.h describes, one item after the other. What does not fit into the writer's room
 * is left out, with all that follows, and flagged; a reader never looks beyond its bytes, whatever they are. The cost
 * is that of copying them.
 */
#include "core/local_report.h"

#include <string.h>

#include "core/channel.h"

static bool put(struct pt_local_report_writer *w, const void *bytes, size_t len)
{
    if (w->full || len > w->room - w->len) {
        w->full = true;
        return false;
    }
    if (len)
        memcpy(w->bytes + w->len, bytes, len);
    w->len += len;
    return true;
}

void pt_local_report_put_number(struct pt_local_report_writer *w, uint64_t number)
{
    (void)put(w, &number, sizeof number);
}

void pt_local_report_put_text(struct pt_local_report_writer *w, const char *text)
{
    (void)put(w, text, strlen(text) + 1);
}

void pt_local_report_put_value(struct pt_local_report_writer *w, struct pt_value value)
{
    enum { LONGEST = 200 };
    uint32_t head[2] = {value.kind, value.kind == PT_VALUE_STRING && value.len > LONGEST ? LONGEST : value.len};
    (void)put(w, head, sizeof head);
    if (value.kind == PT_VALUE_STRING)
        (void)put(w, value.s, head[1]);
    else
        (void)put(w, &value.u, sizeof value.u);
}

static const char *get(struct pt_local_report_reader *r, size_t len)
{
    const char *at = r->at;
    if (len > r->left) {
        r->bad = true;
        r->left = 0;
        return NULL;
    }
    r->at += len;
    r->left -= len;
    return at;
}

uint64_t pt_local_report_number(struct pt_local_report_reader *r)
{
    uint64_t number = 0;
    const char *bytes = get(r, sizeof number);
    if (bytes)
        memcpy(&number, bytes, sizeof number);
    return number;
}

const char *pt_local_report_text(struct pt_local_report_reader *r)
{
    const char *end = r->left ? memchr(r->at, 0, r->left) : NULL;
    const char *text = get(r, end ? (size_t)(end - r->at) + 1 : r->left + 1);
    return text ? text : "";
}

struct pt_value pt_local_report_value(struct pt_local_report_reader *r)
{
    uint32_t head[2] = {0};
    const char *bytes = get(r, sizeof head);
    if (bytes)
        memcpy(head, bytes, sizeof head);
    struct pt_value value = {.kind = head[0] <= PT_VALUE_STRING ? head[0] : PT_VALUE_UNKNOWN};
    bytes = get(r, value.kind == PT_VALUE_STRING ? head[1] : sizeof value.u);
    if (!bytes)
        return (struct pt_value){0};
    if (value.kind == PT_VALUE_STRING)
        return pt_value_string(bytes, head[1]);
    memcpy(&value.u, bytes, sizeof value.u);
    return value;
}

void pt_local_report_put_step(struct pt_local_report_writer *w, const struct pt_local_report_step *step)
{
    pt_local_report_put_number(w, step->kind);
    pt_local_report_put_text(w, step->object);
    pt_local_report_put_text(w, step->place);
    pt_local_report_put_number(w, step->at);
    pt_local_report_put_number(w, step->from);
    pt_local_report_put_number(w, step->last);
    pt_local_report_put_value(w, step->value);
}

struct pt_local_report_step pt_local_report_step(struct pt_local_report_reader *r)
{
    uint64_t kind = pt_local_report_number(r);
    struct pt_local_report_step step = {.kind = kind < PT_KIND_COUNT ? (uint32_t)kind : PT_KIND_COUNT};
    step.object = pt_local_report_text(r);
    step.place = pt_local_report_text(r);
    step.at = pt_local_report_number(r);
    step.from = pt_local_report_number(r);
    step.last = pt_local_report_number(r);
    step.value = pt_local_report_value(r);
    return step;
}
