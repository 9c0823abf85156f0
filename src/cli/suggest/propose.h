/* Inside of proposing: what the files propose*.c share. */
#ifndef PT_CLI_SUGGEST_PROPOSE_H
#define PT_CLI_SUGGEST_PROPOSE_H

#include "cli/suggest/facts.h"
#include "cli/suggest/names.h"

struct pt_proposal {
    uint32_t score, order;
    char *text;
};

struct pt_proposals {
    const struct pt_suggest_facts *f;
    struct pt_proposal *items;
    uint32_t count;
    size_t cap;
    struct pt_strtab names;  /* of properties */
    struct pt_strtab wholes; /* arrays, with what was said of them */
};

/* A name for the property: these words, with what cannot stand in a name left out, and a number where it is taken. */
void pt_proposals_name(struct pt_proposals *p, struct pt_buf *buf, const char *a, const char *word, const char *b);
/* Takes the text over. */
void pt_proposals_add(struct pt_proposals *p, uint32_t score, struct pt_buf *text);
/* What is one thing is one proposal for each thing that is to be said of it. False: it has been made. */
bool pt_proposals_first(struct pt_proposals *p, const char *name, const char *said);

static inline const char *pt_proposals_var(const struct pt_proposals *p, uint32_t id)
{
    return pt_name(&p->f->names, PT_SPACE_VAR, id);
}

static inline unsigned pt_proposals_threads(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

static inline bool pt_proposals_is_shared(const struct pt_suggest_var *v)
{
    return v->writers && pt_proposals_threads(v->writers | v->readers) > 1;
}

/* The lock that was held most often, NULL: none ever. */
static inline const struct pt_suggest_lock *pt_proposals_lock(const struct pt_suggest_var *v)
{
    const struct pt_suggest_lock *best = NULL;
    for (uint32_t i = 0; i < v->lock_count; i++)
        if (!best || v->locks[i].held > best->held)
            best = &v->locks[i];
    return best;
}

void pt_propose_heap(struct pt_proposals *p);
void pt_propose_calls(struct pt_proposals *p);
void pt_propose_states(struct pt_proposals *p);

#endif
