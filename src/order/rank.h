/* An append-only bit string with fast counting: how many of the first k bits are set. About 1.13 bits per bit, and none
 * for those that are set before the first that is not. */
#ifndef PT_ORDER_RANK_H
#define PT_ORDER_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_rank {
    uint64_t *words;
    size_t word_cap;
    uint64_t *ones; /* set bits before each group of eight words */
    size_t group_cap;
    uint64_t len, total;
    uint64_t leading; /* bits that are set and not stored, before all others */
};
void pt_rank_release(struct pt_rank *rank); /* a zeroed one is empty */
/* An empty one gets so many set bits. */
void pt_rank_begin(struct pt_rank *rank, uint64_t set);
void pt_rank_append(struct pt_rank *rank, bool bit);
uint64_t pt_rank_count(const struct pt_rank *rank, uint64_t k); /* k <= len */

#endif
