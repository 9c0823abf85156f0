/*
 * Results read back: json_reader.c for the syntax, and here the members, each checked before it is used, so that every
 * finding that comes out is as sound as one from an engine: indices lie in their tables, lists that belong together
 * have the same length. Unknown members are ignored, so that newer results can be read. Cost: linear in the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/finding_key.h"
#include "finding/made.h"
#include "report/result_impl.h"

enum { MAX_PROPERTIES = 100000, MAX_SOURCE_ROOTS = 1000, MAX_PROCESSES = 100000 };

void rd_step(struct reading *r, const struct pt_json_node *object, const char *where, struct pt_step *step)
{
    const struct pt_json_node *value = pt_json_get(object, "value");
    *step = (struct pt_step){.var = PT_NONE};
    if (!pt_json_has_kind(object, PT_JSON_OBJECT))
        rd_fail(r, "an event of %s is not an object", where);
    step->thread = rd_string(r, object, where, "thread");
    step->op = rd_string(r, object, where, "op");
    step->object = rd_string(r, object, where, "object");
    step->loc = rd_string_or(r, object, where, "loc", "");
    step->source = rd_string_or(r, object, where, "source", NULL);
    if (value)
        step->value = rd_value(r, value);
}

struct pt_step *rd_steps(struct reading *r, const struct pt_json_node *list, const char *where)
{
    struct pt_step *steps = pt_arena_alloc(r->arena, (pt_json_count(list) + 1) * sizeof *steps);
    for (size_t i = 0; i < pt_json_count(list) && !r->failed; i++)
        rd_step(r, pt_json_at(list, i), where, &steps[i]);
    return steps;
}

void rd_schedule(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    const struct pt_json_node *schedule = rd_array(r, object, "a violation", "schedule");
    if (schedule && pt_json_count(schedule) >= INT32_MAX)
        rd_fail(r, "\"schedule\" is too long");
    if (!schedule || r->failed)
        return;
    finding->schedule = rd_steps(r, schedule, "a schedule");
    finding->schedule_count = (uint32_t)pt_json_count(schedule);
}

static uint64_t read_bound(struct reading *r, const struct pt_json_node *object, const char *key)
{
    const struct pt_json_node *value = pt_json_get(object, key);
    if (!value || (pt_json_is(value, PT_VALUE_STRING) && strcmp(value->value.s, "all") == 0))
        return PT_ALL;
    return rd_uint(r, object, "a property", key, INT64_MAX);
}

static void read_pinned(struct reading *r, const struct pt_json_node *object, struct pt_pinned *pinned)
{
    static const char where[] = "\"pinned\"";
    const struct pt_json_node *node = rd_object(r, object, "a property", "pinned");
    if (!node)
        return;
    *pinned = (struct pt_pinned){.counted = true,
                                 .reads = rd_uint(r, node, where, "reads", INT64_MAX),
                                 .of_reads = rd_uint(r, node, where, "of_reads", INT64_MAX),
                                 .sections = rd_uint(r, node, where, "sections", INT64_MAX),
                                 .of_sections = rd_uint(r, node, where, "of_sections", INT64_MAX),
                                 .unknown = rd_uint_or(r, node, where, "without_value", INT64_MAX, 0),
                                 .most = rd_string_or(r, node, where, "most", NULL)};
}

static void read_runs(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    const char *text = rd_string_or(r, object, "a property", "runs", "0");
    finding->runs_overflow = text[0] == '>';
    finding->runs = finding->runs_overflow ? UINT64_MAX : strtoull(text, NULL, 10);
}

static int word_index(struct reading *r, const char *word, const char *const *words, const char *what)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    rd_fail(r, "there is no %s \"%.40s\"", what, word);
    return 0;
}

static struct pt_binding *read_values(struct reading *r, const struct pt_json_node *values, uint32_t *ret_count)
{
    uint32_t count = pt_json_has_kind(values, PT_JSON_OBJECT) ? values->count : 0;
    struct pt_binding *bindings = pt_arena_alloc(r->arena, ((size_t)count + 1) * sizeof *bindings);
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_json_member *member = &values->members[i];
        bindings[i] = (struct pt_binding){.name = pt_arena_strndup(r->arena, member->key, strlen(member->key)),
                                          .value = rd_value(r, &member->value)};
    }
    *ret_count = count;
    return bindings;
}

static void read_witness_from(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    const struct pt_json_node *from = rd_object(r, object, "a property", "witness_from");
    if (!from)
        return;
    finding->witness_from = rd_uint(r, from, "witness_from", "events", INT64_MAX);
    finding->from_values = read_values(r, rd_object(r, from, "witness_from", "values"), &finding->from_count);
}

void rd_confirmation(struct reading *r, const struct pt_json_node *own, struct pt_finding *finding)
{
    struct pt_confirmation *c = &finding->confirmation;
    if (!pt_json_get(own, "confirmed"))
        return;
    finding->confirm = rd_bool_or(r, own, "a property", "confirmed", false) ? PT_CONFIRM_YES : PT_CONFIRM_NO;
    finding->not_reproduced = rd_string_or(r, own, "a property", "not_reproduced", NULL);
    c->end = rd_string_or(r, own, "a property", "program_end", NULL);
    const struct pt_json_node *failed = pt_json_get(own, "program_failed");
    if (failed && !pt_json_is(failed, PT_VALUE_UNKNOWN))
        c->own = rd_bool_or(r, own, "a property", "program_failed", false) ? PT_OWN_FAILED : PT_OWN_PASSED;
    rd_seen(r, own, finding);
}

/* A list of texts at the top, ended by NULL; NULL where there is none. */
static const char *const *read_words(struct reading *r, const struct pt_json_node *root, const char *key)
{
    const struct pt_json_node *list = rd_array(r, root, "the result", key);
    size_t size = pt_json_count(list);
    if (!list)
        return NULL;
    char where[40];
    snprintf(where, sizeof where, "a member of \"%s\"", key);
    const char **words = pt_arena_alloc(r->arena, (size + 1) * sizeof *words);
    for (size_t i = 0; i < size; i++)
        words[i] = rd_text(r, pt_json_at(list, i), where);
    return words;
}

