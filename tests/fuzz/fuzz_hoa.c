/* Whatever the reader accepts must be written, read again, and written the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "logic/automaton/automaton.h"

enum { WIDE = 8 }; /* with more propositions than this a label may need very many products */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_err err;
    struct pt_automaton *aut, *again;
    if (pt_hoa_read("fuzz", (const char *)data, size, &aut, &err) != PT_OK)
        return 0;
    if (aut->prop_count > WIDE || aut->state_count > 10000) {
        pt_automaton_free(aut);
        return 0;
    }
    struct pt_buf first, second;
    pt_buf_init(&first);
    pt_buf_init(&second);
    pt_hoa_write(aut, "fuzz", &first);
    if (pt_hoa_read("again", first.text, first.len, &again, &err) != PT_OK)
        abort();
    pt_hoa_write(again, "fuzz", &second);
    if (first.len != second.len || memcmp(first.text, second.text, first.len) != 0)
        abort();
    pt_buf_release(&second);
    pt_dot_write(aut, "fuzz", &second);
    pt_buf_release(&first);
    pt_buf_release(&second);
    pt_automaton_free(again);
    pt_automaton_free(aut);
    return 0;
}
