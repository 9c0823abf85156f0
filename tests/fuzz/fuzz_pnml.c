/* Nets, as PNML or, when the text begins like one, as .ll_net: what is read is written, read again and written the
 * same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/netfile.h"
#include "net/question.h"

static void round_trip(const struct pt_net *net)
{
    struct pt_net again;
    struct pt_buf first, second;
    struct pt_err err;
    pt_buf_init(&first);
    pt_buf_init(&second);
    pt_net_init(&again);
    pt_pnml_write(net, &first);
    if (pt_pnml_read("again", first.text, first.len, &again, &err) != PT_OK)
        abort();
    pt_pnml_write(&again, &second);
    /* White space around a name is not kept, so the second writing is compared with a third. */
    pt_buf_release(&first);
    pt_net_release(&again);
    pt_net_init(&again);
    if (pt_pnml_read("again", second.text, second.len, &again, &err) != PT_OK)
        abort();
    pt_pnml_write(&again, &first);
    if (first.len != second.len || memcmp(first.text, second.text, first.len) != 0)
        abort();
    pt_net_release(&again);
    pt_buf_release(&first);
    pt_buf_release(&second);
    pt_llnet_write(net, &first);
    pt_net_init(&again);
    if (pt_llnet_read("again", first.text, first.len, &again, &err) != PT_OK)
        abort();
    pt_net_release(&again);
    pt_net_dot(net, &first);
    pt_buf_release(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_net net;
    struct pt_err err;
    const char *text = (const char *)data;
    bool pep = size >= 3 && memcmp(text, "PEP", 3) == 0;
    pt_net_init(&net);
    enum pt_status status = (pep ? pt_llnet_read : pt_pnml_read)("fuzz", text, size, &net, &err);
    if (status != PT_OK && !err.message[0])
        abort();
    if (status == PT_OK) {
        struct pt_question question = {.kind = PT_ASK_DEADLOCK, .event_limit = 500};
        struct pt_answer answer;
        round_trip(&net);
        if (pt_net_ask(&net, &question, &answer, &err) == PT_OK)
            pt_answer_release(&answer);
    }
    pt_net_release(&net);
    return 0;
}
