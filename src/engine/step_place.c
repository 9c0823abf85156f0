#include "engine/step_place.h"

#include "base/buf.h"
#include "trace/writer.h"

const char *pt_step_place(struct pt_finding *finding, const struct pt_step *step)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "%s(%s)", step->op, step->object);
    if (step->value.kind != PT_VALUE_UNKNOWN) {
        pt_buf_puts(&buf, "=");
        pt_value_to_text(step->value, &buf);
    }
    pt_buf_printf(&buf, " by %s at %s", step->thread, step->loc[0] ? step->loc : "an unnamed place");
    const char *place = pt_arena_strndup(&finding->arena, buf.text, buf.len);
    pt_buf_release(&buf);
    return place;
}
