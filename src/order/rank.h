/* An append-only bit string with fast counting: how many of the first k bits are set. About 1.13 bits per bit. */
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
};
void pt_rank_release(struct pt_rank *rank); /* a zeroed one is empty */
void pt_rank_append(struct pt_rank *rank, bool bit);
uint64_t pt_rank_count(const struct pt_rank *rank, uint64_t k); /* k <= len */

#endif
