/* Any text is parsed or refused; whatever is a program gets the same verdicts with and without reductions. */
#include <stdint.h>
#include <stdlib.h>

#include "net/atomicity.h"
#include "net/sml.h"

enum { EVENTS = 1500 }; /* beyond this an unfolding is given up */

static void compare(const struct pt_program *program)
{
    struct pt_atomicity_options options = {.jobs = 1, .event_limit = EVENTS}, plain = options;
    struct pt_atomicity first, second;
    struct pt_err err;
    plain.plain = true;
    enum pt_status status = pt_atomicity_check(program, &options, &first, &err);
    if (status == PT_EUSAGE)
        abort(); /* a witness failed its check */
    if (pt_atomicity_check(program, &plain, &second, &err) != status)
        abort();
    if (status != PT_OK)
        return;
    for (uint32_t b = 0; b < program->block_count; b++) {
        enum pt_atomic x = first.blocks[b].atomic, y = second.blocks[b].atomic;
        if (x != y && x != PT_ATOMIC_UNKNOWN && y != PT_ATOMIC_UNKNOWN)
            abort();
    }
    pt_atomicity_release(&first);
    pt_atomicity_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_program program;
    struct pt_err err;
    pt_program_init(&program);
    enum pt_status status = pt_sml_parse("fuzz", (const char *)data, size, &program, &err);
    if (status != PT_OK && (err.line == 0 || err.column == 0 || !err.message[0]))
        abort();
    if (status == PT_OK && program.step_count < 200 && program.thread_count <= 8)
        compare(&program);
    pt_program_release(&program);
    return 0;
}
