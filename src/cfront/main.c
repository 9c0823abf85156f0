/*
 * The program behind `portent model FILE.c`: a process of its own, because LLVM takes long to load.
 *
 *   portent-cfront UNROLL wary|plain INCLUDE_DIR COUNT FILE... [clang arguments]
 *
 * Writes the program (net/program_text.h), or why there is none, to standard output; clang's diagnostics go to standard
 * error.
 */
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "cfront/cfront.h"
#include "instrument/args.h"
#include "instrument/instrument.h"
#include "instrument/process.h"
#include "net/program_text.h"

enum { FIRST_FILE = 5 };

/* Unoptimised, and open to the passes we run ourselves; warnings are the compiler's business, not the model's. */
static enum pt_status compile(const char *file, const char *include_dir, char **extra, const char *output,
                              struct pt_err *err)
{
    struct pt_args args = {0};
    static const char *const fixed[] = {"-c",      "-emit-llvm",          "-g", "-O0",
                                        "-Xclang", "-disable-O0-optnone", "-w", "-pthread"};
    pt_args_add(&args, pt_instrument_clang());
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        pt_args_add(&args, fixed[i]);
    for (; *extra; extra++)
        pt_args_add(&args, *extra);
    pt_args_add2(&args, "-I", include_dir);
    pt_args_add2(&args, "-o", output);
    pt_args_add2(&args, "--", file);
    struct pt_process how = {.stdout_path = "/dev/null", .no_input = true};
    int exit_status = 0;
    enum pt_status status = pt_process_run(&args, &how, &exit_status, err);
    if (status == PT_OK && exit_status != 0)
        status = pt_err_set(err, PT_EINPUT, "clang cannot compile %.300s", file);
    pt_args_release(&args);
    return status;
}

static enum pt_status model(struct pt_cfront_input input, const char *include_dir, char **files,
                            struct pt_program *program, struct pt_err *err)
{
    size_t count = input.count;
    struct pt_arena arena;
    pt_arena_init(&arena);
    const char **bitcode = pt_xcalloc(count + 1, sizeof *bitcode);
    enum pt_status status = pt_workdir_make(err);
    for (size_t i = 0; i < count && status == PT_OK; i++) {
        bitcode[i] = pt_workdir_name(&arena, ".bc");
        status = compile(files[i], include_dir, files + count, bitcode[i], err);
    }
    if (status == PT_OK) {
        input.bitcode = bitcode;
        status = pt_cfront_model(&input, program, err);
    }
    pt_workdir_remove();
    free(bitcode);
    pt_arena_release(&arena);
    return status;
}

int main(int argc, char **argv)
{
    long count = argc > FIRST_FILE ? strtol(argv[4], NULL, 10) : 0;
    if (count < 1 || count > argc - FIRST_FILE) {
        fprintf(stderr, "portent-cfront: error: this program is started by 'portent model'\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody reads the answer once `portent` is gone */
    struct pt_program program;
    struct pt_err err;
    struct pt_buf text;
    pt_program_init(&program);
    pt_buf_init(&text);
    program.file = argv[FIRST_FILE];
    struct pt_cfront_input input = {
        .count = (size_t)count, .unroll = (uint32_t)strtoul(argv[1], NULL, 10), .wary = strcmp(argv[2], "wary") == 0};
    enum pt_status status = model(input, argv[3], argv + FIRST_FILE, &program, &err);
    if (status == PT_OK)
        pt_program_print(&program, &text);
    else
        pt_program_print_error(&err, &text);
    bool written = fwrite(text.text, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    pt_buf_release(&text);
    pt_program_release(&program);
    return written && status == PT_OK ? 0 : 2;
}
