/*
 * The variables and user events of properties, looked up in a program's debug information before it runs. Each is
 * found once and for certain, or refused at its place in the property with the nearest names; nothing is guessed. A
 * name costs a look-up in the index of debuginfo, a suggestion one pass over all names.
 */
#include "cli/run/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logic/monitor/monitor.h"
#include "base/suggest.h"
#include "cli/common/diag.h"

/* Puts the error where the property names the variable or event: a path that is wrong stands in its `var` statement. */
static void place_error(struct pt_err *err, const struct pt_property *property, uint32_t var, uint32_t event)
{
    if (!property)
        return;
    uint32_t line = property->line, column = property->column;
    for (uint32_t a = property->atom_count; a-- > 0;) {
        const struct pt_atom *atom = &property->atoms[a];
        bool here = event != PT_NONE && atom->event == event;
        for (uint32_t v = 0; v < atom->var_count && event == PT_NONE; v++)
            here |= atom->vars[v] == var;
        if (here && atom->line) {
            line = atom->line;
            column = atom->column;
        }
    }
    if (var != PT_NONE && property->vars[var].line) {
        line = property->vars[var].line;
        column = property->vars[var].column;
    }
    snprintf(err->file, sizeof err->file, "%s", property->file);
    err->line = line;
    err->column = column;
}

/* Names that may have been meant: those that end in the same word, or the nearest one, or the one whose last word is
 * nearest. */
struct near {
    struct pt_strtab names; /* the program's own come first */
    const char *word;
    struct pt_suggest suggest, words;
    const char *by_word; /* the name whose last word words.best is */
    struct pt_buf same;
    uint32_t same_count;
};

static const char *last_word(const char *name)
{
    const char *word = name;
    for (const char *c = name; *c; c++) {
        if (*c == '.' || *c == ':')
            word = c + 1;
    }
    return word;
}

static void offer(void *context, const char *name)
{
    enum { MAX_SAME = 4 };
    struct near *near = context;
    uint32_t before = near->names.count, id = pt_strtab_intern(&near->names, name, strlen(name));
    if (id < before) /* seen already */
        return;
    const char *kept = pt_strtab_text(&near->names, id);
    pt_suggest_offer(&near->suggest, kept);
    const char *best = near->words.best;
    pt_suggest_offer(&near->words, last_word(kept));
    if (near->words.best != best)
        near->by_word = kept;
    if (strcmp(last_word(kept), last_word(near->word)) == 0 && near->same_count++ < MAX_SAME)
        pt_buf_printf(&near->same, "%s'%s'", near->same_count > 1 ? ", " : "", kept);
}

/* Nothing is near: the first few, so that the user sees what names look like. */
static void hint_some(const struct pt_strtab *names, struct pt_err *err)
{
    enum { MAX_SHOWN = 6 };
    struct pt_buf list;
    pt_buf_init(&list);
    for (uint32_t i = 0; i < names->count && i < MAX_SHOWN; i++)
        pt_buf_printf(&list, "%s%s", i ? ", " : "", pt_strtab_text(names, i));
    pt_err_hint(err, "there are %s%s", list.text, names->count > MAX_SHOWN ? ", ..." : "");
    pt_buf_release(&list);
}

static void offer_text(void *context, const char *text)
{
    pt_suggest_offer(context, text);
}

