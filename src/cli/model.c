/*
 * portent model: causal atomicity of the marked blocks of a program, for all its runs. Reads SML, or C through
 * portent-cfront, has net/atomicity.c decide, and prints the verdicts; questions about nets (--net, --cover, --reach,
 * --deadlock) are answered instead. The
 * exit status is that of the worst block. Time and memory are those of the unfolding; a limit makes a block unknown,
 * never wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/table.h"
#include "cli/common/analyse.h"
#include "cli/model/cfront.h"
#include "cli/model/doubt.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/model/net.h"
#include "cli/model/output.h"
#include "cli/common/progress.h"
#include "cli/common/triage.h"
#include "cli/common/whatis.h"
#include "net/model.h"
#include "net/sml.h"

enum {
    OPT_ALL,
    OPT_PLAIN,
    OPT_CONTEXTUAL,
    OPT_JOBS,
    OPT_EVENT_LIMIT,
    OPT_MEMORY_LIMIT,
    OPT_DOT,
    OPT_SVG,
    OPT_NET,
    OPT_COVER,
    OPT_REACH,
    OPT_DEADLOCK,
    OPT_PNML,
    OPT_LL_NET,
    OPT_NET_DOT,
    OPT_UNROLL,
    OPT_INCLUDE,
    OPT_DEFINE,
    OPT_CC_ARG,
    OPT_SUPPRESSIONS,
    OPT_BASELINE,
    OPT_JSON,
    OPT_COLOR,
    OPT_QUIET,
};

static const struct pt_option options_table[] = {
    [OPT_ALL] = {"all", 0, NULL, NULL, "look for every step of a block that can come after another thread's"},
    [OPT_PLAIN] = {"plain", 0, NULL, NULL, "unfold the paper's net, or that of --net, as it is, without any reduction"},
    [OPT_CONTEXTUAL] = {"contextual", 0, NULL, NULL, "the same with one place per variable, which reads only read"},
    [OPT_JOBS] = PT_OPTION_JOBS,
    [OPT_EVENT_LIMIT] = {"event-limit", 0, "N", NULL, "give up, as unknown, when an unfolding has N events"},
    [OPT_MEMORY_LIMIT] = {"memory-limit", 0, "SIZE", NULL,
                          "give up, as unknown, when unfolding needs more (K, M, G: powers of 1024)"},
    [OPT_DOT] = {"dot", 0, "FILE", NULL, "write the first violation to FILE as a graph for Graphviz"},
    [OPT_SVG] = {"svg", 0, "FILE", NULL, "write the first violation to FILE as a drawing"},
    [OPT_NET] = {"net", 0, "FILE", NULL, "read a 1-safe Petri net (PNML or .ll_net) instead of a program"},
    [OPT_COVER] = {"cover", 0, "PLACE[,PLACE]", NULL, "can these places of the net be marked at once?"},
    [OPT_REACH] = {"reach", 0, "PLACE[,PLACE]", NULL, "can these places be marked at once, and no others?"},
    [OPT_DEADLOCK] = {"deadlock", 0, NULL, NULL, "can the net get where no transition is enabled?"},
    [OPT_PNML] = {"pnml", 0, "FILE", NULL, "write the net to FILE as PNML"},
    [OPT_LL_NET] = {"ll-net", 0, "FILE", NULL, "write the net to FILE in PEP's low-level format"},
    [OPT_NET_DOT] = {"net-dot", 0, "FILE", NULL, "write the net to FILE as a graph for Graphviz"},
    [OPT_UNROLL] = {"unroll", 0, "N", NULL, "C: the most rounds of a loop that starts or joins threads (default 16)"},
    [OPT_INCLUDE] = {NULL, 'I', "DIR", NULL, "C: look for headers in DIR, as clang does"},
    [OPT_DEFINE] = {NULL, 'D', "NAME[=VALUE]", NULL, "C: define a macro, as clang does"},
    [OPT_CC_ARG] = {"cc-arg", 0, "ARG", NULL, "C: any other argument for clang"},
    [OPT_SUPPRESSIONS] = PT_OPTION_SUPPRESSIONS,
    [OPT_BASELINE] = PT_OPTION_BASELINE,
    [OPT_JSON] = {"json", 0, NULL, NULL, "print one JSON object instead of text"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "no text report: the exit status tells"},
    {0},
};

struct request {
    struct pt_atomicity_options check;
    bool json, quiet;
    bool suppresses_finding;
    struct pt_triage triage;
    struct pt_style style;
    const char *dot, *svg;
    struct pt_net_exports exports;
    const char *net;
    enum pt_question_kind kind; /* of the question about the net */
    uint32_t kind_count;        /* different ones that were asked */
    const char **places;        /* of the question */
    uint32_t place_count;
    size_t place_cap;
    const char *const *files;
    uint32_t file_count;
    uint32_t unroll;
    const char **clang; /* arguments */
    size_t clang_count, clang_cap;
};

