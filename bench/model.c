/*
 * portent model, from SML text to verdicts, on one core. Every case runs in a process of its own, which measures
 * processor time (the least of several turns) and whose peak memory the parent reads.
 *
 *   model                 the cases with aims
 *   model growth OUT.svg  time and memory against the number of threads, as a table and as a plot
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/child.h"
#include "bench/sml_programs.h"
#include "net/atomicity.h"
#include "net/sml.h"

struct outcome {
    double seconds;
    uint64_t events;
    uint32_t violated;
    double megabytes;
};

static struct outcome check_once(const struct pt_buf *text, bool plain)
{
    struct pt_atomicity_options options = {.plain = plain, .jobs = 1};
    struct outcome outcome = {0};
    struct pt_program program;
    struct pt_atomicity result;
    struct pt_err err;
    double start = cpu_time();
    pt_program_init(&program);
    if (pt_sml_parse("bench", text->text, text->len, &program, &err) != PT_OK ||
        pt_atomicity_check(&program, &options, &result, &err) != PT_OK) {
        fprintf(stderr, "%s\n", err.message);
        _exit(2);
    }
    outcome.seconds = cpu_time() - start;
    outcome.events = result.events;
    for (uint32_t b = 0; b < program.block_count; b++)
        outcome.violated += result.blocks[b].atomic != PT_ATOMIC_YES;
    pt_atomicity_release(&result);
    pt_program_release(&program);
    return outcome;
}

struct checked {
    const struct pt_buf *text;
    bool plain;
    int turns;
    struct outcome best;
};

static void check(void *context)
{
    struct checked *checked = context;
    for (int i = 0; i < checked->turns; i++) {
        struct outcome outcome = check_once(checked->text, checked->plain);
        if (outcome.seconds < checked->best.seconds)
            checked->best = outcome;
    }
}

/* In a child of its own; the least time of `turns`. */
static struct outcome measure(const struct pt_buf *text, bool plain, int turns)
{
    struct checked checked = {text, plain, turns, {.seconds = 1e9}};
    double megabytes = measure_in_child(check, &checked, &checked.best, sizeof checked.best);
    checked.best.megabytes = megabytes;
    return checked.best;
}

static void report(const char *name, const struct pt_buf *text, bool plain, const char *limits)
{
    struct outcome o = measure(text, plain, 7);
    printf("%-28s %9.3f ms %7.1f MB %8llu events  %s  %s\n", name, o.seconds * 1e3, o.megabytes,
           (unsigned long long)o.events, o.violated ? "not atomic" : "atomic    ", limits);
}

static void report_family(enum pt_sml_family family, uint32_t threads, const char *name, bool plain, const char *limits)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_sml_write(family, threads, &text);
    report(name, &text, plain, limits);
    pt_buf_release(&text);
}

static void report_cases(void)
{
    struct pt_buf text;
    report_family(PT_SML_ACQUIRE1, 150, "acquire1, 150 threads", false, "(30 ms and 64 MB, aim 5 ms)");
    report_family(PT_SML_STAR, 100, "acquire1*, 100 threads", false, "(30 ms, aim 5 ms)");
    report_family(PT_SML_ACQUIRE1, 1000, "acquire1, 1000 threads", false, "(300 ms and 128 MB, aim 50 ms)");
    report_family(PT_SML_WIDE, 30, "acquire1_wide, 30 threads", false, "(200 ms, aim 20 ms)");
    report_family(PT_SML_FLAG, 8, "acquire1_flag, 8 threads", false, "(2 s, aim 100 ms)");
    pt_buf_init(&text);
    pt_buf_puts(&text, pt_sml_bluetooth);
    report("bluetooth", &text, false, "(5 ms, aim 1 ms)");
    text.len = 0;
    pt_buf_puts(&text, pt_sml_bluetooth3);
    report("bluetooth3", &text, false, "(5 ms, aim 1 ms)");
    text.len = 0;
    pt_sml_write_dekker(false, &text);
    report("dekker", &text, false, "(5 ms, aim 1 ms)");
    pt_buf_release(&text);
    report_family(PT_SML_ACQUIRE1, 150, "acquire1, 150, --plain", true, "");
    report_family(PT_SML_STAR, 100, "acquire1*, 100, --plain", true, "");
    report_family(PT_SML_FLAG, 5, "acquire1_flag, 5, --plain", true, "");
}

/* --- Growth ---------------------------------------------------------------------------------------------------- */

enum { POINTS = 16 };

struct series {
    const char *name, *colour;
    enum pt_sml_family family;
    bool plain;
    uint32_t most; /* threads */
    uint32_t n[POINTS];
    struct outcome at[POINTS];
    uint32_t count;
};

