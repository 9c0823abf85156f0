/*
 * A script for gdb: a breakpoint at every place where a finding has a step, which says which steps these are when it is
 * hit, and a command that lists all steps. Names, values and places come from the program, or from a result that
 * somebody sent, and must not become commands: text goes into `echo` alone, escaped, and a place whose name gdb would
 * have to be asked to unquote gets no breakpoint. Cost: steps, and places times steps of the same place.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "report/format.h"
#include "report/place.h"
#include "report/played.h"
#include "report/words.h"

enum { BREAKPOINTS = 200, NOTES = 12 /* of one breakpoint */ };

/* Something that a finding has to say of a place. */
struct note {
    char *text;
    uint32_t place; /* into `places`, PT_NONE: it is no place of a source file */
};

struct script {
    struct pt_strtab places;
    struct note *notes;
    uint32_t count;
    size_t cap;
};

/* Whether gdb takes it, between quotes, as it is. */
static bool is_plain(const char *path, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)path[i] < ' ' || path[i] == 0x7f || strchr("\"'\\`", path[i]))
            return false;
    return len > 0;
}

static uint32_t place_of(struct script *script, const char *loc)
{
    struct pt_loc_parts parts = pt_loc_parts(loc);
    if (!parts.line || !is_plain(loc, parts.path_len))
        return PT_NONE;
    struct pt_buf place; /* without the column */
    pt_buf_init(&place);
    pt_buf_printf(&place, "-source \"%.*s\" -line %" PRIu64, (int)parts.path_len, loc, parts.line);
    uint32_t id = pt_strtab_intern(&script->places, place.text, place.len);
    pt_buf_release(&place);
    return id;
}

/* Takes the text. */
static void add_note(struct script *script, const char *loc, char *text)
{
    PT_GROW(script->notes, script->cap, script->count + 1);
    script->notes[script->count++] = (struct note){text, place_of(script, loc ? loc : "")};
}

/* "valve, step 2 of 3: " and what follows; takes `words`. */
static void add_words(struct script *script, const char *name, const char *loc, const char *what, char *words)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s, %s: %s", name, what, words);
    free(words);
    add_note(script, loc, pt_buf_take(&text));
}

static void add_counted(struct script *script, const char *name, const char *loc, uint32_t step, uint32_t of,
                        char *words)
{
    char what[64];
    snprintf(what, sizeof what, "step %u of %u", step, of);
    add_words(script, name, loc, what, words);
}

static void add_locks(struct script *script, const char *name, const struct pt_side *side)
{
    for (size_t i = 0; side->locks && side->locked_at && side->locks[i]; i++) {
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_printf(&text, "%s, a lock that is held: %s by %s", name, side->locks[i], side->step.thread);
        add_note(script, side->locked_at[i], pt_buf_take(&text));
    }
}

static void add_sides(struct script *script, const struct pt_finding *finding, const char *name)
{
    for (uint32_t i = 0; i < finding->side_count; i++)
        add_locks(script, name, &finding->sides[i]);
    for (uint32_t i = 0; i < finding->side_count; i++) {
        char what[64];
        snprintf(what, sizeof what, "side %u of %u", i + 1, finding->side_count);
        add_words(script, name, finding->sides[i].step.loc, what, pt_words_seen(finding, &finding->sides[i]));
    }
    if (finding->block)
        add_words(script, name, finding->block->step.loc, "the block", pt_words_step(&finding->block->step));
}