static const struct pt_origin *read_origins(struct reading *r, const struct pt_json_node *own)
{
    const struct pt_json_node *list = rd_array(r, own, "a property", "origins");
    const struct pt_origin *first = NULL;
    for (size_t i = pt_json_count(list); i-- > 0 && !r->failed;) {
        struct pt_origin *origin = pt_arena_alloc(r->arena, sizeof *origin);
        *origin = (struct pt_origin){rd_string_or(r, pt_json_at(list, i), "an origin", "file", NULL),
                                     read_words(r, pt_json_at(list, i), "program"), first};
        first = origin;
    }
    return first;
}

/* `own`: where people's decisions stand. */
static void read_violation(struct reading *r, const struct pt_json_node *object, const struct pt_json_node *own,
                           struct pt_finding *finding)
{
    static const char *const hows[] = {"none", "observed", "predicted", "dead", "late", NULL};
    finding->how = (enum pt_how)word_index(
        r, rd_string(r, finding->builtin ? own : object, "a violated property", "how"), hows, "way to violate");
    finding->suppressed = rd_string_or(r, own, "a property", "suppressed", NULL);
    finding->known = rd_bool_or(r, own, "a property", "known", false);
    finding->times = (uint32_t)rd_uint_or(r, own, "a property", "times", UINT32_MAX, 0);
    finding->origins = read_origins(r, own);
    rd_confirmation(r, own, finding);
    if (finding->builtin)
        rd_check(r, own, finding);
    if (finding->builtin || strcmp(finding->kind, "within") == 0 || strcmp(finding->kind, "mttl") == 0)
        return; /* they have no witness, or one of their own */
    read_witness_from(r, object, finding);
    const struct pt_json_node *witness = pt_json_get(object, "witness");
    if (!pt_json_has_kind(witness, PT_JSON_ARRAY)) {
        finding->witness_lost = true;
        if (!finding->message)
            finding->message = "the result has none";
        return;
    }
    const struct pt_json_node *observed = rd_array(r, object, "a property", "observed");
    if (pt_json_count(witness) >= UINT32_MAX || pt_json_count(observed) != pt_json_count(witness))
        rd_fail(r, "\"witness\" and \"observed\" are not of the same length");
    if (r->failed)
        return;
    finding->witness_count = (uint32_t)pt_json_count(witness);
    finding->witness = rd_steps(r, witness, "a witness");
    finding->observed = rd_steps(r, observed, "an observed run");
    finding->actual = finding->observed; /* unless the detail knows more */
    finding->actual_count = finding->witness_count;
    rd_schedule(r, object, finding);
    rd_detail(r, object, finding);
}

