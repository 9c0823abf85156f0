#include "cli/watch/record.h"

#include <stdlib.h>
#include <string.h>

#include "cli/common/diag.h"
#include "trace/format.h"

enum pt_status pt_recording_open(struct pt_recording *record, const char *path, struct pt_names *names,
                                 struct pt_err *err)
{
    *record = (struct pt_recording){
        .loc = pt_strtab_intern(&names->space[PT_SPACE_LOC], "-", 1),
        .running = pt_strtab_intern(&names->space[PT_SPACE_STATE], "running", strlen("running")),
    };
    return pt_writer_open(path, pt_format_of_name(path), names, &record->writer, err);
}

static void add(struct pt_recording *record, const struct pt_event *event)
{
    struct pt_err err;
    if (pt_writer_add(record->writer, event, &err) == PT_OK) {
        record->lines++;
        return;
    }
    pt_diag_warning(&err);
    (void)!pt_writer_close(record->writer, &err); /* reported already */
    record->writer = NULL;
}

void pt_recording_fact(struct pt_recording *record, const struct pt_event *event)
{
    if (record->writer && (event->op != PT_OP_STATE || event->object != record->running))
        PT_PUSH(record->facts, record->fact_count, record->fact_cap, *event);
}

static void write_facts(struct pt_recording *record)
{
    for (uint32_t i = 0; i < record->fact_count && record->writer; i++)
        add(record, &record->facts[i]);
    record->fact_count = 0;
}

uint64_t pt_recording_take(struct pt_recording *record, const struct pt_event *event)
{
    if (!record->writer)
        return 0;
    if (event->has_time && event->time > record->clock)
        record->clock = event->time;
    if (event->op == PT_OP_CLOCK && record->started)
        return 0;
    if (event->op != PT_OP_INIT)
        write_facts(record);
    if (!record->writer)
        return 0;
    add(record, event);
    record->started = true;
    record->written = record->clock;
    return record->writer ? record->lines : 0;
}

void pt_recording_close(struct pt_recording *record)
{
    struct pt_err err;
    write_facts(record);
    if (record->writer && record->clock > record->written)
        add(record, &(struct pt_event){.op = PT_OP_CLOCK,
                                       .thread = PT_NONE,
                                       .object = PT_NONE,
                                       .loc = record->loc,
                                       .has_time = true,
                                       .time = record->clock});
    if (record->writer && pt_writer_close(record->writer, &err) != PT_OK)
        pt_diag_error(&err);
    record->writer = NULL;
    free(record->facts);
    record->facts = NULL;
}
