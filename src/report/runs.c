/*
 * Lays a violation's two runs out in columns: row i holds the i-th relevant event of the actual run and the i-th step
 * of the witness. A column is `marks thread what place`; the widths of its three fields come from what they hold, and
 * when that is too wide, places lose their beginning (file:line ends in what matters) and the others their end.
 *
 * Cost: linear in the rows, times the number of the property's variables.
 */
#include "report/runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/writer.h"

enum {
    MARKS = 3,     /* moved or left out, violating, space */
    GAP = 2,       /* between fields */
    MARGIN = 2,    /* left of everything */
    SEPARATOR = 3, /* between the two columns */
    MAX_THREAD = 12,
    MAX_ROWS = 40, /* of a run shown whole; else SHOWN_HEAD first rows and SHOWN_TAIL before each end */
    SHOWN_HEAD = 12,
    SHOWN_TAIL = 14,
};

struct cell {
    char *thread, *what, *place; /* harmless text */
    char mark;                   /* '>' moved, '-' not in the other run's prefix, else ' ' */
    bool violating;
};

struct column {
    const char *title;
    struct cell *cells;
    uint32_t count;
};

struct widths {
    size_t thread, what, place;
};

bool pt_runs_same(const struct pt_finding *finding)
{
    if (finding->actual_count != finding->witness_count)
        return false;
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        if (finding->actual[i].number != finding->witness[i].number)
            return false;
    }
    return true;
}

static bool row_is_shown(const struct pt_finding *finding, uint32_t rows, uint32_t row)
{
    uint32_t bad_end = finding->witness_count;
    return rows <= MAX_ROWS || row < SHOWN_HEAD || row + SHOWN_TAIL >= rows ||
           (row < bad_end && row + SHOWN_TAIL >= bad_end);
}

static char *cleaned(const char *text, size_t len)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_style_clean(&buf, text, len);
    return pt_buf_take(&buf);
}

static struct pt_binding *find_binding(struct pt_binding *bindings, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(bindings[i].name, name) == 0)
            return &bindings[i];
    }
    return NULL;
}

/* "w: 20 -> 24", or "w = 24" where the value before is not known by that name; `now` is brought up to date. */
static char *what_happened(const struct pt_step *step, struct pt_binding *now, uint32_t count)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (strcmp(step->op, "event") == 0) {
        pt_buf_printf(&buf, "event(%s)", step->object);
    } else {
        struct pt_binding *variable = find_binding(now, count, step->object);
        pt_buf_puts(&buf, step->object);
        if (variable && variable->value.kind != PT_VALUE_UNKNOWN) {
            pt_buf_puts(&buf, ": ");
            pt_value_to_text(variable->value, &buf);
            pt_buf_puts(&buf, " -> ");
        } else {
            pt_buf_puts(&buf, " = ");
        }
        if (step->value.kind == PT_VALUE_UNKNOWN)
            pt_buf_puts(&buf, "?");
        else
            pt_value_to_text(step->value, &buf);
        if (strcmp(step->op, "u") == 0)
            pt_buf_puts(&buf, " (rmw)");
        if (variable)
            variable->value = step->value;
    }
    char *text = cleaned(buf.text, buf.len);
    pt_buf_release(&buf);
    return text;
}

static struct cell *make_cells(const struct pt_finding *finding, const struct pt_step *steps, uint32_t count)
{
    struct pt_binding *now = pt_xcalloc(finding->value_count + 1, sizeof *now);
    if (finding->value_count)
        memcpy(now, finding->initial, finding->value_count * sizeof *now);
    struct cell *cells = pt_xcalloc((size_t)count + 1, sizeof *cells);
    for (uint32_t i = 0; i < count; i++) {
        bool no_place = strcmp(steps[i].loc, "-") == 0;
        cells[i] = (struct cell){.thread = cleaned(steps[i].thread, strlen(steps[i].thread)),
                                 .what = what_happened(&steps[i], now, finding->value_count),
                                 .place = cleaned(steps[i].loc, no_place ? 0 : strlen(steps[i].loc)),
                                 .mark = ' '};
    }
    free(now);
    return cells;
}