/* mttl: "thread" with "at" as numbers, or "at" as objects with threads. */
static void read_locals(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    const struct pt_json_node *at = rd_array(r, object, "a property", "at");
    if (!at)
        return;
    size_t size = pt_json_count(at);
    const char *thread = rd_string_or(r, object, "a property", "thread", NULL);
    finding->at_each = !thread;
    finding->locals = pt_arena_alloc(r->arena, (size + 1) * sizeof *finding->locals);
    for (size_t i = 0; i < (thread ? 1 : size) && !r->failed; i++) {
        const struct pt_json_node *entry = pt_json_at(at, i),
                                  *states = thread ? at : rd_array(r, entry, "\"at\"", "states");
        struct pt_local *local = &finding->locals[finding->local_count++];
        local->thread = thread ? thread : rd_string(r, entry, "\"at\"", "thread");
        local->states = pt_arena_alloc(r->arena, (pt_json_count(states) + 1) * sizeof *local->states);
        for (size_t k = 0; k < pt_json_count(states); k++)
            local->states[local->state_count++] = rd_count(r, pt_json_at(states, k), "\"at\"");
    }
}

static void read_known(struct reading *r, const struct pt_json_node *object, struct pt_known *known)
{
    const struct pt_json_node *value = pt_json_get(object, "value");
    known->text = rd_string(r, object, "\"knew\"", "text");
    known->thread = rd_string(r, object, "\"knew\"", "thread");
    known->value = value ? rd_value(r, value) : (struct pt_value){0};
    known->state = rd_uint(r, object, "\"knew\"", "state", INT64_MAX);
    known->heard = rd_bool_or(r, object, "\"knew\"", "heard", true);
    if (known->state > 0)
        rd_step(r, pt_json_get(object, "event"), "\"knew\"", &known->from);
}

/* mttl: a violating state. */
static void read_first(struct reading *r, const struct pt_json_node *member, struct pt_finding *finding)
{
    struct pt_finding_first *first = &finding->first;
    const struct pt_json_node *knew;
    if (!member) {
        rd_fail(r, "a violated property of kind \"mttl\" has no \"first\"");
        return;
    }
    first->thread = rd_string(r, member, "\"first\"", "thread");
    first->state = rd_uint(r, member, "\"first\"", "state", INT64_MAX);
    if (first->state > 0)
        rd_step(r, pt_json_get(member, "event"), "\"first\"", &first->event);
    first->values = read_values(r, rd_object(r, member, "\"first\"", "values"), &first->value_count);
    knew = rd_array(r, member, "\"first\"", "knew");
    first->knew = pt_arena_alloc(r->arena, (pt_json_count(knew) + 1) * sizeof *first->knew);
    for (size_t i = 0; i < pt_json_count(knew) && !r->failed; i++)
        read_known(r, pt_json_at(knew, i), &first->knew[first->knew_count++]);
}

static const char *const *read_unseen(struct reading *r, const struct pt_json_node *object)
{
    const struct pt_json_node *list = rd_array(r, object, "a property", "unseen");
    size_t size = pt_json_count(list);
    if (!size)
        return NULL;
    const char **names = pt_arena_alloc(r->arena, (size + 1) * sizeof *names);
    for (size_t i = 0; i < size; i++)
        names[i] = rd_text(r, pt_json_at(list, i), "a name of \"unseen\"");
    return names;
}