/* A thread was let run to a point, and another one came then. */
static void add_stretches(struct script *script, const struct pt_played *played, const char *name)
{
    for (uint32_t i = 0; i < played->stretch_count; i++) {
        const struct pt_played_stretch *stretch = &played->stretches[i];
        bool last = i + 1 == played->stretch_count;
        const struct pt_played_point *point = last || !stretch->next.op[0] ? &stretch->last : &stretch->next;
        const char *then = last ? "" : played->stretches[i + 1].name;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_printf(&text, "%s %s %s%s%s%s%s%s", stretch->name,
                      point == &stretch->next ? "stops before it" : "does this last:", point->op,
                      point->object[0] ? " " : "", point->object, point->loc[0] ? " at " : "", point->loc,
                      last ? "; then the run ends" : "; then comes ");
        pt_buf_puts(&text, then);
        add_counted(script, name, point->loc, i + 1, played->stretch_count, pt_buf_take(&text));
    }
    for (uint32_t i = 0; i < played->wait_count; i++) {
        const struct pt_played_wait *wait = &played->waits[i];
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_printf(&text, "%s, at the end: ", name);
        pt_played_wait(wait, &text);
        add_note(script, wait->point.loc, pt_buf_take(&text));
    }
}

/* A decentralised property: the event that broke it, and those whose states its thread knew. */
static void add_known(struct script *script, const struct pt_finding *finding, const char *name)
{
    const struct pt_finding_first *first = &finding->first;
    for (uint32_t i = 0; i < first->knew_count; i++)
        if (first->knew[i].state > 0 && first->knew[i].from.loc)
            add_words(script, name, first->knew[i].from.loc, "which its thread knew of",
                      pt_words_step(&first->knew[i].from));
    if (first->thread && first->state > 0 && first->event.loc)
        add_words(script, name, first->event.loc, "the event that breaks it", pt_words_step(&first->event));
}

static bool is_schedule(const struct pt_finding *finding)
{
    return strcmp(finding->kind, "schedule") == 0;
}

/* "race on x", "valve", "mine on x" of a race_free property; of a schedule how it ended. */
static char *name_of(const struct pt_finding *finding)
{
    struct pt_buf name;
    pt_buf_init(&name);
    bool object = finding->side_count && finding->object;
    if (!is_schedule(finding) || !object)
        pt_buf_puts(&name, finding->builtin && !finding->file ? finding->kind : finding->property);
    if (object)
        pt_buf_printf(&name, "%s%s", name.len ? " on " : "", finding->object);
    return pt_buf_take(&name);
}

static void add_finding(struct script *script, const struct pt_finding *finding)
{
    if (finding->verdict != PT_VERDICT_VIOLATED || pt_finding_is_suppressed(finding))
        return;
    char *name = name_of(finding);
    if (finding->side_count && !is_schedule(finding)) /* whose one side is the last place that the run reached */
        add_sides(script, finding, name);
    else
        for (uint32_t i = 0; i < finding->witness_count; i++)
            add_counted(script, name, finding->witness[i].loc, i + 1, finding->witness_count,
                        pt_words_step(&finding->witness[i]));
    add_known(script, finding, name);
    if (finding->within.step)
        add_words(script, name, finding->within.step->loc, "the event at which it fell",
                  pt_words_step(finding->within.step));
    if (finding->played)
        add_stretches(script, finding->played, name);
    free(name);
}

/* Of C sources and of runs; a line of an .sml file is no place of a program. */
static bool is_in_program(const char *place)
{
    struct pt_loc_parts parts = pt_loc_parts(place);
    return parts.path_len < 4 || strncmp(place + parts.path_len - 4, ".sml", 4) != 0;
}

static void add_block(struct script *script, const struct pt_block *block)
{
    struct pt_buf name;
    pt_buf_init(&name);
    pt_buf_puts(&name, "block ");
    pt_block_label(block, &name);
    for (uint32_t i = 0; i < block->step_count; i++) {
        const struct pt_block_step *step = &block->steps[i];
        struct pt_buf place, text;
        pt_buf_init(&place);
        pt_buf_init(&text);
        if (step->loc[0])
            pt_buf_puts(&place, step->loc);
        else
            pt_buf_printf(&place, "%s:%u", step->file[0] ? step->file : block->file, step->line);
        pt_buf_printf(&text, "%s by %s (%s)", step->text, step->thread, place.text);
        add_counted(script, name.text, is_in_program(place.text) ? place.text : "", i + 1, block->step_count,
                    pt_buf_take(&text));
        pt_buf_release(&place);
    }
    pt_buf_release(&name);
}