static void hint_near(struct pt_debuginfo *info, const char *path, bool local, struct pt_err *err)
{
    struct near near = {.word = path};
    struct pt_suggest texts; /* names that the program gives itself */
    pt_strtab_init(&near.names);
    pt_buf_init(&near.same);
    pt_suggest_init(&near.suggest, path, strlen(path));
    pt_suggest_init(&near.words, last_word(path), strlen(last_word(path)));
    pt_debuginfo_near(info, path, offer, &near);
    pt_suggest_init(&texts, path, strlen(path));
    pt_debuginfo_texts(info, local ? "portent_internal" : "portent_watch", offer_text, &texts);
    if (strcmp(path, "NULL") == 0 || strcmp(path, "nullptr") == 0)
        pt_err_hint(err, "a null pointer is 0");
    else if (near.same_count)
        pt_err_hint(err, "did you mean %s?", near.same.text);
    else if (near.suggest.best)
        pt_err_hint(err, "did you mean '%s'?", near.suggest.best);
    else if (near.by_word)
        pt_err_hint(err, "did you mean '%s'?", near.by_word);
    else if (texts.best)
        pt_err_hint(err, "did you mean '%s'?", texts.best);
    else if (near.names.count && !pt_debuginfo_knows(info, path))
        hint_some(&near.names, err);
    else if (!near.names.count && !pt_debuginfo_is_instrumented(info))
        pt_err_hint(err, "build it with 'portent cc' or 'portent c++'");
    else if (!near.names.count && !pt_debuginfo_knows(info, path))
        pt_err_hint(err, "'portent cc' adds -g by itself: -g0 or -s took it away again, or 'strip' did");
    pt_strtab_release(&near.names);
    pt_buf_release(&near.same);
}

/* A variable that lives as long as a call of its function does has no place that is known before the run. False: the
 * path names no such variable. */
static bool hint_local(struct pt_debuginfo *info, const char *path, struct pt_err *err)
{
    const char *function = pt_debuginfo_knows(info, path) ? NULL : pt_debuginfo_local(info, path);
    if (!function)
        return false;
    (void)pt_err_set(err, PT_EINPUT, "the program has no variable '%s': '%.*s' is a local variable of %s", path,
                     (int)pt_debuginfo_head(path), path, function);
    pt_err_hint(err,
                "make it static and name it '%s::%s', give it a name with portent_watch, or reach it from a global "
                "variable by the path of a 'var' statement",
                function, path);
    return true;
}

/* `balance#2` is the second object that was named balance. */
static bool may_be_watched(struct pt_debuginfo *info, const char *name, bool local)
{
    char *plain = pt_xstrdup(name);
    plain[strcspn(plain, "#")] = '\0';
    bool may = *plain && !pt_debuginfo_knows(info, plain) &&
               (pt_debuginfo_may_pass(info, "portent_watch", plain, false) ||
                (local && pt_debuginfo_may_pass(info, "portent_internal", name, false)));
    free(plain);
    return may;
}

/* `**x` as debug information is asked for it: x^^. The caller frees it. */
static char *suffixed(const char *path)
{
    struct pt_buf buf;
    size_t stars = strspn(path, "*");
    pt_buf_init(&buf);
    pt_buf_puts(&buf, path + stars);
    for (size_t i = 0; i < stars; i++)
        pt_buf_puts(&buf, "^");
    char *copy = pt_xstrdup(buf.text);
    pt_buf_release(&buf);
    return copy;
}

enum pt_status pt_resolve_var(struct pt_resolved *resolved, struct pt_debuginfo *info, const struct pt_varref *var,
                              bool local, struct pt_err *err)
{
    for (uint32_t i = 0; i < resolved->var_count; i++) {
        if (strcmp(resolved->vars[i].name, var->target) == 0) {
            resolved->vars[i].quiet &= local;
            return PT_OK;
        }
    }
    char *path = suffixed(var->path);
    size_t file_len = strlen(var->target) - strlen(var->path);
    char *file = file_len ? pt_xstrdup(var->target) : NULL;
    if (file)
        file[file_len - 1] = '\0'; /* the colon */
    struct pt_variable found;
    enum pt_status status = pt_debuginfo_find(info, file, path, &found, err);
    if (status == PT_OK) {
        struct pt_channel_var watched = {.name = var->target,
                                         .module = found.module,
                                         .offset = found.offset,
                                         .size = found.size,
                                         .type = found.type,
                                         .bit_offset = found.bit_offset,
                                         .bit_size = found.bit_size,
                                         .quiet = local,
                                         .link_count = found.link_count,
                                         .in_atomic = found.in_atomic};
        memcpy(watched.after, found.after, sizeof found.after);
        PT_PUSH(resolved->vars, resolved->var_count, resolved->var_cap, watched);
    } else if (!file && may_be_watched(info, var->path, local)) {
        status = PT_OK;
    } else if (!err->hint[0] && (file || !hint_local(info, path, err))) {
        hint_near(info, path, local, err);
    }
    free(path);
    free(file);
    return status;
}

