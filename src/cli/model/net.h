/* The part of `portent model` that is about Petri nets: files of them, and questions about them. */
#ifndef PT_CLI_MODEL_NET_H
#define PT_CLI_MODEL_NET_H

#include "base/buf.h"
#include "net/net.h"

/* Files to write a net to; NULL: none. */
struct pt_net_exports {
    const char *pnml, *llnet, *dot;
};

struct pt_net_request {
    const char *file;          /* .pnml or .ll_net */
    const char *const *covers; /* PLACE or PLACE,PLACE..., each */
    uint32_t cover_count;
    struct pt_net_exports exports;
    uint64_t event_limit, memory_limit;
    bool json, quiet;
};

/* The whole command; returns its exit status. */
int pt_model_net(const struct pt_net_request *request);
enum pt_status pt_model_export(const struct pt_net *net, const struct pt_net_exports *exports,
                               struct pt_err *err) PT_WARN_UNUSED;
enum pt_status pt_model_write(const char *path, const struct pt_buf *buf, struct pt_err *err) PT_WARN_UNUSED;

#endif
