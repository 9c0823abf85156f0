/*
 * Letters and sets of monitor states between processes. Their numbers are given in the order in which a process comes
 * to them, so a message says, before it uses a number for the first time, what that stands for; the receiver interns
 * it and keeps its own number beside the sender's. Everybody is told at once: there are few of them, and a set that
 * one process has sent is soon wanted by the next.
 *
 * Guarantee: equal things get equal numbers at the receiver, since interning is by content. Cost: the content once for
 * each process and number, a look-up for each use. Properties only: what is in a module's states nobody else can know.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/share.h"

enum { WORD_LETTER, WORD_SET };

static void put32(struct pt_group_bytes *to, uint32_t value)
{
    memcpy(pt_group_bytes_add(to, sizeof value), &value, sizeof value);
}

static uint32_t get32(const unsigned char **from)
{
    uint32_t value;
    memcpy(&value, *from, sizeof value);
    *from += sizeof value;
    return value;
}

static void put_text(struct pt_group_bytes *to, const void *data, size_t len)
{
    put32(to, (uint32_t)len);
    if (len)
        memcpy(pt_group_bytes_add(to, len), data, len);
}

void lat_words_put_letter(struct pt_lattice *l, struct pt_group_bytes *to, pt_letter letter)
{
    size_t len;
    const void *text = pt_monitor_letter_text(l->monitor, letter, &len);
    put_text(to, text, len);
}

const unsigned char *lat_words_get_letter(struct pt_lattice *l, const unsigned char *from, pt_letter *ret_letter)
{
    uint32_t len = get32(&from);
    *ret_letter = pt_monitor_letter_of_text(l->monitor, from, len);
    return from + len;
}

void lat_words_put_states(struct pt_lattice *l, struct pt_group_bytes *to, const pt_mstate *states, uint32_t count)
{
    put32(to, count);
    for (uint32_t i = 0; i < count; i++) {
        size_t len;
        const void *text = pt_monitor_state_text(l->monitor, states[i], &len);
        put_text(to, text, len);
    }
}

const unsigned char *lat_words_get_states(struct pt_lattice *l, const unsigned char *from, pt_mstate **ret_states,
                                          uint32_t *ret_count)
{
    uint32_t count = get32(&from);
    pt_mstate *states = pt_xmalloc(((size_t)count + 1) * sizeof *states);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t len = get32(&from);
        states[i] = pt_monitor_state_of_text(l->monitor, from, len);
        from += len;
    }
    *ret_states = states;
    *ret_count = count;
    return from;
}

/* True when it was not marked before. */
static bool mark(uint64_t **bits, size_t *cap, uint32_t id)
{
    PT_ROOM(*bits, *cap, id / 64);
    uint64_t bit = (uint64_t)1 << id % 64;
    bool fresh = !((*bits)[id / 64] & bit);
    (*bits)[id / 64] |= bit;
    return fresh;
}

static void tell_letter(struct pt_lattice *l, pt_letter letter)
{
    struct lat_share *share = l->share;
    if (!mark(&share->sent_letters, &share->sent_letters_cap, letter))
        return;
    put32(&share->words, WORD_LETTER);
    put32(&share->words, letter);
    lat_words_put_letter(l, &share->words, letter);
}

static void tell_set(struct pt_lattice *l, pt_set set)
{
    struct lat_share *share = l->share;
    uint32_t count;
    set &= ~PT_SET_FLAGS;
    if (!mark(&share->sent_sets, &share->sent_sets_cap, set))
        return;
    put32(&share->words, WORD_SET);
    put32(&share->words, set);
    const pt_mstate *members = pt_sets_members(l->sets, set, &count);
    lat_words_put_states(l, &share->words, members, count);
}

static void note(struct lat_words *words, uint32_t theirs, uint32_t ours)
{
    size_t old = words->cap;
    PT_GROW(words->to, words->cap, (size_t)theirs + 1);
    if (words->cap > old)
        memset(words->to + old, 0xff, (words->cap - old) * sizeof *words->to);
    words->to[theirs] = ours;
}

void lat_words_tell(struct pt_lattice *l, pt_letter letter, pt_set set)
{
    struct lat_share *share = l->share;
    if (letter == share->last_letter && set == share->last_set) /* they repeat from cut to cut */
        return;
    tell_letter(l, letter);
    tell_set(l, set);
    share->last_letter = letter;
    share->last_set = set;
}

void lat_words_learn(struct pt_lattice *l, uint32_t p, const unsigned char *data, size_t len)
{
    const unsigned char *end = data + len;
    while (data < end) {
        uint32_t kind = get32(&data), theirs = get32(&data), count;
        if (kind == WORD_LETTER) {
            pt_letter letter;
            data = lat_words_get_letter(l, data, &letter);
            note(&l->share->letters[p], theirs, letter);
        } else {
            pt_mstate *states;
            data = lat_words_get_states(l, data, &states, &count);
            note(&l->share->sets[p], theirs, pt_sets_of(l->sets, states, count));
            free(states);
        }
    }
}