/* Where the atomic structure begins that the variable lies in. */
static uint64_t atomic_place(const struct pt_channel_var *var)
{
    return (var->link_count ? var->after[var->link_count - 1] : var->offset) + 1 - var->in_atomic;
}

static bool in_one_atomic(const struct pt_channel_var *a, const struct pt_channel_var *b)
{
    bool links = a->link_count == b->link_count && a->module == b->module;
    if (!a->in_atomic || !b->in_atomic || !links || atomic_place(a) != atomic_place(b))
        return false;
    return !a->link_count ||
           (a->offset == b->offset && memcmp(a->after, b->after, (a->link_count - 1) * sizeof *a->after) == 0);
}

static const struct pt_channel_var *find_var(const struct pt_resolved *resolved, const char *name)
{
    for (uint32_t i = 0; i < resolved->var_count; i++)
        if (strcmp(resolved->vars[i].name, name) == 0)
            return &resolved->vars[i];
    return NULL;
}

enum pt_status pt_resolve_apart(const struct pt_resolved *resolved, const char *name, const char *other,
                                struct pt_err *err)
{
    const struct pt_channel_var *a = find_var(resolved, name), *b = find_var(resolved, other);
    if (!a || !b || a == b || !in_one_atomic(a, b))
        return PT_OK;
    (void)pt_err_set(
        err, PT_EINPUT,
        "'%s' and '%s' are parts of one atomic structure, which is stored in one step; events are about one "
        "variable each, so that a property of both would be judged in between, too",
        other, name);
    pt_err_hint(err, "let each property name one of them");
    return PT_EINPUT;
}

enum pt_status pt_resolve_text(struct pt_debuginfo *info, const char *function, const char *what, const char *name,
                               struct pt_err *err)
{
    struct pt_suggest suggest;
    if (pt_debuginfo_may_pass(info, function, name, true))
        return PT_OK;
    (void)pt_err_set(err, PT_EINPUT, "the program has no %s '%s': it never calls %s with that name", what, name,
                     function);
    pt_suggest_init(&suggest, name, strlen(name));
    pt_debuginfo_texts(info, function, offer_text, &suggest);
    if (suggest.best)
        pt_err_hint(err, "did you mean '%s'?", suggest.best);
    else
        pt_err_hint(err, "a library that the program opens later can be named with --module");
    return PT_EINPUT;
}

static enum pt_status resolve_event(struct pt_resolved *resolved, struct pt_debuginfo *info, const char *event,
                                    const struct pt_function_event *function, struct pt_err *err)
{
    if (function) {
        enum pt_status found = pt_resolve_function_event(resolved, info, function->base, function, err);
        if (found != PT_OK)
            return found;
        event = function->base;
    }
    for (uint32_t i = 0; i < resolved->event_count; i++) {
        if (strcmp(resolved->events[i], event) == 0)
            return PT_OK;
    }
    enum pt_status status = function ? PT_OK : pt_resolve_text(info, "portent_event", "user event", event, err);
    if (status == PT_OK)
        PT_PUSH(resolved->events, resolved->event_count, resolved->event_cap, event);
    return status;
}

bool pt_resolve_needed(const struct pt_analyse *analyse)
{
    for (uint32_t i = 0; i < analyse->input_count; i++) {
        uint32_t vars = 0, events = 0;
        if (analyse->inputs[i].monitor) {
            pt_monitor_vars(analyse->inputs[i].monitor, &vars);
            pt_monitor_events(analyse->inputs[i].monitor, &events);
        }
        const struct pt_property *property = analyse->inputs[i].property;
        if (vars || events || (property && (property->kind == PT_KIND_MTTL || property->kind == PT_KIND_RACE)))
            return true;
    }
    return false;
}

