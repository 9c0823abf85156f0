/*
 * Reading traces, text or binary (told apart by the first bytes), from a file or a descriptor, one event at a time in
 * bounded memory: only names and string values accumulate.
 */
#ifndef PT_TRACE_READER_H
#define PT_TRACE_READER_H

#include "base/err.h"
#include "trace/event.h"

struct pt_reader;

/* `path` "-" is standard input. Names are interned into `names`, which the caller keeps alive. */
enum pt_status pt_reader_open(const char *path, struct pt_names *names, struct pt_reader **ret_reader,
                              struct pt_err *err) PT_WARN_UNUSED;
/* From memory (tests, fuzzers); the bytes are not copied. `label` stands for the file name in errors. */
struct pt_reader *pt_reader_from_memory(const char *label, const void *bytes, size_t len, struct pt_names *names);
void pt_reader_free(struct pt_reader *reader);

enum pt_read {
    PT_READ_EVENT, /* *ret_event is filled */
    PT_READ_END,
    PT_READ_TORN,  /* the file ends or is damaged here, or says that events are missing; *err says where. Everything
                      before  it was intact. */
    PT_READ_ERROR, /* *err is filled; the reader can only be freed */
};
enum pt_read pt_reader_next(struct pt_reader *reader, struct pt_event *ret_event, struct pt_err *err) PT_WARN_UNUSED;

/* True when the next pt_reader_next would have to wait for input (a pipe): a good moment to show results. */
bool pt_reader_would_block(struct pt_reader *reader);
/* The file's name as given, for messages. */
const char *pt_reader_label(const struct pt_reader *reader);

#endif
