/* Petri nets as files: PNML (ISO/IEC 15909-2, P/T nets), PEP's .ll_net, and Graphviz. Texts in memory; no I/O here. */
#ifndef PT_NET_NETFILE_H
#define PT_NET_NETFILE_H

#include "base/buf.h"
#include "net/net.h"

/* Each adds the net that `text` holds to `net`, which is freshly initialised; on failure it is to be released as usual.
 * A second token on a place, or an arc of another weight than 1, is an error: nets here are 1-safe. */
enum pt_status pt_pnml_read(const char *file, const char *text, size_t len, struct pt_net *net,
                            struct pt_err *err) PT_WARN_UNUSED;
enum pt_status pt_llnet_read(const char *file, const char *text, size_t len, struct pt_net *net,
                             struct pt_err *err) PT_WARN_UNUSED;

/* What is written can be read again and is then written the same. */
void pt_pnml_write(const struct pt_net *net, struct pt_buf *buf);
void pt_llnet_write(const struct pt_net *net, struct pt_buf *buf);
void pt_net_dot(const struct pt_net *net, struct pt_buf *buf);

/* Appends text for XML: what is not allowed there becomes '?'. */
/* The name of a place or transition, or `letter` and its number from 1 where it has none, in `buf`, which is emptied.
 */
const char *pt_net_label(struct pt_buf *buf, const char *name, char letter, uint32_t number);

#endif