static void read_figures(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    const struct pt_json_node *seconds = pt_json_get(object, "seconds");
    finding->order = rd_string_or(r, object, "a property", "order", "access");
    finding->wider = rd_string_or(r, object, "a property", "wider", NULL);
    finding->widen = rd_string_or(r, object, "a property", "widen", NULL);
    read_pinned(r, object, &finding->pinned);
    finding->relevant = rd_uint_or(r, object, "a property", "relevant", INT64_MAX, 0);
    finding->levels = rd_uint_or(r, object, "a property", "levels", INT64_MAX, 0);
    finding->states = rd_uint_or(r, object, "a property", "states", INT64_MAX, 0);
    finding->width = rd_uint_or(r, object, "a property", "width", INT64_MAX, 0);
    read_runs(r, object, finding);
    finding->window = read_bound(r, object, "window");
    finding->lookahead = read_bound(r, object, "lookahead");
    finding->complete = rd_bool_or(r, object, "a property", "complete", true);
    finding->controlled = rd_uint_or(r, object, "a property", "controlled_runs", INT64_MAX, 0);
    finding->unseen = read_unseen(r, object);
    finding->seconds = pt_json_is(seconds, PT_VALUE_FLOAT) ? seconds->value.d
                       : pt_json_is(seconds, PT_VALUE_INT) ? (double)seconds->value.i
                                                           : 0;
    finding->peak_bytes = rd_uint_or(r, object, "a property", "peak_bytes", INT64_MAX, 0);
}

/* A property's finding, or the one of its "more" or "findings" that is given; `again`: it has had one. */
static struct pt_finding *read_finding(struct reading *r, const struct pt_json_node *object,
                                       const struct pt_json_node *more, bool again)
{
    static const char *const verdicts[] = {"holds", "violated", "unknown", "error", NULL};
    struct pt_finding *finding = pt_finding_new();
    r->arena = &finding->arena;
    if (!pt_json_has_kind(object, PT_JSON_OBJECT))
        rd_fail(r, "a property is not an object");
    finding->property = rd_string(r, object, "a property", "name");
    finding->within.states = "{}"; /* texts are never NULL where the verdict may need them */
    finding->kind = rd_string(r, object, "a property", "kind");
    finding->text = rd_string_or(r, object, "a property", "text", "");
    finding->file = rd_string_or(r, object, "a property", "file", NULL);
    finding->line = (uint32_t)rd_uint_or(r, object, "a property", "line", UINT32_MAX, 0);
    finding->verdict =
        (enum pt_verdict)word_index(r, rd_string(r, object, "a property", "verdict"), verdicts, "verdict");
    finding->message = rd_string_or(r, object, "a property", "message", NULL);
    finding->monitorable = rd_bool_or(r, object, "a property", "monitorable", true);
    finding->builtin = pt_json_get(object, "findings") != NULL;
    read_figures(r, object, finding);
    if (!r->failed && strcmp(finding->kind, "within") == 0)
        rd_within(r, object, finding);
    if (finding->verdict == PT_VERDICT_VIOLATED && !r->failed) {
        read_violation(r, object, more ? more : object, finding);
        if (strcmp(finding->kind, "mttl") == 0)
            read_first(r, more ? more : rd_object(r, object, "a property", "first"), finding);
    }
    if (strcmp(finding->kind, "mttl") == 0 && !r->failed)
        read_locals(r, object, finding);
    finding->untold = again ? 0 : rd_uint_or(r, object, "a property", "untold", INT64_MAX, 0);
    if (again) { /* these are the property's, which has them once */
        finding->local_count = 0;
        finding->seconds = 0;
    }
    return finding;
}