static void free_cells(struct column *column)
{
    for (uint32_t i = 0; i < column->count; i++) {
        free(column->cells[i].thread);
        free(column->cells[i].what);
        free(column->cells[i].place);
    }
    free(column->cells);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Marks the steps that moved, and the actual events that the witness does without. */
static void mark(const struct pt_finding *finding, struct column *actual, struct column *witness)
{
    uint32_t count = finding->witness_count;
    uint64_t *numbers = pt_xcalloc((size_t)count + 1, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = finding->witness[i].number;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (uint32_t i = 0; i < actual->count; i++) {
        if (!bsearch(&finding->actual[i].number, numbers, count, sizeof *numbers, compare_numbers))
            actual->cells[i].mark = '-';
    }
    free(numbers);
    for (uint32_t i = 0; i < finding->move_count; i++) {
        if (finding->moves[i].step < count)
            witness->cells[finding->moves[i].step].mark = '>';
    }
    if (count)
        witness->cells[count - 1].violating = true;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void widen(struct widths *widths, const struct column *column)
{
    for (uint32_t i = 0; i < column->count; i++) {
        widths->thread = larger(widths->thread, pt_style_columns(column->cells[i].thread));
        widths->what = larger(widths->what, pt_style_columns(column->cells[i].what));
        widths->place = larger(widths->place, pt_style_columns(column->cells[i].place));
    }
}

/* Shares `room` columns among the fields: what happened goes first, places get at least two fifths if they want them.
 */
static void share(struct widths *widths, size_t room)
{
    room -= MARKS + 2 * GAP;
    widths->thread = smaller(widths->thread, MAX_THREAD);
    room -= widths->thread;
    if (widths->what + widths->place <= room)
        return;
    size_t floor = smaller(widths->place, room * 2 / 5);
    widths->place = widths->what + floor < room ? room - widths->what : floor;
    widths->what = room - widths->place;
}

static size_t column_width(const struct widths *widths)
{
    return MARKS + widths->thread + GAP + widths->what + GAP + widths->place;
}

static void put_cell(const struct cell *cell, const struct widths *widths, const struct pt_style *style,
                     struct pt_buf *buf)
{
    enum pt_color color = cell->violating     ? PT_COLOR_RED
                          : cell->mark == '>' ? PT_COLOR_YELLOW
                          : cell->mark == '-' ? PT_COLOR_DIM
                                              : PT_COLOR_RESET;
    bool colored = color != PT_COLOR_RESET;
    pt_buf_puts(buf, colored ? pt_style_color(style, color) : "");
    pt_buf_printf(buf, "%c%c ", cell->mark, cell->violating ? '!' : ' ');
    pt_style_fit(buf, cell->thread, widths->thread, PT_CUT_END);
    pt_buf_printf(buf, "%*s", GAP, "");
    pt_style_fit(buf, cell->what, widths->what, PT_CUT_END);
    pt_buf_printf(buf, "%*s", GAP, "");
    pt_style_fit(buf, cell->place, widths->place, PT_CUT_START);
    pt_buf_puts(buf, colored ? pt_style_color(style, PT_COLOR_RESET) : "");
}

/* Lines end where their text ends. */
static void end_line(struct pt_buf *buf)
{
    while (buf->len && buf->text[buf->len - 1] == ' ')
        buf->len--;
    pt_buf_puts(buf, "\n");
}

static void put_title(const struct column *column, size_t width, const struct pt_style *style, struct pt_buf *buf)
{
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_printf(buf, "%*s", MARKS, "");
    pt_style_fit(buf, column->title, width - MARKS, PT_CUT_END);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
}

static void put_rows(const struct pt_finding *finding, const struct column *columns, uint32_t column_count,
                     const struct widths *widths, const struct pt_style *style, struct pt_buf *buf)
{
    static const struct cell blank = {(char *)"", (char *)"", (char *)"", ' ', false};
    uint32_t rows = columns[0].count;
    if (column_count == 2 && columns[1].count > rows)
        rows = columns[1].count;
    uint32_t left_out = 0;
    for (uint32_t row = 0; row < rows; row++) {
        if (!row_is_shown(finding, rows, row)) {
            left_out++;
            continue;
        }
        if (left_out)
            pt_buf_printf(buf, "%*s... %" PRIu32 " rows left out ...\n", MARGIN + MARKS, "", left_out);
        left_out = 0;
        pt_buf_printf(buf, "%*s", MARGIN, "");
        for (uint32_t c = 0; c < column_count; c++) {
            pt_buf_puts(buf, c ? " | " : "");
            put_cell(row < columns[c].count ? &columns[c].cells[row] : &blank, widths, style, buf);
        }
        end_line(buf);
    }
}

void pt_runs_write(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    bool observed = finding->how == PT_HOW_OBSERVED, same = pt_runs_same(finding);
    struct column columns[2] = {
        {"Your run", make_cells(finding, finding->actual, finding->actual_count), finding->actual_count},
        {observed ? "Shortest violating run" : "Predicted run",
         make_cells(finding, finding->witness, finding->witness_count), finding->witness_count}};
    mark(finding, &columns[0], &columns[1]);
    if (same && columns[0].count)
        columns[0].cells[columns[0].count - 1].violating = true;

    uint32_t column_count = same ? 1 : 2;
    struct widths widths = {0};
    widen(&widths, &columns[0]);
    widen(&widths, &columns[1]);
    size_t title = strlen(columns[1].title) + MARKS, width = column_width(&widths);
    widths.what += title > width ? title - width : 0;
    size_t room = style->width - MARGIN;
    share(&widths, same ? room : (room - SEPARATOR) / 2);

    pt_buf_printf(buf, "%*s", MARGIN, "");
    for (uint32_t c = 0; c < column_count; c++) {
        pt_buf_puts(buf, c ? " | " : "");
        put_title(&columns[c], column_width(&widths), style, buf);
    }
    end_line(buf);
    put_rows(finding, columns, column_count, &widths, style, buf);
    free_cells(&columns[0]);
    free_cells(&columns[1]);
}