/* `echo` reads backslashes; control characters, and with them ends of lines, are gone after pt_style_clean. */
static void put_echo(struct pt_buf *buf, const char *text)
{
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, text, strlen(text));
    pt_buf_puts(buf, "  echo portent: ");
    for (size_t i = 0; i < clean.len; i++)
        pt_buf_printf(buf, clean.text[i] == '\\' ? "\\\\" : "%c", clean.text[i]);
    pt_buf_puts(buf, "\\n\n");
    pt_buf_release(&clean);
}

static void put_head(const struct script *script, const struct pt_loaded *loaded, struct pt_buf *buf)
{
    pt_buf_puts(buf, "# Breakpoints at the steps of Portent's findings. Start gdb with this file and the program:\n"
                     "#   gdb -x THIS_FILE --args PROGRAM [ARGS]\n"
                     "# then `run`; `portent-steps` lists the steps again. A schedule that explore found:\n"
                     "#   portent replay --gdb --gdb-script THIS_FILE FILE.schedule -- PROGRAM [ARGS]\n"
                     "set breakpoint pending on\n\ndefine portent-steps\n");
    if (loaded->result.program && loaded->result.program[0]) {
        struct pt_buf command;
        pt_buf_init(&command);
        pt_buf_puts(&command, "findings about");
        for (size_t i = 0; loaded->result.program[i]; i++)
            pt_buf_printf(&command, " %s", loaded->result.program[i]);
        put_echo(buf, command.text);
        pt_buf_release(&command);
    }
    for (uint32_t i = 0; i < script->count; i++)
        put_echo(buf, script->notes[i].text);
    if (!script->count)
        put_echo(buf, "there is no finding that counts");
    else if (!script->places.count)
        put_echo(buf, "no step has a place in a source file, so there are no breakpoints");
    pt_buf_puts(buf, "end\ndocument portent-steps\nThe steps of the findings, as the result has them.\nend\n");
}

/* What there is to say of one place, whenever it is hit. */
static void put_notes(const struct script *script, uint32_t place, struct pt_buf *buf)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < script->count; i++)
        if (script->notes[i].place == place && seen++ < NOTES)
            put_echo(buf, script->notes[i].text);
    if (seen > NOTES)
        pt_buf_printf(buf, "  echo portent: and %u more, which portent-steps lists\\n\n", seen - NOTES);
}

/* Of too many places the first ones are left out: what breaks a property stands at its end. */
static void put_breakpoints(const struct script *script, struct pt_buf *buf)
{
    uint32_t count = script->places.count, first = count < BREAKPOINTS ? 0 : count - BREAKPOINTS;
    for (uint32_t place = first; place < count; place++) {
        pt_buf_printf(buf, "\nbreak %s\ncommands\n", pt_strtab_text(&script->places, place));
        put_notes(script, place, buf);
        pt_buf_puts(buf, "end\n");
    }
    if (first)
        pt_buf_printf(buf, "\necho portent: %u more places have no breakpoint\\n\n", first);
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    (void)context;
    struct script script = {0};
    pt_strtab_init(&script.places);
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        add_finding(&script, finding);
        for (uint32_t j = 0; j < finding->more_count; j++)
            add_finding(&script, finding->more[j]);
    }
    for (uint32_t i = 0; i < loaded->block_count; i++)
        if (pt_block_counts(&loaded->blocks[i]))
            add_block(&script, &loaded->blocks[i]);
    put_head(&script, loaded, buf);
    put_breakpoints(&script, buf);
    pt_buf_puts(buf, "\nportent-steps\n");
    for (uint32_t i = 0; i < script.count; i++)
        free(script.notes[i].text);
    free(script.notes);
    pt_strtab_release(&script.places);
}

const struct pt_report_format pt_report_format_gdb = {
    .name = "gdb",
    .from_result = from_result,
};