static const struct pt_made *read_made(struct reading *r, const struct pt_json_node *root)
{
    const struct pt_json_node *object = pt_json_get(root, "made");
    if (!object)
        return NULL;
    struct pt_made *made = pt_arena_alloc(r->arena, sizeof *made);
    *made = (struct pt_made){.time = rd_string(r, object, "\"made\"", "time"),
                             .version = rd_string(r, object, "\"made\"", "version"),
                             .command = rd_string(r, object, "\"made\"", "command"),
                             .host = rd_string(r, object, "\"made\"", "host"),
                             .commit = rd_string_or(r, object, "\"made\"", "commit", NULL)};
    return made;
}

/* A property, or all that a built-in check found: each violation is a finding. */
static void read_property(struct reading *r, const struct pt_json_node *object, struct pt_result *result, size_t *cap)
{
    const struct pt_json_node *more = rd_array(r, object, "a property", "more"),
                              *found = rd_array(r, object, "a property", "findings");
    PT_PUSH(result->findings, result->count, *cap, read_finding(r, object, pt_json_at(found, 0), false));
    if (pt_json_count(more) > PT_FINDINGS_MAX || pt_json_count(found) > PT_CHECK_FINDINGS_MAX + 1)
        rd_fail(r, "\"%s\" has too many members", found ? "findings" : "more");
    if (result->findings[result->count - 1]->verdict != PT_VERDICT_VIOLATED)
        return;
    for (size_t k = 0; k < pt_json_count(more) && !found && !r->failed; k++)
        PT_PUSH(result->findings, result->count, *cap, read_finding(r, object, pt_json_at(more, k), true));
    for (size_t k = 1; k < pt_json_count(found) && !r->failed; k++)
        PT_PUSH(result->findings, result->count, *cap, read_finding(r, object, pt_json_at(found, k), true));
}

static void read_properties(struct reading *r, const struct pt_json_node *root, struct pt_loaded *loaded)
{
    struct pt_result *result = &loaded->result;
    const struct pt_json_node *list = rd_array(r, root, "the result", "properties");
    size_t size = pt_json_count(list);
    if (!list || size > MAX_PROPERTIES) {
        rd_fail(r, list ? "it has too many properties" : "the result has no \"properties\"");
        return;
    }
    const char *torn = rd_string_or(r, root, "the result", "torn", NULL);
    result->trace = rd_string(r, root, "the result", "trace");
    result->program = read_words(r, root, "program");
    result->ended = pt_json_get(root, "program_status") != NULL;
    result->program_status = (int)rd_uint_or(r, root, "a result", "program_status", 255, 0);
    result->events = rd_uint(r, root, "the result", "events", INT64_MAX);
    result->threads = rd_uint(r, root, "the result", "threads", INT64_MAX);
    result->torn = torn != NULL;
    snprintf(result->torn_message, sizeof result->torn_message, "%s", torn ? torn : "");
    size_t cap = 0;
    for (size_t i = 0; i < size && !r->failed; i++)
        read_property(r, pt_json_at(list, i), result, &cap);
    for (uint32_t i = 0; i < result->count; i++)
        for (uint32_t k = 0; k <= result->findings[i]->more_count; k++) {
            struct pt_finding *one = k ? result->findings[i]->more[k - 1] : result->findings[i];
            if (one->played)
                one->played->program = result->program;
        }
}

void pt_loaded_free(struct pt_loaded *loaded)
{
    while (loaded) {
        struct pt_loaded *next = loaded->merged;
        for (uint32_t i = 0; i < loaded->result.count; i++)
            pt_finding_free(loaded->result.findings[i]);
        free(loaded->result.findings);
        pt_arena_release(&loaded->arena);
        free(loaded);
        loaded = next;
    }
}

static void read_root(struct reading *r, const struct pt_json_node *root, const char *label, struct pt_loaded *loaded);

