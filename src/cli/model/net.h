/* The part of `portent model` that is about Petri nets: files of them, and questions about them and programs' nets. */
#ifndef PT_CLI_MODEL_NET_H
#define PT_CLI_MODEL_NET_H

#include "base/buf.h"
#include "net/program.h"
#include "net/question.h"

/* Files to write a net to; NULL: none. */
struct pt_net_exports {
    const char *pnml, *llnet, *dot;
};

struct pt_net_request {
    const char *file; /* .pnml or .ll_net */
    enum pt_question_kind kind;
    const char *const *places; /* PLACE or PLACE,PLACE..., each */
    uint32_t place_count;
    bool plain; /* see pt_question */
    struct pt_net_exports exports;
    uint64_t event_limit, memory_limit;
    bool json, quiet;
};

/* The whole command; returns its exit status. */
int pt_model_net(const struct pt_net_request *request);
/* The same question about a program's net without its variables, on which what can happen does not depend. `hides`:
 * choices that the program makes by values that it shares with nobody are not steps of it (C), so that no deadlock in
 * it is none proved. */
int pt_model_ask(const struct pt_net_request *request, const struct pt_program *program, bool hides);
enum pt_status pt_model_export(const struct pt_net *net, const struct pt_net_exports *exports,
                               struct pt_err *err) PT_WARN_UNUSED;
enum pt_status pt_model_write(const char *path, const struct pt_buf *buf, struct pt_err *err) PT_WARN_UNUSED;

#endif