static bool add_clang(struct request *request, const char *option, const char *argument)
{
    if (option)
        PT_PUSH(request->clang, request->clang_count, request->clang_cap, option);
    PT_PUSH(request->clang, request->clang_count, request->clang_cap, argument);
    return true;
}

/* Options that name a file to write. */
static const char **output_file(struct request *request, uint32_t index)
{
    switch (index) {
    case OPT_DOT:
        return &request->dot;
    case OPT_SVG:
        return &request->svg;
    case OPT_PNML:
        return &request->exports.pnml;
    case OPT_LL_NET:
        return &request->exports.llnet;
    case OPT_NET_DOT:
        return &request->exports.dot;
    default:
        return NULL;
    }
}

static bool set_limit(struct request *request, uint32_t index, const char *argument)
{
    uint64_t count;
    switch (index) {
    case OPT_JOBS:
        if (!pt_parse_count("jobs", argument, 1024, &count))
            return false;
        request->check.jobs = (uint32_t)count;
        return true;
    case OPT_UNROLL:
        if (!pt_parse_count("unroll", argument, 4096, &count))
            return false;
        request->unroll = (uint32_t)count;
        return true;
    case OPT_EVENT_LIMIT:
        return pt_parse_count("event-limit", argument, UINT32_MAX, &request->check.event_limit);
    default:
        return pt_parse_size("memory-limit", argument, &request->check.memory_limit);
    }
}

/* A question about the net. */
static bool ask(struct request *request, enum pt_question_kind kind, const char *places)
{
    request->kind_count += request->kind != kind;
    request->kind = kind;
    if (places)
        PT_PUSH(request->places, request->place_count, request->place_cap, places);
    return true;
}

static bool set_option(struct request *request, uint32_t index, const char *argument)
{
    const char **output = output_file(request, index);
    if (output) {
        *output = argument;
        return true;
    }
    switch (index) {
    case OPT_ALL:
        return request->check.all = true;
    case OPT_PLAIN:
        return request->check.plain = true;
    case OPT_CONTEXTUAL:
        return request->check.plain = request->check.contextual = true;
    case OPT_NET:
        request->net = argument;
        return true;
    case OPT_COVER:
        return ask(request, PT_ASK_COVER, argument);
    case OPT_REACH:
        return ask(request, PT_ASK_REACH, argument);
    case OPT_DEADLOCK:
        return ask(request, PT_ASK_DEADLOCK, NULL);
    case OPT_INCLUDE:
        return add_clang(request, "-I", argument);
    case OPT_DEFINE:
        return add_clang(request, "-D", argument);
    case OPT_CC_ARG:
        return add_clang(request, NULL, argument);
    case OPT_SUPPRESSIONS:
    case OPT_BASELINE: /* pt_triage_load reads them */
        return request->suppresses_finding = true;
    case OPT_JSON:
        return request->json = true;
    case OPT_COLOR:
        request->style = pt_analyse_style(STDOUT_FILENO, argument);
        return true;
    case OPT_QUIET:
        return request->quiet = true;
    default:
        return set_limit(request, index, argument);
    }
}

/* What does not go together. */
static bool check_options(const struct request *request)
{
    const struct pt_atomicity_options *check = &request->check;
    bool about_net = request->net || request->kind != PT_ASK_NOTHING;
    if (request->net && request->file_count > 0)
        pt_diag_usage("model", "--net takes the place of a program");
    else if (about_net && (check->all || check->contextual || request->dot || request->svg))
        pt_diag_usage("model", "--all, --contextual, --dot and --svg are about blocks of a program, not about a net");
    else if (about_net && request->suppresses_finding)
        pt_diag_usage("model", "--suppressions and --baseline are about blocks of a program, not about a net");
    else if (request->kind_count > 1)
        pt_diag_usage("model", "--cover, --reach and --deadlock are different questions: ask one at a time");
    else if (!request->net && request->file_count == 0)
        pt_diag_usage("model", "a program is missing: FILE.sml or FILE.c");
    else
        return true;
    return false;
}

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    *request = (struct request){.check.jobs = 1, .files = parsed->operands, .file_count = parsed->operand_count};
    pt_triage_init(&request->triage);
    request->unroll = PT_CFRONT_UNROLL;
    request->style = pt_analyse_style(STDOUT_FILENO, "auto");
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        if (!set_option(request, parsed->options[i].index, parsed->options[i].argument))
            return false;
    }
    return check_options(request);
}

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n > m && strcmp(text + n - m, ending) == 0;
}

