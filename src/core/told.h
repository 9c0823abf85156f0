/*
 * What a thread tells about the first violation of a decentralised property, as bytes: written by the runtime, which
 * prints it when nobody observes, and read by the observer, which makes a finding of it. In this order:
 *
 *   a step                     the event that made the violating state; its op is "" for state 0
 *   number, (text, value)*     the property's variables as the thread sees them
 *   number, known*             what it knew of others: text of the @t(...), name of the thread, heard (0 or 1), value,
 *                              state of that thread and, if that is not 0, the step that made it
 *
 * A step is op, object, source and place (texts) and a value. `source` is what the source calls an object that goes by
 * its address, because the observer may know a better name; "" where it is unknown. After PT_LOCAL_FAILED it is two
 * texts instead: what failed, and where. Nothing is aligned.
 */
#ifndef PT_CORE_TOLD_H
#define PT_CORE_TOLD_H

#include <stddef.h>

#include "core/value.h"

enum { PT_TOLD_BYTES = 6000, PT_TOLD_KNOWN = 24 }; /* the most that is told: all of it, and of what others did */

struct pt_told_writer {
    char *bytes;
    size_t room, len;
    bool full; /* something did not fit and was left out, and so is all that follows */
};
void pt_told_put_number(struct pt_told_writer *w, uint64_t number);
void pt_told_put_text(struct pt_told_writer *w, const char *text);
void pt_told_put_value(struct pt_told_writer *w, struct pt_value value);

/* Whatever the bytes: reading past their end gives 0, "" and unknown, and sets `bad`. Texts point into them. */
struct pt_told_reader {
    const char *at;
    size_t left;
    bool bad;
};
uint64_t pt_told_number(struct pt_told_reader *r);
const char *pt_told_text(struct pt_told_reader *r);
struct pt_value pt_told_value(struct pt_told_reader *r);

struct pt_told_step {
    const char *op, *object, *source, *place;
    struct pt_value value;
};
void pt_told_put_step(struct pt_told_writer *w, const struct pt_told_step *step);
struct pt_told_step pt_told_step(struct pt_told_reader *r);

/* The word of a kind of event, as traces have it. */
const char *pt_told_op(unsigned kind);

#endif
