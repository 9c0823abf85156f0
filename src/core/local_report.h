/*
 * What a thread tells about a violation of a decentralised property, as bytes: written by the runtime, which
 * prints it when nobody observes, and read by the observer, which makes a finding of it. In this order:
 *
 *   a step                     the event that made the violating state; none for state 0
 *   number, (number, value)*   the property's variables, by their numbers in the block, as the thread sees them
 *   number, known*             what it knew of others: text of the @t(...), name of the thread, heard (0 or 1), value,
 *                              state of that thread and, if that is not 0, the step that made it
 *
 * A step is struct pt_local_report_step, field by field. After PT_LOCAL_FAILED it is two texts instead: what failed,
 * and where. Nothing is aligned.
 *
 * Names: the program knows those that properties and its own annotations give. Of other memory, and of locks and the
 * like, it knows the address and what the source says where it is used (`grid[]`, `node->lock`), which is no name: the
 * same thing may be called otherwise elsewhere. An observer names these by their addresses, as it does in a recording
 * (trace/places.h).
 */
#ifndef PT_CORE_LOCAL_REPORT_H
#define PT_CORE_LOCAL_REPORT_H

#include <stddef.h>

#include "core/value.h"

enum {
    PT_LOCAL_REPORT_BYTES = 6000,
    PT_LOCAL_REPORT_KNOWN = 24
}; /* the most that is told: all of it, and of what others did */

struct pt_local_report_writer {
    char *bytes;
    size_t room, len;
    bool full; /* something did not fit and was left out, and so is all that follows */
};
void pt_local_report_put_number(struct pt_local_report_writer *w, uint64_t number);
void pt_local_report_put_text(struct pt_local_report_writer *w, const char *text);
void pt_local_report_put_value(struct pt_local_report_writer *w, struct pt_value value);

/* Whatever the bytes: reading past their end gives 0, "" and unknown, and sets `bad`. Texts point into them. */
struct pt_local_report_reader {
    const char *at;
    size_t left;
    bool bad;
};
uint64_t pt_local_report_number(struct pt_local_report_reader *r);
const char *pt_local_report_text(struct pt_local_report_reader *r);
struct pt_value pt_local_report_value(struct pt_local_report_reader *r);

struct pt_local_report_step {
    uint32_t kind;      /* enum pt_event_kind; PT_KIND_COUNT: no event */
    const char *object; /* its name, or what the source says, or its address in hexadecimal */
    const char *place;
    uint64_t at;   /* 0: the object has a name. Otherwise where it lies: of an access the byte it is about, ... */
    uint64_t from; /* ... which began here, ... */
    uint64_t last; /* ... and of which others knew up to this byte */
    struct pt_value value; /* of memory without a name that is accessed now: bytes of it, as a string, ... */
};
/* ... so many, from PT_LOCAL_REPORT_NEAR - 1 before `at` on, or from where the access began: those of the variable
 * there. */
enum { PT_LOCAL_REPORT_NEAR = 64 };
static inline uint64_t pt_local_report_memory(uint64_t at, uint64_t from)
{
    return at - from < PT_LOCAL_REPORT_NEAR ? from : at - PT_LOCAL_REPORT_NEAR + 1;
}
void pt_local_report_put_step(struct pt_local_report_writer *w, const struct pt_local_report_step *step);
struct pt_local_report_step pt_local_report_step(struct pt_local_report_reader *r);

#endif
