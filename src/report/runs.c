/*
 * Lays out a violation's two runs: the relevant events of the actual run and the steps of the witness. A run is a
 * column of `marks thread what place`, whose fields are as wide as what they hold in the rows that are shown. The two
 * stand side by side where that cuts no name and no value (places may lose their folders there), and one below the
 * other where it would; only what does not fit the whole width is cut, places at their beginning (file:line ends in
 * what matters) and the others at their end.
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
    size_t thread, what, place; /* widths of the fields */
    size_t least_place;         /* what the places need when they lose their folders */
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

/* The columns that the end of a place takes from its last '/' on, with the mark of a cut. */
static size_t place_end(const char *place)
{
    const char *slash = strrchr(place, '/');
    return slash ? smaller(pt_style_columns(slash + 1) + strlen(".."), pt_style_columns(place))
                 : pt_style_columns(place);
}

static size_t column_width(const struct column *column)
{
    return MARKS + column->thread + GAP + column->what + GAP + column->place;
}

/* Gives the column the widths that the shown ones of `rows` rows, and its title, want. */
static void measure(const struct pt_finding *finding, uint32_t rows, struct column *column)
{
    column->thread = column->what = column->place = column->least_place = 0;
    for (uint32_t i = 0; i < column->count; i++) {
        if (!row_is_shown(finding, rows, i))
            continue;
        column->thread = larger(column->thread, pt_style_columns(column->cells[i].thread));
        column->what = larger(column->what, pt_style_columns(column->cells[i].what));
        column->place = larger(column->place, pt_style_columns(column->cells[i].place));
        column->least_place = larger(column->least_place, place_end(column->cells[i].place));
    }
    size_t title = strlen(column->title) + MARKS, width = column_width(column);
    column->what += title > width ? title - width : 0;
}

static size_t cut(size_t *width, size_t least, size_t too_much)
{
    size_t off = *width > least ? smaller(*width - least, too_much) : 0;
    *width -= off;
    return too_much - off;
}

/* Cuts the fields down to `room` columns: places first, what happened last. */
static void narrow(struct column *column, size_t room)
{
    size_t width = column_width(column), too_much = width > room ? width - room : 0;
    too_much = cut(&column->place, larger(smaller(column->least_place, room / 3), 1), too_much);
    too_much = cut(&column->thread, MAX_THREAD, too_much);
    cut(&column->what, 1, too_much);
}

/* Whether both columns can stand in `room`; the places are cut as need be. */
static bool stand_side_by_side(struct column *columns, size_t room)
{
    size_t width = column_width(&columns[0]) + SEPARATOR + column_width(&columns[1]);
    size_t spare = columns[0].place - columns[0].least_place + columns[1].place - columns[1].least_place;
    if (width > room + spare)
        return false;
    size_t too_much = width > room ? width - room : 0, half = too_much / 2;
    too_much = cut(&columns[0].place, columns[0].least_place, half) + too_much - half;
    too_much = cut(&columns[1].place, columns[1].least_place, too_much);
    cut(&columns[0].place, columns[0].least_place, too_much);
    return true;
}

static void put_cell(const struct cell *cell, const struct column *widths, const struct pt_style *style,
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

static void put_title(const struct column *column, const struct pt_style *style, struct pt_buf *buf)
{
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_printf(buf, "%*s", MARKS, "");
    pt_style_fit(buf, column->title, column_width(column) - MARKS, PT_CUT_END);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
}

static uint32_t row_count(const struct column *columns, uint32_t column_count)
{
    return column_count == 2 && columns[1].count > columns[0].count ? columns[1].count : columns[0].count;
}

/* One or two columns with their titles. */
static void put_columns(const struct pt_finding *finding, const struct column *columns, uint32_t column_count,
                        const struct pt_style *style, struct pt_buf *buf)
{
    static const struct cell blank = {(char *)"", (char *)"", (char *)"", ' ', false};
    uint32_t rows = row_count(columns, column_count), left_out = 0;
    pt_buf_printf(buf, "%*s", MARGIN, "");
    for (uint32_t c = 0; c < column_count; c++) {
        pt_buf_puts(buf, c ? " | " : "");
        put_title(&columns[c], style, buf);
    }
    end_line(buf);
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
            put_cell(row < columns[c].count ? &columns[c].cells[row] : &blank, &columns[c], style, buf);
        }
        end_line(buf);
    }
}

static void lay_out(const struct pt_finding *finding, struct column *columns, const struct pt_style *style,
                    struct pt_buf *buf)
{
    size_t room = style->width - MARGIN;
    bool same = pt_runs_same(finding);
    measure(finding, row_count(columns, 2), &columns[0]);
    measure(finding, row_count(columns, 2), &columns[1]);
    if (!same && stand_side_by_side(columns, room)) {
        put_columns(finding, columns, 2, style, buf);
        return;
    }
    for (uint32_t c = 0; c < (same ? 1 : 2); c++) {
        pt_buf_puts(buf, c ? "\n" : "");
        measure(finding, columns[c].count, &columns[c]);
        narrow(&columns[c], room);
        put_columns(finding, &columns[c], 1, style, buf);
    }
}

void pt_runs_write(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    struct column columns[2] = {{.title = "Your run",
                                 .cells = make_cells(finding, finding->actual, finding->actual_count),
                                 .count = finding->actual_count},
                                {.title = finding->how == PT_HOW_OBSERVED ? "Shortest violating run" : "Predicted run",
                                 .cells = make_cells(finding, finding->witness, finding->witness_count),
                                 .count = finding->witness_count}};
    mark(finding, &columns[0], &columns[1]);
    if (pt_runs_same(finding) && columns[0].count)
        columns[0].cells[columns[0].count - 1].violating = true;
    lay_out(finding, columns, style, buf);
    free_cells(&columns[0]);
    free_cells(&columns[1]);
}
