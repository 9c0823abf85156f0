/*
 * portent model --net: reads a 1-safe net (PNML or ll_net), answers what it can reach (--cover, --reach, --deadlock),
 * and writes nets to files. The same questions about a program are about its net. An answer "yes" comes with a firing
 * sequence; a limit gives "unknown".
 */
#include "cli/model/net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/progress.h"
#include "base/suggest.h"
#include "net/model.h"
#include "net/netfile.h"
#include "report/json_writer.h"
#include "report/style.h"

enum pt_status pt_model_write(const char *path, const struct pt_buf *buf, struct pt_err *err)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return pt_err_at(err, PT_EIO, path, 0, 0, "cannot write '%s': %s", path, strerror(errno));
    bool written = fwrite(buf->text, 1, buf->len, file) == buf->len;
    int failure = errno;
    if (fclose(file) != 0 || !written)
        return pt_err_at(err, PT_EIO, path, 0, 0, "cannot write '%s': %s", path, strerror(written ? errno : failure));
    return PT_OK;
}

enum pt_status pt_model_export(const struct pt_net *net, const struct pt_net_exports *exports, struct pt_err *err)
{
    const struct {
        const char *path;
        void (*write)(const struct pt_net *net, struct pt_buf *buf);
    } files[] = {{exports->pnml, pt_pnml_write}, {exports->llnet, pt_llnet_write}, {exports->dot, pt_net_dot}};
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < sizeof files / sizeof *files && status == PT_OK; i++) {
        struct pt_buf buf;
        if (!files[i].path)
            continue;
        pt_buf_init(&buf);
        files[i].write(net, &buf);
        status = pt_model_write(files[i].path, &buf, err);
        pt_buf_release(&buf);
    }
    return status;
}

static enum pt_status read_net(const char *path, struct pt_net *net, struct pt_err *err)
{
    char *text;
    size_t len;
    enum pt_status status = pt_file_read(path, &text, &len, err);
    if (status != PT_OK)
        return status;
    /* A PEP file says so in its first line; everything else has to be XML. */
    bool pep = len >= 3 && memcmp(text, "PEP", 3) == 0;
    status = (pep ? pt_llnet_read : pt_pnml_read)(path, text, len, net, err);
    free(text);
    return status;
}

struct places {
    uint32_t *items, count;
    size_t cap;
};

static enum pt_status add_place(const struct pt_net *net, const char *name, size_t len, struct places *places,
                                struct pt_err *err)
{
    uint32_t place = pt_net_find_place(net, name, len);
    if (place != PT_NONE) {
        PT_PUSH(places->items, places->count, places->cap, place);
        return PT_OK;
    }
    struct pt_suggest suggest;
    pt_suggest_init(&suggest, name, len);
    for (uint32_t p = 0; p < net->place_count; p++) {
        if (net->places[p].name)
            pt_suggest_offer(&suggest, net->places[p].name);
    }
    (void)pt_err_set(err, PT_EUSAGE, "the net has no place '%.*s', or several", len < 100 ? (int)len : 100, name);
    if (suggest.best)
        pt_err_hint(err, "did you mean '%s'?", suggest.best);
    return PT_EUSAGE;
}

/* The places of --cover and --reach: an argument is one name, or, where no place has it, several with commas between
 * them; --reach takes an empty one, too: no place at all. */
static enum pt_status find_places(const struct pt_net *net, const struct pt_net_request *request, struct places *places,
                                  struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < request->place_count && status == PT_OK; i++) {
        const char *at = request->places[i];
        if (pt_net_find_place(net, at, strlen(at)) != PT_NONE) {
            status = add_place(net, at, strlen(at), places, err);
            continue;
        }
        for (bool more = *at || request->kind == PT_ASK_COVER; more && status == PT_OK;) {
            size_t len = strcspn(at, ",");
            status = add_place(net, at, len, places, err);
            more = at[len] == ',';
            at += len + more;
        }
    }
    if (status == PT_OK && places->count)
        places->count = pt_sort_distinct(places->items, places->count);
    return status;
}

/* --- Answers --------------------------------------------------------------------------------------------------- */

/* How each question is called, and its answers. */
static const struct {
    const char *asked, *key, *yes, *no;
} words[] = {
    [PT_ASK_NOTHING] = {"cover", NULL, "", ""},
    [PT_ASK_COVER] = {"cover", "coverable", "coverable, by firing", "not coverable"},
    [PT_ASK_REACH] = {"reach", "reachable", "reachable, by firing", "not reachable"},
    [PT_ASK_DEADLOCK] = {NULL, "deadlock", "possible, by firing", "impossible"},
};

/* What was asked of a net, and what came out. */
struct outcome {
    const struct pt_net_request *request;
    const struct pt_net *net;
    struct places places;
    struct pt_answer answer;
    bool unknown;
    const char *why;    /* it is unknown */
    const char *caveat; /* what a firing sequence does not prove; NULL: nothing */
};

