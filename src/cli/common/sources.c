/*
 * Source files as far as they may be read (source_roots.c): each is read once and at most its first MiB, and a place
 * that lies in no such file, or behind what was read of it, has no line.
 */
#include "cli/common/sources.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "report/place.h"

enum { MAX_SOURCE = 1 << 20, MAX_FILES = 1000, MAX_LINE = 400 };

struct source_file {
    char *text; /* NULL: cannot be read */
    char **lines;
    uint32_t line_count;
    size_t line_cap;
};

struct pt_source_files {
    const struct pt_source_roots *roots;
    struct pt_strtab names;
    struct source_file *files;
    size_t cap;
    char line[MAX_LINE + 1];
};

struct pt_source_files *pt_source_files_new(const struct pt_source_roots *roots)
{
    struct pt_source_files *s = pt_xcalloc(1, sizeof *s);
    s->roots = roots;
    pt_strtab_init(&s->names);
    return s;
}

void pt_source_files_free(struct pt_source_files *s)
{
    for (uint32_t i = 0; i < s->names.count; i++) {
        free(s->files[i].text);
        free(s->files[i].lines);
    }
    free(s->files);
    pt_strtab_release(&s->names);
    free(s);
}

/* The first MAX_SOURCE bytes at most, and of a line that goes on behind them nothing. */
static char *read_text(int fd)
{
    char *text = pt_xmalloc(MAX_SOURCE + 1);
    size_t len = 0;
    ssize_t got;
    while (len < MAX_SOURCE && (got = read(fd, text + len, MAX_SOURCE - len)) > 0)
        len += (size_t)got;
    if (len == MAX_SOURCE)
        while (len > 0 && text[len - 1] != '\n')
            len--;
    text[len] = '\0';
    return pt_xrealloc(text, len + 1);
}

static void load(const struct pt_source_roots *roots, struct source_file *file, const char *path)
{
    *file = (struct source_file){0};
    int fd = pt_source_roots_open(roots, path);
    if (fd < 0)
        return;
    file->text = read_text(fd);
    close(fd);
    for (char *line = file->text; *line;) {
        PT_PUSH(file->lines, file->line_count, file->line_cap, line);
        line += strcspn(line, "\n");
        if (*line)
            *line++ = '\0';
    }
}

static const char *line_of(void *context, const char *place)
{
    struct pt_source_files *s = context;
    struct pt_loc_parts where = pt_loc_parts(place);
    if (!where.line)
        return NULL;
    uint32_t id = pt_strtab_find(&s->names, place, where.path_len);
    if (id == PT_NONE && s->names.count < MAX_FILES) {
        id = pt_strtab_intern(&s->names, place, where.path_len);
        PT_GROW(s->files, s->cap, (size_t)id + 1);
        load(s->roots, &s->files[id], pt_strtab_text(&s->names, id));
    }
    if (id == PT_NONE || where.line > s->files[id].line_count)
        return NULL;
    const char *text = s->files[id].lines[where.line - 1];
    size_t len = strcspn(text, "\r");
    if (len > MAX_LINE)
        len = pt_utf8_cut(text, MAX_LINE);
    memcpy(s->line, text, len);
    s->line[len] = '\0';
    return s->line;
}

struct pt_source_lines pt_source_files_lend(struct pt_source_files *s)
{
    return (struct pt_source_lines){.line = line_of, .context = s};
}
