/*
 * Writing the text form: one line per event (its grammar is at the head of text.c). What is written is read back as the
 * same event. Time linear in the bytes.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/text.h"
#include "trace/writer.h"

static void put_name(const struct pt_names *names, enum pt_space space, uint32_t id, struct pt_buf *buf)
{
    const struct pt_strtab *tab = &names->space[space];
    pt_buf_add(buf, pt_strtab_text(tab, id), pt_strtab_len(tab, id));
}

void pt_event_to_text(const struct pt_names *names, const struct pt_event *event, struct pt_buf *buf)
{
    if (event->thread == PT_NONE)
        pt_buf_add(buf, "-", 1);
    else
        put_name(names, PT_SPACE_THREAD, event->thread, buf);
    pt_buf_add(buf, "|", 1);
    pt_buf_puts(buf, pt_op_word(event->op));
    if (pt_op_has_object(event->op)) {
        pt_buf_add(buf, "(", 1);
        put_name(names, pt_op_space(event->op), event->object, buf);
        pt_buf_add(buf, ")", 1);
    }
    if (event->value.kind != PT_VALUE_UNKNOWN) {
        pt_buf_add(buf, "=", 1);
        if (pt_op_value_rule(event->op) == PT_VALUE_TEXT)
            pt_buf_add(buf, event->value.s, event->value.len);
        else
            pt_value_to_text(event->value, buf);
    }
    pt_buf_add(buf, "|", 1);
    put_name(names, PT_SPACE_LOC, event->loc, buf);
    if (event->has_time)
        pt_buf_printf(buf, "|t=%llu", (unsigned long long)event->time);
    if (event->order)
        pt_buf_printf(buf, "|m=%s", pt_memory_words[event->order]);
    if (event->stack) {
        pt_buf_puts(buf, "|s=");
        put_name(names, PT_SPACE_STACK, event->stack - 1, buf);
    }
    if (event->to)
        pt_buf_printf(buf, "|b=%d-%d", event->from, event->to - 1);
    for (uint32_t i = 0; i < event->clock_len; i++) {
        pt_buf_puts(buf, i == 0 ? "|c=" : ",");
        put_name(names, PT_SPACE_THREAD, event->clock[i].thread, buf);
        pt_buf_printf(buf, ":%llu", (unsigned long long)event->clock[i].count);
    }
}

/* The state: whether the end has been promised. */
static void *begin(const struct pt_names *names, struct pt_buf *out)
{
    (void)names, (void)out;
    return pt_xcalloc(1, sizeof(bool));
}

static void promise(void *state, struct pt_buf *out)
{
    *(bool *)state = true;
    pt_buf_puts(out, PT_TEXT_BEGIN "\n");
}

static enum pt_status add(void *state, const struct pt_names *names, const struct pt_event *event, struct pt_buf *out,
                          struct pt_err *err)
{
    (void)state, (void)err;
    pt_event_to_text(names, event, out);
    pt_buf_add(out, "\n", 1);
    return PT_OK;
}

static void end(void *state, const char *incomplete, struct pt_buf *out)
{
    if (incomplete)
        pt_buf_printf(out, "%s%s\n", PT_TEXT_INCOMPLETE, incomplete);
    if (*(bool *)state)
        pt_buf_puts(out, PT_TEXT_END "\n");
}

static void release(void *state)
{
    free(state);
}

const struct pt_encoder pt_text_encoder = {begin, promise, add, end, release};
