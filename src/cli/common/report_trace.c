#include "cli/common/report_trace.h"

#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "report/perfetto.h"
#include "report/timeline.h"
#include "trace/source.h"
#include "trace/validate.h"

typedef void (*take_event)(void *context, const struct pt_event *event);

/* Every event of the trace, each a possible one after those before it. */
static enum pt_status read_trace(const char *path, struct pt_names *names, take_event take, void *context,
                                 struct pt_err *err)
{
    struct pt_source *source;
    enum pt_status status = pt_source_open(path, names, &source, err);
    if (status != PT_OK)
        return status;
    struct pt_validator *validator = pt_validator_new(pt_source_label(source), names);
    struct pt_event event;
    enum pt_read read;
    while ((read = pt_source_next(source, &event, err)) == PT_READ_EVENT) {
        status = pt_validator_check(validator, &event, err);
        if (status != PT_OK)
            break;
        take(context, &event);
    }
    if (read == PT_READ_TORN)
        pt_diag_warning(err);
    if (read == PT_READ_ERROR)
        status = err->status;
    if (status != PT_OK)
        pt_file_show_line(path, err);
    pt_validator_free(validator);
    pt_source_free(source);
    return status;
}

static void take_perfetto(void *context, const struct pt_event *event)
{
    pt_perfetto_event(context, event);
}

enum pt_status pt_report_trace_perfetto(const char *path, struct pt_buf *buf, struct pt_err *err)
{
    struct pt_names names;
    pt_names_init(&names);
    struct pt_perfetto *perfetto = pt_perfetto_new(path, &names, buf);
    enum pt_status status = read_trace(path, &names, take_perfetto, perfetto, err);
    pt_perfetto_finish(perfetto);
    pt_names_release(&names);
    return status;
}

static void take_timeline(void *context, const struct pt_event *event)
{
    pt_timeline_event(context, event);
}

enum pt_status pt_report_trace_timeline(const char *path, struct pt_buf *buf, struct pt_err *err)
{
    struct pt_names names;
    pt_names_init(&names);
    struct pt_timeline *timeline = pt_timeline_new(path, &names);
    enum pt_status status = read_trace(path, &names, take_timeline, timeline, err);
    const char *limits = pt_timeline_limits(timeline);
    if (status == PT_OK && limits[0]) {
        struct pt_err warning;
        (void)pt_err_set(&warning, PT_OK, "the picture does not hold everything: %s", limits);
        pt_diag_warning(&warning);
    }
    pt_timeline_finish(timeline, buf);
    pt_names_release(&names);
    return status;
}
