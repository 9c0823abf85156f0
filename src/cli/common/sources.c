/*
 * Source files as far as they can be read: each is read once, and a place whose file is missing, too large or too short
 * has no line. Only regular files are opened: a place in a hostile trace may name a device or a pipe.
 */
#include "cli/common/sources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "cli/common/file.h"
#include "report/place.h"

enum { MAX_SOURCE = 8 << 20, MAX_FILES = 1000, MAX_LINE = 400 };

struct source_file {
    char *text; /* NULL: cannot be read */
    char **lines;
    uint32_t line_count;
    size_t line_cap;
};

struct pt_source_files {
    struct pt_strtab names;
    struct source_file *files;
    size_t cap;
    char line[MAX_LINE + 1];
};

struct pt_source_files *pt_source_files_new(void)
{
    struct pt_source_files *s = pt_xcalloc(1, sizeof *s);
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

static void load(struct source_file *file, const char *path)
{
    struct stat info;
    struct pt_err err;
    size_t len;
    *file = (struct source_file){0};
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > MAX_SOURCE)
        return;
    if (pt_file_read(path, &file->text, &len, &err) != PT_OK) {
        file->text = NULL;
        return;
    }
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
        load(&s->files[id], pt_strtab_text(&s->names, id));
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
