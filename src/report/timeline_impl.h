/* Of timeline.c and timeline_draw.c: signs with their places, and the lines of the picture. */
#ifndef PT_REPORT_TIMELINE_IMPL_H
#define PT_REPORT_TIMELINE_IMPL_H

#include "report/timeline.h"
#include "report/tracetime.h"

enum {
    PT_TL_WIDTH = 1040,             /* of the picture, whatever it shows: a sheet of A4 on its side */
    PT_TL_RIGHT = PT_TL_WIDTH - 24, /* where the threads' lines end */
    PT_TL_MEAN_GAP = 28,            /* the median distance in time, in pixels */
    PT_TL_MAX_GAP = 120,            /* more is cut out of the axis */
    PT_TL_BREAK = 14,               /* on both sides of what stands in its place */
    PT_TL_NAME_MAX = 22,            /* characters of a name */
    PT_TL_CHAR = 6,                 /* pixels of a character, at most */
    PT_TL_VALUE_MAX = 24,           /* bytes of a value, with its end */
};

enum pt_tl_kind {
    PT_TL_ENTER,
    PT_TL_EXIT,
    PT_TL_CONTENDED,
    PT_TL_USER,
    PT_TL_STATE,
    PT_TL_READ,
    PT_TL_WRITE,
    PT_TL_UPDATE
};

struct pt_tl_mark {
    uint32_t thread, object;
    uint64_t time;
    uint32_t broken;  /* x of the break, where `cut` */
    uint32_t x, line; /* line: of the picture, which is folded as text is */
    uint8_t kind;     /* enum pt_tl_kind */
    bool reader;
    bool cut;       /* time before it is left out of the axis */
    bool stretched; /* time before it takes more room than its share */
    char value[PT_TL_VALUE_MAX];
};

struct pt_tl_row {
    uint32_t first, last; /* of its marks */
    bool has_marks, has_states;
};

struct pt_timeline {
    const char *name;
    const struct pt_names *names;
    struct pt_tracetime time;
    struct pt_tl_mark *marks;
    uint32_t mark_count;
    size_t mark_cap;
    uint64_t marks_left_out, events;
    struct pt_tl_row *rows;
    uint32_t row_count, left; /* x of the lines' start */
    double scale;             /* pixels per nanosecond; 0: all is at one time */
    char limits[200];
};

static inline uint32_t pt_tl_threads(const struct pt_timeline *t)
{
    return t->names->space[PT_SPACE_THREAD].count;
}

/* Columns of a name as it is shown. */
uint32_t pt_tl_columns(const char *text);
uint32_t pt_tl_box_width(const struct pt_timeline *t, const struct pt_tl_mark *mark);
/* A time, or, in a trace without, the event's number. */
void pt_tl_put_when(const struct pt_timeline *t, uint64_t time, struct pt_buf *buf);
/* The picture of marks that have their places. */
void pt_tl_draw(struct pt_timeline *t, struct pt_buf *buf);

#endif
