/* Programs to text and back; the format is described in program_text.h. Linear in the text. */
#include "net/program_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define HEAD "portent-program 1"

/* ---- printing */

static void put_text(struct pt_buf *to, const char *text)
{
    if (!text) {
        pt_buf_puts(to, "\t-");
        return;
    }
    pt_buf_puts(to, "\t=");
    for (; *text; text++) {
        const char *escaped = *text == '\t' ? "\\t" : *text == '\n' ? "\\n" : *text == '\\' ? "\\\\" : NULL;
        if (escaped)
            pt_buf_puts(to, escaped);
        else
            pt_buf_add(to, text, 1);
    }
}

static void put_number(struct pt_buf *to, uint32_t number)
{
    if (number == PT_NONE)
        pt_buf_puts(to, "\t-");
    else
        pt_buf_printf(to, "\t%" PRIu32, number);
}

static void put_place(struct pt_buf *to, struct pt_source_place place)
{
    put_text(to, place.file);
    put_number(to, place.line);
    put_number(to, place.column);
}

static void put_ids(struct pt_buf *to, const uint32_t *ids, uint32_t count)
{
    pt_buf_puts(to, "\t");
    for (uint32_t i = 0; i < count; i++)
        pt_buf_printf(to, "%s%" PRIu32, i ? "," : "", ids[i]);
}

static void put_step(struct pt_buf *to, const struct pt_program *program, const struct pt_prog_step *step)
{
    const uint32_t *accesses = program->accesses ? program->accesses + step->access_start : NULL;
    pt_buf_printf(to, "step\t%u", step->kind);
    put_number(to, step->thread);
    put_number(to, step->from);
    put_number(to, step->to);
    put_number(to, step->object);
    put_ids(to, accesses, step->read_count);
    put_ids(to, accesses ? accesses + step->read_count : NULL, step->write_count);
    put_place(to, step->place);
    put_text(to, step->text);
    pt_buf_puts(to, "\n");
}

void pt_program_print(const struct pt_program *program, struct pt_buf *to)
{
    pt_buf_puts(to, HEAD "\nfile");
    put_text(to, program->file);
    pt_buf_puts(to, "\n");
    for (uint32_t i = 0; i < program->var_count + program->lock_count; i++) {
        bool var = i < program->var_count;
        pt_buf_puts(to, var ? "var" : "lock");
        put_text(to, var ? program->vars[i] : program->locks[i - program->var_count]);
        pt_buf_puts(to, "\n");
    }
    for (uint32_t i = 0; i < program->thread_count; i++) {
        const struct pt_prog_thread *thread = &program->threads[i];
        pt_buf_puts(to, "thread");
        put_text(to, thread->name);
        put_number(to, thread->spawned);
        put_number(to, thread->node_count);
        put_number(to, thread->start);
        put_number(to, thread->stop);
        put_place(to, thread->place);
        pt_buf_puts(to, "\n");
    }
    for (uint32_t i = 0; i < program->block_count; i++) {
        pt_buf_puts(to, "block");
        put_number(to, program->blocks[i].thread);
        put_text(to, program->blocks[i].name);
        put_place(to, program->blocks[i].place);
        pt_buf_puts(to, "\n");
    }
    for (uint32_t i = 0; i < program->step_count; i++)
        put_step(to, program, &program->steps[i]);
    for (uint32_t i = 0; i < program->note_count; i++) {
        pt_buf_puts(to, "note");
        put_place(to, program->notes[i].place);
        put_text(to, program->notes[i].text);
        pt_buf_puts(to, "\n");
    }
    for (uint32_t i = 0; i < program->unknown_count; i++) {
        pt_buf_puts(to, "unknown");
        put_place(to, program->unknowns[i].place);
        put_number(to, program->unknowns[i].runs);
        put_text(to, program->unknowns[i].name);
        pt_buf_puts(to, "\n");
    }
    pt_buf_puts(to, "end\n");
}

void pt_program_print_error(const struct pt_err *why, struct pt_buf *to)
{
    struct pt_source_place place = {why->file[0] ? why->file : NULL, (uint32_t)why->line, why->column};
    pt_buf_puts(to, HEAD "\nerror");
    put_place(to, place);
    put_text(to, why->message);
    pt_buf_puts(to, "\n");
}

/* ---- parsing */

struct parser {
    const char *at, *end; /* of the text */
    const char *line_end;
    uint64_t line;
    struct pt_program *program;
    struct pt_err *err;
    struct pt_buf scratch; /* a text without escapes */
    bool bad;
};