static void put_marking(struct pt_json *json, const struct outcome *o)
{
    pt_json_open(json, "marking", '[');
    for (uint32_t p = 0; o->answer.marked && p < o->net->place_count; p++) {
        if (o->answer.marked[p])
            pt_json_string(json, NULL, o->net->places[p].name);
    }
    pt_json_close(json, ']');
}

static void put_json(const struct outcome *o, double seconds, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    enum pt_question_kind kind = o->request->kind;
    pt_json_open(&json, NULL, '{');
    pt_json_uint(&json, "portent", 1);
    if (words[kind].asked) {
        pt_json_open(&json, words[kind].asked, '[');
        for (uint32_t i = 0; i < o->places.count; i++)
            pt_json_string(&json, NULL, o->net->places[o->places.items[i]].name);
        pt_json_close(&json, ']');
    }
    if (words[kind].key && o->unknown)
        pt_json_null(&json, words[kind].key);
    else if (words[kind].key)
        pt_json_bool(&json, words[kind].key, o->answer.found);
    pt_json_open(&json, "witness", '[');
    for (uint32_t i = 0; i < o->answer.firing_count; i++)
        pt_json_string(&json, NULL, o->net->transitions[o->answer.firings[i]].name);
    pt_json_close(&json, ']');
    if (kind == PT_ASK_DEADLOCK)
        put_marking(&json, o);
    if (o->unknown)
        pt_json_string(&json, "message", o->why);
    else if (o->caveat)
        pt_json_string(&json, "message", o->caveat);
    pt_json_open(&json, "net", '{');
    pt_json_uint(&json, "places", o->net->place_count);
    pt_json_uint(&json, "transitions", o->net->transition_count);
    pt_json_close(&json, '}');
    pt_json_open(&json, "unfolding", '{');
    pt_json_uint(&json, "conditions", o->answer.conditions);
    pt_json_uint(&json, "events", o->answer.events);
    pt_json_uint(&json, "histories", o->answer.histories);
    pt_json_uint(&json, "cutoffs", o->answer.cutoffs);
    pt_json_close(&json, '}');
    if (kind == PT_ASK_DEADLOCK)
        pt_json_uint(&json, "traps", o->answer.traps);
    pt_json_seconds(&json, "seconds", seconds);
    pt_json_uint(&json, "peak_bytes", o->answer.peak_bytes);
    pt_json_close(&json, '}');
    pt_buf_puts(buf, "\n");
}

static void put_clean(struct pt_buf *buf, const char *name)
{
    pt_style_clean(buf, name, strlen(name));
}

/* What the question was about: the places, or "deadlock". */
static void put_subject(const struct outcome *o, struct pt_buf *buf)
{
    if (o->request->kind == PT_ASK_DEADLOCK)
        pt_buf_puts(buf, "deadlock");
    else if (o->places.count == 0)
        pt_buf_puts(buf, "no place marked");
    for (uint32_t i = 0; i < o->places.count && o->request->kind != PT_ASK_DEADLOCK; i++) {
        pt_buf_puts(buf, i == 0 ? "" : ", ");
        put_clean(buf, o->net->places[o->places.items[i]].name);
    }
    if (o->request->kind == PT_ASK_REACH && o->places.count)
        pt_buf_puts(buf, " and no other place");
}

static void put_text(const struct outcome *o, struct pt_buf *buf)
{
    enum pt_question_kind kind = o->request->kind;
    if (kind != PT_ASK_NOTHING) {
        put_subject(o, buf);
        pt_buf_printf(buf, ": %s\n", o->unknown ? "unknown" : o->answer.found ? words[kind].yes : words[kind].no);
    }
    for (uint32_t i = 0; i < o->answer.firing_count; i++) {
        pt_buf_puts(buf, "  ");
        put_clean(buf, o->net->transitions[o->answer.firings[i]].name);
        pt_buf_puts(buf, "\n");
    }
    if (kind == PT_ASK_DEADLOCK && o->answer.found) {
        pt_buf_puts(buf, "marked then:");
        for (uint32_t p = 0; p < o->net->place_count; p++) {
            if (o->answer.marked[p]) {
                pt_buf_puts(buf, " ");
                put_clean(buf, o->net->places[p].name);
            }
        }
        pt_buf_puts(buf, "\n");
    }
    if (o->caveat)
        pt_buf_printf(buf, "%s\n", o->caveat);
    pt_buf_printf(buf, "%u places, %u transitions; ", o->net->place_count, o->net->transition_count);
    if (!o->answer.unfolded) {
        pt_buf_printf(buf, "not unfolded: %u trap%s of the net show%s it%s%s\n", o->answer.traps,
                      o->answer.traps == 1 ? "" : "s", o->answer.traps == 1 ? "s" : "", o->unknown ? "; " : "",
                      o->unknown ? o->why : "");
        return;
    }
    pt_buf_printf(buf, "unfolding: %llu events", (unsigned long long)o->answer.events);
    if (o->answer.histories != o->answer.events)
        pt_buf_printf(buf, " with %llu histories", (unsigned long long)o->answer.histories);
    pt_buf_printf(buf, ", %llu of them cut-offs%s%s\n", (unsigned long long)o->answer.cutoffs, o->unknown ? "; " : "",
                  o->unknown ? o->why : "");
}

