/*
 * Text for a terminal: what comes from traces and property files is made harmless (control characters and broken UTF-8
 * become '?'), cut or padded to columns, and wrapped. A column is one code point.
 */
#ifndef PT_REPORT_STYLE_H
#define PT_REPORT_STYLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct pt_style {
    bool color;
    unsigned width; /* columns a line may take, at least PT_STYLE_MIN_WIDTH */
};

enum { PT_STYLE_MIN_WIDTH = 60 };

/* The escape sequence that starts a colour, "" without colours. */
enum pt_color { PT_COLOR_RESET, PT_COLOR_BOLD, PT_COLOR_DIM, PT_COLOR_RED, PT_COLOR_GREEN, PT_COLOR_YELLOW };
const char *pt_style_color(const struct pt_style *style, enum pt_color color);

/* Appends `text` made harmless; tabs and newlines become spaces. */
void pt_style_clean(struct pt_buf *buf, const char *text, size_t len);
/* Columns of text that is harmless already. */
size_t pt_style_columns(const char *text);

enum pt_cut { PT_CUT_END, PT_CUT_START };
/* Appends harmless text in exactly `columns` columns: padded with spaces, or cut at one end and marked with "..". */
void pt_style_fit(struct pt_buf *buf, const char *text, size_t columns, enum pt_cut cut);
/*
 * Appends harmless text, wrapped at spaces, with a newline at its end. Every line is indented: the first by `first`
 * columns, the others by `rest`. A word longer than a line is broken.
 */
void pt_style_wrap(struct pt_buf *buf, const char *text, unsigned first, unsigned rest, unsigned width);

#endif