/* What is said of one process becomes a part of the whole; its findings name it. */
static void read_process(struct reading *r, const struct pt_json_node *object, const char *label,
                         struct pt_loaded *loaded)
{
    const struct pt_json_node *result = rd_object(r, object, "a process", "result");
    struct pt_buf name;
    if (!result || !pt_json_get(result, "properties")) {
        rd_fail(r, "a process has no \"result\" with \"properties\"");
        return;
    }
    pt_buf_init(&name);
    pt_buf_printf(&name, "process %llu (%s)", (unsigned long long)rd_uint(r, object, "a process", "pid", INT64_MAX),
                  rd_string(r, object, "a process", "program"));
    struct pt_loaded *own = pt_xcalloc(1, sizeof *own);
    pt_arena_init(&own->arena);
    r->arena = &own->arena;
    read_root(r, result, label, own);
    for (uint32_t i = 0; i < own->result.count; i++)
        own->result.findings[i]->process = pt_arena_strndup(&own->result.findings[i]->arena, name.text, name.len);
    pt_buf_release(&name);
    pt_loaded_merge(loaded, own);
    r->arena = &loaded->arena;
}

static void read_processes(struct reading *r, const struct pt_json_node *root, const char *label,
                           struct pt_loaded *loaded)
{
    const struct pt_json_node *list = rd_array(r, root, "the result", "processes");
    loaded->result.trace = rd_string(r, root, "the result", "trace");
    if (pt_json_count(list) > MAX_PROCESSES)
        rd_fail(r, "it has too many \"processes\"");
    for (size_t i = 0; i < pt_json_count(list) && !r->failed; i++)
        read_process(r, pt_json_at(list, i), label, loaded);
    loaded->is_list = pt_json_count(list) > 0;
}

static void read_root(struct reading *r, const struct pt_json_node *root, const char *label, struct pt_loaded *loaded)
{
    const struct pt_json_node *version = pt_json_get(root, "portent");
    if (!pt_json_has_kind(root, PT_JSON_OBJECT) || !pt_json_is_integer(version))
        rd_fail(r, "it has no \"portent\" with a version");
    else if (version->value.kind == PT_VALUE_UINT)
        rd_fail(r, "it has version %llu, and only version 1 is known here", (unsigned long long)version->value.u);
    else if (version->value.i != 1)
        rd_fail(r, "it has version %lld, and only version 1 is known here", (long long)version->value.i);
    else if (pt_json_get(root, "blocks") && !pt_json_get(root, "properties"))
        rd_model(r, root, label, loaded);
    else if (pt_json_get(root, "processes") && !pt_json_get(root, "properties"))
        read_processes(r, root, label, loaded);
    else
        read_properties(r, root, loaded);
    r->arena = &loaded->arena; /* a finding's own goes with it when results are merged */
    if (!r->failed && !loaded->is_model && pt_json_get(root, "blocks"))
        rd_blocks(r, root, loaded);
    if (!r->failed && !loaded->is_model)
        rd_explored(r, root, &loaded->result);
    loaded->result.made = read_made(r, root);
    loaded->result.source_roots = read_words(r, root, "source_roots");
    if (pt_json_count(pt_json_get(root, "source_roots")) > MAX_SOURCE_ROOTS)
        rd_fail(r, "it has too many \"source_roots\"");
}

enum pt_status pt_result_read(const char *label, const char *text, size_t len, struct pt_loaded **ret_loaded,
                              struct pt_err *err)
{
    struct pt_arena tree;
    const struct pt_json_node *root;
    pt_arena_init(&tree);
    enum pt_status status = pt_json_read(label, "not JSON, so not a result of portent", text, len, &tree, &root, err);
    if (status != PT_OK) {
        pt_arena_release(&tree);
        return status;
    }
    struct pt_loaded *loaded = pt_xcalloc(1, sizeof *loaded);
    pt_arena_init(&loaded->arena);
    struct reading r = {.arena = &loaded->arena};
    read_root(&r, root, label, loaded);
    pt_arena_release(&tree);
    if (r.failed) {
        pt_loaded_free(loaded);
        return pt_err_at(err, PT_EINPUT, label, 0, 0, "not a result of portent: %s", r.problem);
    }
    *ret_loaded = loaded;
    return PT_OK;
}
