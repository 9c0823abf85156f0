/*
 * portent convert: copies a trace from one format to another, validating it on the way. What can be written, and by
 * which option, trace/formats.def says. The output appears under its name only when it is whole: it is written beside
 * it and renamed. Time is linear in the trace; memory holds its names and one block.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/whatis.h"
#include "trace/format.h"
#include "trace/validate.h"
#include "trace/writer.h"

enum {
    OPT_OUTPUT,
#define PT_FORMAT(name, help) OPT_FORMAT_##name,
#include "trace/formats.def"
    OPT_COUNT
};

static const struct pt_option options_table[] = {
    [OPT_OUTPUT] = {NULL, 'o', "TRACE", NULL, "where to write; - is standard output"},
#define PT_FORMAT(name, help) [OPT_FORMAT_##name] = {#name, 0, NULL, NULL, help},
#include "trace/formats.def"
    [OPT_COUNT] = {0},
};

/* What the options choose. */
static const struct pt_format *const formats[OPT_COUNT] = {
#define PT_FORMAT(name, help) [OPT_FORMAT_##name] = &pt_format_##name,
#include "trace/formats.def"
};

struct request {
    const char *input, *output;
    const struct pt_format *format; /* of the output */
};

/* A pipe, a device, a folder: nothing to look into before reading it. */
static bool is_special(const char *path)
{
    struct stat info;
    return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
}

static void format_is_missing(void)
{
    struct pt_buf options;
    pt_buf_init(&options);
    for (uint32_t i = OPT_OUTPUT + 1; i < OPT_COUNT; i++)
        pt_buf_printf(&options, "%s--%s", i > OPT_OUTPUT + 1 ? " or " : "", options_table[i].name);
    pt_diag_usage("convert", "the input is not a regular file, so the form to write must be given: %s", options.text);
    pt_buf_release(&options);
}

/* By the output's ending, or else: text becomes binary, and everything else text. */
static bool choose_format(struct request *request)
{
    request->format = pt_format_of_name(request->output);
    if (request->format != &pt_format_text)
        return true;
    if (is_special(request->input)) {
        format_is_missing();
        return false;
    }
    if (pt_format_of_file(request->input) == &pt_format_text)
        request->format = &pt_format_binary;
    return true;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return strcmp(a, "-") != 0 && strcmp(b, "-") != 0 && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    *request = (struct request){0};
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        uint32_t index = parsed->options[i].index;
        if (index == OPT_OUTPUT) {
            request->output = parsed->options[i].argument;
            continue;
        }
        if (request->format && request->format != formats[index]) {
            pt_diag_usage("convert", "--%s and --%s exclude each other", request->format->name, formats[index]->name);
            return false;
        }
        request->format = formats[index];
    }
    if (parsed->operand_count != 1 || !request->output) {
        pt_diag_usage("convert", "convert takes one trace and -o TRACE: portent convert %s -o %s",
                      parsed->operand_count ? parsed->operands[0] : "TRACE",
                      request->output             ? request->output
                      : parsed->operand_count > 1 ? parsed->operands[1]
                                                  : "TRACE.ptb");
        return false;
    }
    request->input = parsed->operands[0];
    if (is_same_file(request->input, request->output)) {
        pt_diag_usage("convert", "'%s' would overwrite its own input", request->output);
        return false;
    }
    return request->format || choose_format(request);
}

/* Copies every event. *ret_torn: the input ends in a tear, which was reported. */
static enum pt_status copy(struct pt_source *source, const struct pt_names *names, struct pt_writer *writer,
                           bool *ret_torn, struct pt_err *err)
{
    struct pt_validator *validator = pt_validator_new(pt_source_label(source), names);
    enum pt_status status = PT_OK;
    struct pt_event event;
    enum pt_read read;
    while ((read = pt_source_next(source, &event, err)) == PT_READ_EVENT) {
        status = pt_validator_check(validator, &event, err);
        if (status == PT_OK)
            status = pt_writer_add(writer, &event, err);
        if (status != PT_OK)
            break;
    }
    pt_validator_free(validator);
    if (read == PT_READ_TORN) {
        pt_diag_warning(err);
        pt_writer_set_incomplete(writer, err->message);
        *ret_torn = true;
    }
    return read == PT_READ_ERROR ? err->status : status;
}

static enum pt_status write_to(const struct request *request, const char *path, bool *ret_torn, struct pt_err *err)
{
    struct pt_names names;
    struct pt_source *source;
    struct pt_writer *writer;
    pt_names_init(&names);
    enum pt_status status = pt_source_open(request->input, &names, &source, err);
    if (status == PT_OK) {
        status = pt_writer_open(path, request->format, &names, &writer, err);
        if (status == PT_OK) {
            struct pt_err close_err;
            status = copy(source, &names, writer, ret_torn, err);
            enum pt_status closed = pt_writer_close(writer, &close_err);
            if (status == PT_OK && closed != PT_OK) {
                *err = close_err;
                status = closed;
            }
        }
        pt_source_free(source);
    }
    pt_names_release(&names);
    return status;
}

static enum pt_status convert(const struct request *request, bool *ret_torn, struct pt_err *err)
{
    if (is_special(request->output))
        return write_to(request, request->output, ret_torn, err);
    char *temporary = NULL;
    enum pt_status status = pt_file_temporary(request->output, &temporary, err);
    if (status != PT_OK)
        return status;
    status = write_to(request, temporary, ret_torn, err);
    if (status == PT_OK && rename(temporary, request->output) != 0)
        status = pt_err_at(err, PT_EIO, request->output, 0, 0, "cannot write: %s", strerror(errno));
    if (status != PT_OK)
        unlink(temporary);
    free(temporary);
    return status;
}

static int run(const struct pt_parsed *parsed)
{
    struct request request;
    struct pt_err err;
    bool torn = false;
    if (!set_options(&request, parsed))
        return PT_EXIT_BAD;
    if (convert(&request, &torn, &err) != PT_OK) {
        pt_whatis_mend(request.input, PT_FILE_TRACE, &err);
        pt_file_show_line(request.input, &err);
        pt_diag_error(&err);
        return PT_EXIT_BAD;
    }
    return torn ? PT_EXIT_UNKNOWN : 0;
}

static const char *const usages[] = {"TRACE -o TRACE [--text|--binary]", NULL};

const struct pt_command pt_command_convert = {
    .name = "convert",
    .summary = "convert a trace between the text and the binary form",
    .usages = usages,
    .about = "Copies a trace and validates it. An output name that ends in .ptb gets the binary form; otherwise the "
             "output has the form that the input has not.\n\n"
             "Exit status: 0 converted, 2 bad usage or input (no output is left behind), 3 the input was torn and "
             "only its intact part was converted.",
    .options = options_table,
    .run = run,
};