static enum pt_status resolve_input(struct pt_resolved *resolved, struct pt_debuginfo *info,
                                    const struct pt_analysis_input *input, struct pt_err *err)
{
    uint32_t var_count, event_count;
    const struct pt_varref *vars = pt_monitor_vars(input->monitor, &var_count);
    const char *const *events = pt_monitor_events(input->monitor, &event_count);
    for (uint32_t v = 0; v < var_count; v++) {
        enum pt_status status = pt_resolve_var(resolved, info, &vars[v], false, err);
        for (uint32_t before = 0; before < v && status == PT_OK; before++)
            status = pt_resolve_apart(resolved, vars[v].target, vars[before].target, err);
        if (status != PT_OK) {
            place_error(err, input->property, v, PT_NONE);
            pt_diag_hint_arrow(input->property ? input->property->text : "", vars[v].path, err);
            return status;
        }
    }
    for (uint32_t e = 0; e < pt_monitor_named_events(input->monitor); e++) {
        enum pt_status status =
            resolve_event(resolved, info, events[e], input->property ? input->property->functions[e] : NULL, err);
        if (status != PT_OK) {
            place_error(err, input->property, PT_NONE, e);
            return status;
        }
    }
    return PT_OK;
}

enum pt_status pt_resolve(const struct pt_analyse *analyse, struct pt_debuginfo *info, struct pt_resolved *ret_resolved,
                          struct pt_err *err)
{
    struct pt_resolved resolved = {0};
    for (uint32_t i = 0; i < analyse->input_count; i++) {
        if (!analyse->inputs[i].monitor)
            continue;
        enum pt_status status = resolve_input(&resolved, info, &analyse->inputs[i], err);
        if (status != PT_OK) {
            pt_resolved_release(&resolved);
            return status;
        }
    }
    enum pt_status status = pt_resolve_locals(analyse, info, &resolved, err);
    if (status == PT_OK)
        status = pt_resolve_races(analyse, info, &resolved, err);
    if (status != PT_OK) {
        pt_resolved_release(&resolved);
        return status;
    }
    *ret_resolved = resolved;
    return PT_OK;
}

/* The name that recordings of everything have for it; NULL: for all of it they have none. */
static const char *recorded_name(const struct pt_channel_var *var, struct pt_debuginfo *info)
{
    const char *name;
    struct pt_variable part;
    if (var->link_count || var->bit_size ||
        !pt_debuginfo_at(info, var->module ? var->module : "", var->offset, false, &name, &part))
        return NULL;
    return part.offset == var->offset && part.size == var->size && part.type == var->type ? name : NULL;
}

/* `file.c:n` and `n` are one where recordings need no file to tell it from others (pt_debuginfo_at). */
static bool is_called(const char *target, const char *name)
{
    size_t len = strlen(target), end = strlen(name);
    return strcmp(target, name) == 0 || (len > end + 1 && target[len - end - 1] == ':' &&
                                         target[len - end - 2] != ':' && strcmp(target + len - end, name) == 0);
}

enum pt_status pt_resolve_recorded(const struct pt_resolved *resolved, struct pt_debuginfo *info, const char *what,
                                   struct pt_err *err)
{
    for (uint32_t i = 0; i < resolved->var_count; i++) {
        const struct pt_channel_var *var = &resolved->vars[i];
        const char *name = recorded_name(var, info);
        if (name && is_called(var->name, name))
            continue;
        if (var->link_count)
            (void)pt_err_set(err, PT_EINPUT,
                             "'%s' goes through pointers, which recordings of everything (%s) do not follow", var->name,
                             what);
        else if (name)
            (void)pt_err_set(err, PT_EINPUT, "'%s' goes by the name '%s' in recordings of everything (%s)", var->name,
                             name, what);
        else
            (void)pt_err_set(
                err, PT_EINPUT,
                "recordings of everything (%s) have no variable that is '%s' alone: a union is one there, so are "
                "neighbouring bit-fields, and a text in an array is several",
                what, var->name);
        return PT_EINPUT;
    }
    return PT_OK;
}

void pt_resolved_release(struct pt_resolved *resolved)
{
    free(resolved->vars);
    free(resolved->events);
    pt_buf_release(&resolved->calls);
    free(resolved->block);
    free(resolved->functions);
    free(resolved->races);
    free(resolved->race_places);
    *resolved = (struct pt_resolved){0};
}