static void complain(struct parser *p)
{
    if (!p->bad)
        (void)pt_err_at(p->err, PT_EINPUT, "model", p->line, 0, "this is no text of a program");
    p->bad = true;
}

/* Moves to the next line; false at the end of the text. */
static bool next_line(struct parser *p)
{
    if (p->line > 0)
        p->at = p->line_end + 1;
    p->line++;
    if (p->at >= p->end)
        return false;
    p->line_end = memchr(p->at, '\n', (size_t)(p->end - p->at));
    return p->line_end != NULL;
}

/* The next field of the line. */
static const char *field(struct parser *p, size_t *ret_len)
{
    const char *start = p->at;
    if (start > p->line_end) {
        complain(p);
        *ret_len = 0;
        return "";
    }
    const char *tab = memchr(start, '\t', (size_t)(p->line_end - start));
    *ret_len = (size_t)((tab ? tab : p->line_end) - start);
    p->at = start + *ret_len + 1;
    return start;
}

/* A number below `limit`; PT_NONE for `-` where that is allowed. */
static uint32_t get_number(struct parser *p, uint64_t limit, bool optional)
{
    size_t len;
    const char *digits = field(p, &len);
    if (optional && len == 1 && digits[0] == '-')
        return PT_NONE;
    uint64_t number = 0;
    if (len == 0 || len > 10)
        complain(p);
    for (size_t i = 0; i < len && !p->bad; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            complain(p);
        number = 10 * number + (uint64_t)(digits[i] - '0');
    }
    if (number >= limit)
        complain(p);
    return p->bad ? 0 : (uint32_t)number;
}

/* Valid until the next text is read; NULL for `-`. */
static const char *get_text(struct parser *p, struct pt_buf *to)
{
    size_t len;
    const char *text = field(p, &len);
    to->len = 0;
    if (len == 1 && text[0] == '-')
        return NULL;
    if (len == 0 || text[0] != '=') {
        complain(p);
        return NULL;
    }
    pt_buf_add(to, "", 0);
    for (size_t i = 1; i < len; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < len) {
            c = text[++i];
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
        }
        if (c == '\0')
            complain(p);
        pt_buf_add(to, &c, 1);
    }
    return to->text;
}

static struct pt_source_place get_place(struct parser *p)
{
    struct pt_source_place place = {0};
    const char *file = get_text(p, &p->scratch);
    if (file)
        place.file = pt_arena_strndup(&p->program->arena, file, strlen(file));
    place.line = get_number(p, PT_NONE, false);
    place.column = get_number(p, PT_NONE, false);
    return place;
}

static void get_ids(struct parser *p, uint32_t limit, uint32_t **ret_ids, uint32_t *ret_count)
{
    size_t len;
    const char *text = field(p, &len), *end = text + len;
    size_t count = 0, cap = 0;
    uint32_t *ids = NULL;
    while (text < end && !p->bad) {
        uint64_t id = 0;
        const char *start = text;
        for (; text < end && *text >= '0' && *text <= '9' && id < limit; text++)
            id = 10 * id + (uint64_t)(*text - '0');
        if (text == start || id >= limit || (text < end && *text != ','))
            complain(p);
        PT_PUSH(ids, count, cap, (uint32_t)id);
        text++;
    }
    *ret_ids = ids;
    *ret_count = (uint32_t)count;
}

static void get_thread(struct parser *p)
{
    struct pt_buf name;
    pt_buf_init(&name);
    const char *text = get_text(p, &name);
    bool spawned = get_number(p, 2, false) == 1;
    uint32_t nodes = get_number(p, PT_NONE, false);
    uint32_t start = get_number(p, nodes, false), stop = get_number(p, nodes, true);
    struct pt_source_place place = get_place(p);
    if (!text)
        complain(p);
    if (!p->bad) {
        uint32_t id = pt_program_add_thread(p->program, text, place);
        struct pt_prog_thread *thread = &p->program->threads[id];
        thread->spawned = spawned;
        thread->node_count = nodes;
        thread->start = start;
        thread->stop = stop;
    }
    pt_buf_release(&name);
}

static void get_block(struct parser *p)
{
    struct pt_buf name;
    pt_buf_init(&name);
    uint32_t thread = get_number(p, p->program->thread_count, false);
    const char *text = get_text(p, &name);
    struct pt_source_place place = get_place(p);
    if (!p->bad)
        pt_program_add_block(p->program, thread, text, place);
    pt_buf_release(&name);
}