static bool is_c(const char *path)
{
    return ends_with(path, ".c") || ends_with(path, ".i");
}

static struct pt_cfront_sources sources_of(const struct request *request)
{
    return (struct pt_cfront_sources){.files = request->files,
                                      .file_count = request->file_count,
                                      .arguments = request->clang,
                                      .argument_count = request->clang_count,
                                      .unroll = request->unroll};
}

static enum pt_status load_c(const struct request *request, struct pt_program *program, struct pt_err *err)
{
    struct pt_cfront_sources sources = sources_of(request);
    for (uint32_t i = 0; i < request->file_count; i++)
        if (ends_with(request->files[i], ".sml"))
            return pt_err_at(err, PT_EUSAGE, request->files[i], 0, 0, "C and SML do not go together");
    return pt_cfront_read(&sources, program, err);
}

static enum pt_status load_program(const struct request *request, struct pt_program *program, struct pt_err *err)
{
    const char *path = request->files[0];
    if (is_c(path))
        return load_c(request, program, err);
    if (request->file_count > 1)
        return pt_err_set(err, PT_EUSAGE, "an SML program is one file");
    char *text;
    size_t len;
    enum pt_status status = pt_file_read(path, &text, &len, err);
    if (status != PT_OK)
        return status;
    status = pt_sml_parse(path, text, len, program, err);
    free(text);
    if (status != PT_OK)
        pt_whatis_mend(path, PT_FILE_MODEL, err);
    return status;
}

static int exit_status(const struct pt_model_reported *reported)
{
    int status = PT_EXIT_HOLDS;
    for (uint32_t b = 0; b < reported->program->block_count; b++) {
        if (pt_block_counts(&reported->blocks[b]))
            return PT_EXIT_VIOLATED;
        if (reported->blocks[b].unknown)
            status = PT_EXIT_UNKNOWN;
    }
    return status;
}

static int print(struct request *request, const struct pt_program *program, const struct pt_atomicity *result,
                 uint64_t started)
{
    struct pt_model_figures figures = {.seconds = (double)(pt_progress_now() - started) / 1e9,
                                       .peak_bytes = result->peak_bytes + program->arena.bytes};
    struct pt_model_reported reported = {program, result, pt_model_blocks(program, result), {0}};
    for (uint32_t b = 0; b < program->block_count; b++)
        pt_triage_block(&request->triage, &reported.blocks[b]);
    pt_triage_apply(&request->triage, &reported.suppressions);
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (request->json)
        pt_model_json(&reported, request->check.all, &figures, &buf);
    else if (!request->quiet)
        pt_model_text(&reported, &request->style, &buf);
    int exit = pt_output(&buf) ? exit_status(&reported) : PT_EXIT_BAD;
    pt_buf_release(&buf);
    free(reported.blocks);
    return exit;
}

/* The paper's net of the program, to the files that were asked for. */
static enum pt_status export_net(const struct request *request, const struct pt_program *program, struct pt_err *err)
{
    struct pt_model model;
    if (!request->exports.pnml && !request->exports.llnet && !request->exports.dot)
        return PT_OK;
    pt_model_init(&model);
    pt_model_build(program, (struct pt_model_options){.variables = true, .names = true}, &model);
    enum pt_status status = pt_model_export(&model.net, &request->exports, err);
    pt_model_release(&model);
    return status;
}

static enum pt_status draw(const struct request *request, const struct pt_program *program, uint32_t block,
                           const struct pt_witness *witness, struct pt_err *err)
{
    struct pt_buf title, buf;
    enum pt_status status = PT_OK;
    pt_buf_init(&title);
    pt_buf_printf(&title, "block %u of %s is not causally atomic", program->blocks[block].number,
                  program->threads[program->blocks[block].thread].name);
    for (uint32_t i = 0; i < 2 && status == PT_OK; i++) {
        const char *path = i == 0 ? request->dot : request->svg;
        if (!path)
            continue;
        pt_buf_init(&buf);
        (i == 0 ? pt_witness_dot : pt_witness_svg)(program, witness, title.text, &buf);
        status = pt_model_write(path, &buf, err);
        pt_buf_release(&buf);
    }
    pt_buf_release(&title);
    return status;
}