static int print(const struct outcome *o, uint64_t started)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (o->request->json)
        put_json(o, (double)(pt_progress_now() - started) / 1e9, &buf);
    else if (!o->request->quiet)
        put_text(o, &buf);
    bool ok = pt_output(&buf);
    pt_buf_release(&buf);
    if (!ok)
        return PT_EXIT_BAD;
    return o->answer.found ? PT_EXIT_VIOLATED : o->unknown ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
}

/* Names that are missing are made up, so that everything can be named in what is printed. */
static void name_all(struct pt_net *net)
{
    struct pt_buf label;
    pt_buf_init(&label);
    for (uint32_t p = 0; p < net->place_count; p++) {
        if (!net->places[p].name)
            pt_net_name_place(net, p, pt_net_label(&label, NULL, 'p', p));
    }
    for (uint32_t t = 0; t < net->transition_count; t++) {
        const char *made = pt_net_label(&label, NULL, 't', t);
        if (!net->transitions[t].name)
            net->transitions[t].name = pt_arena_strndup(&net->arena, made, strlen(made));
    }
    pt_buf_release(&label);
}

/* A net's answer may be less than one about the program that it was made from: if it is no, if it is yes. */
struct reservations {
    const char *hidden, *caveat; /* NULL: none */
};

/* Asks and prints. `places` are taken over. */
static int answer(const struct pt_net_request *request, struct pt_net *net, struct places places,
                  struct reservations about, uint64_t started)
{
    struct outcome o = {.request = request, .net = net, .places = places};
    struct pt_progress progress;
    struct pt_err err;
    int exit = PT_EXIT_BAD;
    pt_progress_init(&progress, !request->quiet);
    struct pt_question question = {.kind = request->kind,
                                   .places = places.items,
                                   .place_count = places.count,
                                   .unfold = request->plain,
                                   .plain = request->plain,
                                   .event_limit = request->event_limit,
                                   .memory_limit = request->memory_limit,
                                   .progress = pt_progress_events,
                                   .progress_context = &progress};
    enum pt_status status = pt_net_ask(net, &question, &o.answer, &err);
    pt_progress_clear(&progress);
    if (status != PT_OK) {
        const struct pt_err bare = err;
        if (!err.file[0])
            (void)pt_err_at(&err, status, request->file, 0, 0, "%s", bare.message);
        pt_diag_error(&err);
    } else {
        o.why = o.answer.limit.status != PT_OK ? o.answer.limit.message : about.hidden;
        o.unknown = o.why && !o.answer.found;
        o.caveat = o.answer.found ? about.caveat : NULL;
        exit = print(&o, started);
        pt_answer_release(&o.answer);
    }
    free(places.items);
    return exit;
}

int pt_model_net(const struct pt_net_request *request)
{
    uint64_t started = pt_progress_now();
    struct pt_net net;
    struct places places = {0};
    struct pt_err err;
    int exit = PT_EXIT_BAD;
    pt_net_init(&net);
    enum pt_status status = read_net(request->file, &net, &err);
    if (status == PT_OK) {
        name_all(&net);
        status = find_places(&net, request, &places, &err);
    }
    if (status == PT_OK)
        status = pt_model_export(&net, &request->exports, &err);
    if (status == PT_OK) {
        exit = answer(request, &net, places, (struct reservations){0}, started);
    } else {
        free(places.items);
        pt_diag_error(&err);
    }
    pt_net_release(&net);
    return exit;
}

int pt_model_ask(const struct pt_net_request *request, const struct pt_program *program, bool hides)
{
    uint64_t started = pt_progress_now();
    struct pt_model model;
    struct places places = {0};
    struct pt_err err;
    int exit = PT_EXIT_BAD;
    struct reservations about = {
        .caveat = "in the model, in which a branch on a variable may go either way: values may rule it out"};
    pt_model_init(&model);
    pt_model_build(program, (struct pt_model_options){.names = true}, &model);
    enum pt_status status = PT_OK;
    if (request->kind == PT_ASK_DEADLOCK) { /* a program that has ended is dead, too, and that is no deadlock */
        places.items = pt_model_waiting(program, &places.count);
        if (hides)
            about.hidden = "none was found, but branches on values that one thread alone sees are not in the model";
    } else {
        status = find_places(&model.net, request, &places, &err);
    }
    if (status == PT_OK) {
        exit = answer(request, &model.net, places, about, started);
    } else {
        free(places.items);
        pt_diag_error(&err);
    }
    pt_model_release(&model);
    return exit;
}