/* Where a value stands on a logarithmic axis of `length` that begins at `low`, with `unit` for a factor of ten. */
static double on_axis(double value, double low, double unit)
{
    return (log10(value > low ? value : low) - log10(low)) * unit;
}

enum { WIDTH = 380, HEIGHT = 240, LEFT = 70, TOP = 50, GAP = 110 };

static void draw_axes(FILE *out, double left, const char *title, double low, int decades)
{
    double unit = (double)HEIGHT / decades;
    fprintf(out, "<text x=\"%.0f\" y=\"%d\" font-weight=\"bold\">%s</text>\n", left, TOP - 18, title);
    fprintf(out, "<rect x=\"%.0f\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n", left, TOP,
            WIDTH, HEIGHT);
    for (int d = 0; d <= decades; d++)
        fprintf(out,
                "<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
                "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                left, TOP + HEIGHT - d * unit, left + WIDTH, TOP + HEIGHT - d * unit, left - 6,
                TOP + HEIGHT - d * unit + 4, low * pow(10, d));
    for (int n = 1; n <= 1000; n *= 10)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", left + on_axis(n, 1, WIDTH / 3.0),
                TOP + HEIGHT + 18, n);
    fprintf(out, "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">threads</text>\n", left + WIDTH / 2.0,
            TOP + HEIGHT + 36);
}

static void draw_line(FILE *out, const struct series *s, double left, bool memory, double low, int decades)
{
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", s->colour);
    for (uint32_t i = 0; i < s->count; i++) {
        double value = memory ? s->at[i].megabytes : s->at[i].seconds * 1e3;
        fprintf(out, "%.1f,%.1f ", left + on_axis(s->n[i], 1, WIDTH / 3.0),
                TOP + HEIGHT - on_axis(value, low, (double)HEIGHT / decades));
    }
    fprintf(out, "\"/>\n");
}

static void draw(FILE *out, const struct series *all, uint32_t count)
{
    double second = LEFT + WIDTH + GAP;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            LEFT + 2 * WIDTH + GAP + 30, TOP + HEIGHT + 60 + 18 * (int)count);
    draw_axes(out, LEFT, "processor time, ms", 0.01, 5);
    draw_axes(out, second, "peak memory, MB", 1, 3);
    for (uint32_t i = 0; i < count; i++) {
        draw_line(out, &all[i], LEFT, false, 0.01, 5);
        draw_line(out, &all[i], second, true, 1, 3);
        int y = TOP + HEIGHT + 56 + 18 * (int)i;
        fprintf(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"/>", LEFT, y - 4,
                LEFT + 24, y - 4, all[i].colour);
        fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT + 32, y, all[i].name);
    }
    fprintf(out, "</svg>\n");
}

static void measure_series(struct series *s)
{
    static const uint32_t sizes[] = {2, 3, 4, 5, 6, 8, 10, 20, 30, 50, 100, 150, 300, 500, 1000};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= s->most; i++) {
        struct pt_buf text;
        pt_buf_init(&text);
        pt_sml_write(s->family, sizes[i], &text);
        s->n[s->count] = sizes[i];
        s->at[s->count] = measure(&text, s->plain, 3);
        printf("%-24s %5u threads %10.3f ms %7.1f MB %8llu events\n", s->name, sizes[i], s->at[s->count].seconds * 1e3,
               s->at[s->count].megabytes, (unsigned long long)s->at[s->count].events);
        s->count++;
        pt_buf_release(&text);
    }
}

static int growth(const char *path)
{
    struct series all[] = {
        {.name = "acquire1", .colour = "#1f77b4", .family = PT_SML_ACQUIRE1, .most = 1000},
        {.name = "acquire1_wide", .colour = "#2ca02c", .family = PT_SML_WIDE, .most = 1000},
        {.name = "acquire1_flag", .colour = "#9467bd", .family = PT_SML_FLAG, .most = 1000},
        {.name = "acquire1, --plain", .colour = "#ff7f0e", .family = PT_SML_ACQUIRE1, .plain = true, .most = 300},
        {.name = "acquire1_wide, --plain", .colour = "#8c564b", .family = PT_SML_WIDE, .plain = true, .most = 8},
        {.name = "acquire1_flag, --plain", .colour = "#d62728", .family = PT_SML_FLAG, .plain = true, .most = 5},
    };
    uint32_t count = sizeof all / sizeof *all;
    for (uint32_t i = 0; i < count; i++)
        measure_series(&all[i]);
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return 2;
    }
    draw(out, all, count);
    return fclose(out) == 0 ? 0 : 2;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "growth") == 0)
        return growth(argv[2]);
    if (argc != 1) {
        fprintf(stderr, "usage: model [growth OUT.svg]\n");
        return 2;
    }
    report_cases();
    return 0;
}
