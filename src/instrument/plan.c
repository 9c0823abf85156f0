/*
 * The text that `clang -###` writes to standard error: a few lines of version, driver diagnostics, and one line per
 * job: a blank, then each argument in double quotes, with a backslash before `"`, `\` and `$`. A quoted argument may
 * itself contain newlines, so jobs are read by quotes, not by lines. Linear in the text.
 */
#include "instrument/plan.h"

/* Reads one quoted argument that starts at text[at]; returns the place after its closing quote, 0 when there is none.
 */
static size_t parse_argument(const char *text, size_t len, size_t at, struct pt_args *job, struct pt_arena *arena)
{
    struct pt_buf word;
    pt_buf_init(&word);
    size_t i = at + 1;
    for (; i < len && text[i] != '"'; i++) {
        if (text[i] == '\\' && i + 1 < len)
            i++;
        pt_buf_add(&word, text + i, 1);
    }
    if (i < len)
        pt_args_add(job, pt_arena_strndup(arena, word.text ? word.text : "", word.len));
    pt_buf_release(&word);
    return i < len ? i + 1 : 0;
}

static size_t parse_job(struct pt_plan *plan, const char *text, size_t len, size_t at, struct pt_arena *arena)
{
    struct pt_args job = {0};
    while (at + 1 < len && text[at] == ' ' && text[at + 1] == '"') {
        size_t next = parse_argument(text, len, at + 1, &job, arena);
        if (next == 0) {
            plan->refused = true;
            at = len;
            break;
        }
        at = next;
    }
    PT_PUSH(plan->jobs, plan->count, plan->cap, job);
    return at;
}

static bool contains(const char *text, size_t len, const char *word)
{
    return memmem(text, len, word, strlen(word)) != NULL;
}

void pt_plan_parse(struct pt_plan *plan, const char *text, size_t len, struct pt_arena *arena)
{
    *plan = (struct pt_plan){0};
    pt_buf_init(&plan->header);
    pt_buf_init(&plan->diagnostics);
    for (size_t at = 0; at < len;) {
        if (text[at] == ' ' && at + 1 < len && text[at + 1] == '"') {
            at = parse_job(plan, text, len, at, arena);
            continue;
        }
        const char *newline = memchr(text + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - text) + 1 : len;
        const char *line = text + at;
        size_t line_len = end - at;
        if (contains(line, line_len, "error: "))
            plan->refused = true;
        if (contains(line, line_len, "warning: ") || contains(line, line_len, "note: "))
            pt_buf_add(&plan->diagnostics, line, line_len);
        else if (line_len > 1 && line[0] != ' ') /* " (in-process)" belongs to a job */
            pt_buf_add(&plan->header, line, line_len);
        at = end;
    }
}

void pt_plan_release(struct pt_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        pt_args_release(&plan->jobs[i]);
    free(plan->jobs);
    pt_buf_release(&plan->header);
    pt_buf_release(&plan->diagnostics);
}