/* The first violation to the files that were asked for; where there is none, that is said. */
static enum pt_status export_witness(const struct request *request, const struct pt_program *program,
                                     const struct pt_atomicity *result, struct pt_err *err)
{
    if (!request->dot && !request->svg)
        return PT_OK;
    for (uint32_t b = 0; b < program->block_count; b++) {
        if (result->blocks[b].witness_count > 0)
            return draw(request, program, b, &result->blocks[b].witnesses[0], err);
    }
    (void)pt_err_set(err, PT_OK, "there is no violation to draw: '%s' is not written",
                     request->dot ? request->dot : request->svg);
    pt_diag_warning(err);
    return PT_OK;
}

static struct pt_net_request net_request(const struct request *request, const char *file)
{
    return (struct pt_net_request){.file = file,
                                   .kind = request->kind,
                                   .places = request->places,
                                   .place_count = request->place_count,
                                   .plain = request->check.plain,
                                   .exports = request->exports,
                                   .event_limit = request->check.event_limit,
                                   .memory_limit = request->check.memory_limit,
                                   .json = request->json,
                                   .quiet = request->quiet};
}

/* A question about the net of a program. */
static int ask_program(const struct request *request)
{
    struct pt_net_request net = net_request(request, request->files[0]);
    struct pt_program program;
    struct pt_err err;
    int exit = PT_EXIT_BAD;
    pt_program_init(&program);
    enum pt_status status = load_program(request, &program, &err);
    if (status == PT_OK)
        status = export_net(request, &program, &err);
    if (status == PT_OK) {
        exit = pt_model_ask(&net, &program, is_c(request->files[0]));
    } else {
        pt_file_show_line(err.file, &err);
        pt_diag_error(&err);
    }
    pt_program_release(&program);
    return exit;
}

static int run_program(struct request *request, const struct pt_parsed *parsed)
{
    uint64_t started = pt_progress_now();
    struct pt_program program;
    struct pt_atomicity result;
    struct pt_err err;
    int exit = PT_EXIT_BAD;
    pt_program_init(&program);
    enum pt_status status = pt_triage_load(&request->triage, options_table, parsed, &err);
    if (status == PT_OK)
        status = load_program(request, &program, &err);
    if (status == PT_OK)
        status = export_net(request, &program, &err);
    if (status == PT_OK) {
        struct pt_progress progress;
        struct pt_atomicity_options options = request->check;
        pt_progress_init(&progress, !request->quiet);
        options.progress = pt_progress_events;
        options.progress_context = &progress;
        status = pt_atomicity_check(&program, &options, &result, &err);
        if (status == PT_OK)
            pt_model_doubt(sources_of(request), &program, &options, &result);
        pt_progress_clear(&progress);
    }
    if (status == PT_OK) {
        status = export_witness(request, &program, &result, &err);
        if (status == PT_OK)
            exit = print(request, &program, &result, started);
        pt_atomicity_release(&result);
    }
    if (status != PT_OK) {
        pt_file_show_line(err.file, &err);
        pt_diag_error(&err);
    }
    pt_program_release(&program);
    return exit;
}

static int run(const struct pt_parsed *parsed)
{
    struct request request;
    int exit = PT_EXIT_BAD;
    bool ok = set_options(&request, parsed);
    if (ok && request.net) {
        struct pt_net_request net = net_request(&request, request.net);
        exit = pt_model_net(&net);
    } else if (ok && request.kind != PT_ASK_NOTHING) {
        exit = ask_program(&request);
    } else if (ok) {
        exit = run_program(&request, parsed);
    }
    pt_triage_release(&request.triage);
    free(request.places);
    free(request.clang);
    return exit;
}

static const char *const usages[] = {
    "[options] FILE.sml", "[options] FILE.c...",
    "[options] --net FILE [--cover PLACE[,PLACE] | --reach PLACE[,PLACE] | --deadlock]", NULL};

const struct pt_command pt_command_model = {
    .name = "model",
    .summary = "check whether marked blocks are causally atomic in every run",
    .usages = usages,
    .about =
        "Models a program as a Petri net, with data abstracted, and unfolds it. A block is causally atomic when no "
        "run has an event of another thread that is causally after the block's begin and before another of its "
        "events; a violation is shown as a run.",
    .options = options_table,
    .run = run,
};