/* How many objects there are for a step of this kind to name. */
static uint32_t objects_for(const struct pt_program *program, uint32_t kind)
{
    switch (kind) {
    case PT_STEP_ACQUIRE:
    case PT_STEP_RELEASE:
        return program->lock_count;
    case PT_STEP_BEGIN:
    case PT_STEP_END:
        return program->block_count;
    case PT_STEP_SPAWN:
    case PT_STEP_JOIN:
        return program->thread_count;
    default:
        return 0;
    }
}

static void get_step(struct parser *p)
{
    struct pt_program *program = p->program;
    struct pt_prog_step step = {.kind = (uint8_t)get_number(p, PT_STEP_JOIN + 1, false)};
    uint32_t *reads = NULL, *writes = NULL, read_count = 0, write_count = 0;
    step.thread = get_number(p, program->thread_count, false);
    uint32_t nodes = p->bad ? 0 : program->threads[step.thread].node_count;
    step.from = get_number(p, nodes, false);
    step.to = get_number(p, nodes, false);
    step.object = get_number(p, objects_for(program, step.kind), true);
    if ((step.object == PT_NONE) != (step.kind == PT_STEP_PLAIN))
        complain(p);
    bool block = step.kind == PT_STEP_BEGIN || step.kind == PT_STEP_END;
    if (!p->bad && block && program->blocks[step.object].thread != step.thread)
        complain(p);
    if (!p->bad && step.kind == PT_STEP_SPAWN && !program->threads[step.object].spawned)
        complain(p);
    if (!p->bad && step.from == program->threads[step.thread].stop)
        complain(p);
    get_ids(p, program->var_count, &reads, &read_count);
    get_ids(p, program->var_count, &writes, &write_count);
    step.place = get_place(p);
    step.text = get_text(p, &p->scratch);
    if (!step.text)
        complain(p);
    if (!p->bad)
        pt_program_add_step(program, &step, reads, read_count, writes, write_count);
    free(reads);
    free(writes);
}

static void get_error(struct parser *p)
{
    struct pt_source_place place = get_place(p);
    const char *text = get_text(p, &p->scratch);
    if (!text)
        complain(p);
    if (p->bad)
        return;
    p->bad = true;
    if (place.file)
        (void)pt_err_at(p->err, PT_EINPUT, place.file, place.line, place.column, "%.500s", text);
    else
        (void)pt_err_set(p->err, PT_EINPUT, "%.500s", text);
}

static void get_item(struct parser *p, const char *word, size_t len)
{
    struct pt_program *program = p->program;
#define IS(name) (len == sizeof name - 1 && memcmp(word, name, len) == 0)
    if (IS("step")) {
        get_step(p);
    } else if (IS("thread")) {
        get_thread(p);
    } else if (IS("block")) {
        get_block(p);
    } else if (IS("error")) {
        get_error(p);
    } else if (IS("note")) {
        struct pt_source_place place = get_place(p);
        const char *text = get_text(p, &p->scratch);
        pt_program_add_note(program, text ? text : "", place);
    } else if (IS("unknown")) {
        struct pt_source_place place = get_place(p);
        bool runs = get_number(p, 2, false) == 1;
        const char *text = get_text(p, &p->scratch);
        pt_program_add_unknown(program, text ? text : "", runs, place);
    } else if (IS("var") || IS("lock") || IS("file")) {
        const char *text = get_text(p, &p->scratch);
        if (IS("file"))
            program->file = text ? pt_arena_strndup(&program->arena, text, strlen(text)) : NULL;
        else if (!text)
            complain(p);
        else if (IS("var"))
            pt_program_add_var(program, text);
        else
            pt_program_add_lock(program, text);
    } else {
        complain(p);
    }
#undef IS
}

enum pt_status pt_program_parse(const char *text, size_t len, struct pt_program *program, struct pt_err *err)
{
    struct parser p = {.at = text, .end = text + len, .program = program, .err = err};
    bool complete = false;
    pt_buf_init(&p.scratch);
    if (!next_line(&p) || p.line_end - p.at != sizeof HEAD - 1 || memcmp(p.at, HEAD, sizeof HEAD - 1) != 0)
        complain(&p);
    while (!p.bad && !complete && next_line(&p)) {
        size_t word_len;
        const char *word = field(&p, &word_len);
        complete = word_len == 3 && memcmp(word, "end", 3) == 0;
        if (!complete)
            get_item(&p, word, word_len);
    }
    if (!complete)
        complain(&p);
    pt_buf_release(&p.scratch);
    return p.bad ? err->status : PT_OK;
}
