/*
 * portent model --net: reads a 1-safe net (PNML or ll_net), answers whether places can be marked at once, and writes
 * nets to files. An answer "yes" comes with a firing sequence; a limit gives "unknown". Output files appear under
 * their names only when they are whole.
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
#include "net/netfile.h"
#include "net/question.h"
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

/* The places of --cover: an argument is one name, or, where no place has it, several with commas between them. */
static enum pt_status find_places(const struct pt_net *net, const struct pt_net_request *request, struct places *places,
                                  struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < request->cover_count && status == PT_OK; i++) {
        const char *at = request->covers[i];
        if (pt_net_find_place(net, at, strlen(at)) != PT_NONE) {
            status = add_place(net, at, strlen(at), places, err);
            continue;
        }
        for (bool more = true; more && status == PT_OK;) {
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

static void put_json(const struct pt_net *net, const struct places *places, const struct pt_answer *answer,
                     double seconds, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    bool unknown = answer->limit.status != PT_OK && !answer->coverable;
    pt_json_open(&json, NULL, '{');
    pt_json_uint(&json, "portent", 1);
    pt_json_open(&json, "cover", '[');
    for (uint32_t i = 0; i < places->count; i++)
        pt_json_string(&json, NULL, net->places[places->items[i]].name);
    pt_json_close(&json, ']');
    if (places->count && unknown)
        pt_json_null(&json, "coverable");
    else if (places->count)
        pt_json_bool(&json, "coverable", answer->coverable);
    pt_json_open(&json, "witness", '[');
    for (uint32_t i = 0; i < answer->firing_count; i++)
        pt_json_string(&json, NULL, net->transitions[answer->firings[i]].name);
    pt_json_close(&json, ']');
    if (unknown)
        pt_json_string(&json, "message", answer->limit.message);
    pt_json_open(&json, "net", '{');
    pt_json_uint(&json, "places", net->place_count);
    pt_json_uint(&json, "transitions", net->transition_count);
    pt_json_close(&json, '}');
    pt_json_open(&json, "unfolding", '{');
    pt_json_uint(&json, "conditions", answer->conditions);
    pt_json_uint(&json, "events", answer->events);
    pt_json_uint(&json, "cutoffs", answer->cutoffs);
    pt_json_close(&json, '}');
    pt_json_seconds(&json, "seconds", seconds);
    pt_json_uint(&json, "peak_bytes", answer->peak_bytes);
    pt_json_close(&json, '}');
    pt_buf_puts(buf, "\n");
}

static void put_names(const struct pt_net *net, const struct places *places, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < places->count; i++) {
        const char *name = net->places[places->items[i]].name;
        pt_buf_puts(buf, i == 0 ? "" : ", ");
        pt_style_clean(buf, name, strlen(name));
    }
}

static void put_text(const struct pt_net *net, const struct places *places, const struct pt_answer *answer,
                     struct pt_buf *buf)
{
    bool unknown = answer->limit.status != PT_OK && !answer->coverable;
    if (places->count) {
        put_names(net, places, buf);
        pt_buf_puts(buf, unknown              ? ": unknown\n"
                         : !answer->coverable ? ": not coverable\n"
                                              : ": coverable, by firing\n");
    }
    for (uint32_t i = 0; i < answer->firing_count; i++) {
        const char *name = net->transitions[answer->firings[i]].name;
        pt_buf_puts(buf, "  ");
        pt_style_clean(buf, name, strlen(name));
        pt_buf_puts(buf, "\n");
    }
    pt_buf_printf(buf, "%u places, %u transitions; unfolding: %llu events, %llu of them cut-offs%s%s\n",
                  net->place_count, net->transition_count, (unsigned long long)answer->events,
                  (unsigned long long)answer->cutoffs, unknown ? "; " : "", unknown ? answer->limit.message : "");
}

static int print(const struct pt_net_request *request, const struct pt_net *net, const struct places *places,
                 const struct pt_answer *answer, uint64_t started)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (request->json)
        put_json(net, places, answer, (double)(pt_progress_now() - started) / 1e9, &buf);
    else if (!request->quiet)
        put_text(net, places, answer, &buf);
    bool ok = pt_output(&buf);
    pt_buf_release(&buf);
    if (!ok)
        return PT_EXIT_BAD;
    return answer->coverable ? PT_EXIT_VIOLATED : answer->limit.status != PT_OK ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
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

int pt_model_net(const struct pt_net_request *request)
{
    uint64_t started = pt_progress_now();
    struct pt_net net;
    struct places places = {0};
    struct pt_answer answer;
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
        struct pt_progress progress;
        pt_progress_init(&progress, !request->quiet);
        struct pt_question question = {.places = places.items,
                                       .place_count = places.count,
                                       .event_limit = request->event_limit,
                                       .memory_limit = request->memory_limit,
                                       .progress = pt_progress_events,
                                       .progress_context = &progress};
        status = pt_net_cover(&net, &question, &answer, &err);
        pt_progress_clear(&progress);
        if (status != PT_OK && !err.file[0]) {
            const struct pt_err bare = err;
            (void)pt_err_at(&err, status, request->file, 0, 0, "%s", bare.message);
        }
    }
    if (status != PT_OK) {
        pt_diag_error(&err);
    } else {
        exit = print(request, &net, &places, &answer, started);
        free(answer.firings);
    }
    free(places.items);
    pt_net_release(&net);
    return exit;
}
