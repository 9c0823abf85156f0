/*
 * A lattice whose levels are divided among the processes of a group (group.h). Where levels are sorted (merge.c), each
 * process has a range of the keys (share_sorted.c). Else each cut belongs to a process by a hash of the counts of some
 * threads, the *dividing* ones: a step of any other thread stays where it is (share.c). What leads to another process
 * is sent, all of a level at once, and merged there.
 *
 * Guarantee: the levels of all processes together are the level that one process would have, and what follows from a
 * level (figures, verdict, witness) is decided by all of them alike, so that every process has the same finding. Cost
 * per level: three to five collective calls; for each cut that is sent, 8 bytes for each word of its key and 16
 * besides. Memory: a process has its own cuts, those it sends and those it is sent; events, clocks, letters and sets of
 * monitor states are in each of them whole.
 *
 * Letters, monitor states and sets have other numbers in each process: whoever sends one for the first time sends what
 * it is (share_words.c).
 */
#ifndef PT_ENGINE_SHARE_H
#define PT_ENGINE_SHARE_H

#include "engine/group.h"
#include "engine/lattice_impl.h"

/* From a sender's numbers to ours; PT_NONE: not known. */
struct lat_words {
    uint32_t *to;
    size_t cap;
};

struct lat_share {
    const struct pt_group *group;
    struct lat_dividing {
        uint32_t field;
        uint64_t events; /* of its thread */
        uint32_t *owner; /* per count: what it adds to the sum that, modulo the group's size, is the owner */
        bool *away;      /* per count: the next one has another owner */
        uint64_t *stay;  /* of sorted levels: struct lat_field */
    } * dividing;
    uint32_t dividing_count;
    struct lat_part *staged;            /* per process: the records of the part that is being looked at */
    struct pt_group_bytes *out, *in;    /* per process */
    uint32_t kinds;                     /* parts of a level, or, where it is sorted, 1 */
    struct lat_part *received;          /* of all processes, by kind */
    uint32_t *first;                    /* per kind: the first of its ones; one more */
    struct lat_part arrivals;           /* of sorted levels: all that was received, each cut once, in order ... */
    struct lat_part united;             /* ... and the memory it may be in */
    struct lat_words *letters, *sets;   /* per process */
    uint64_t *sent_letters, *sent_sets; /* bits, by our numbers: everybody has been told */
    size_t sent_letters_cap, sent_sets_cap;
    uint32_t last_letter, last_set; /* that were told */
    struct pt_group_bytes words;    /* what is to be told with the next messages */
    uint64_t *key;                  /* of the cut that all have agreed on */
    uint64_t *bounds;               /* of sorted levels: process p makes keys from bounds[p] to before bounds[p + 1] */
    uint64_t *cuts_of;              /* ... and has so many cuts of the level before */
    uint64_t cuts;                  /* of the latest level, in all processes; ... */
    pt_set flags;                   /* ... of its sets */
    bool interrupted;               /* some process is */
    size_t counted;                 /* bytes of all this in l->bytes */
};

/* share.c */
/* Divides level 0; the layout has been built. */
void lat_share_start(struct pt_lattice *l);
/* Every process has its cuts to itself again, which are none. */
void lat_share_stop(struct pt_lattice *l);
/* Sends the steps that leave this process (`away` of struct lat_field), and takes those that come. */
void lat_share_begin(struct pt_lattice *l, struct lat_level *from);
/* All learn how large the level is that was made. */
void lat_share_end(struct pt_lattice *l, const struct lat_level *to);
/* What others have sent for a part; between the two. */
const struct lat_part *lat_share_received(const struct lat_share *share, uint32_t part, uint32_t *ret_count);

/* share_sorted.c */
/* Agrees on the ranges of the next level and merges what leads to those of the others into `staged`. */
void lat_share_stage(struct pt_lattice *l, struct lat_level *from);
/* What others have merged for our range, sorted parts, into `arrivals`. */
void lat_share_unite(struct pt_lattice *l, const struct lat_part *parts, uint32_t count);

/* share.c */
/* The least cut that any process has, or NULL: of those each of them gives, its own or none. */
const uint64_t *lat_share_least(struct pt_lattice *l, const uint64_t *key, pt_letter *letter);
/* In a walk back: the process that has the cut tells its letter, and the monitor states that serve, which are the
 * caller's to free. False: nobody has it. `goal` is NULL on all but that process. */
bool lat_share_goal(struct pt_lattice *l, pt_mstate **goal, uint32_t *count, pt_letter *letter);

/* share_words.c */
/* Marks what the sender's numbers mean as to be told, if it has not been. */
void lat_words_tell(struct pt_lattice *l, pt_letter letter, pt_set set);
/* Reads what process p tells. */
void lat_words_learn(struct pt_lattice *l, uint32_t p, const unsigned char *data, size_t len);
/* Letters and monitor states as bytes that mean the same to every process; and back. */
void lat_words_put_letter(struct pt_lattice *l, struct pt_group_bytes *to, pt_letter letter);
void lat_words_put_states(struct pt_lattice *l, struct pt_group_bytes *to, const pt_mstate *states, uint32_t count);
const unsigned char *lat_words_get_letter(struct pt_lattice *l, const unsigned char *from, pt_letter *ret_letter);
/* The caller frees the states. */
const unsigned char *lat_words_get_states(struct pt_lattice *l, const unsigned char *from, pt_mstate **ret_states,
                                          uint32_t *ret_count);
static inline uint32_t lat_words_ours(const struct lat_words *words, uint32_t theirs)
{
    return words->to[theirs];
}

/* The sum over all processes, saturating. */
uint64_t lat_share_sum(const struct pt_lattice *l, uint64_t value);
/* Whether it is so in some process. Of a lattice that is not shared: whether it is so here. */
static inline bool lat_any(const struct pt_lattice *l, bool yes)
{
    return l->share ? pt_group_count(l->share->group, yes) > 0 : yes;
}

#endif
