#include "order/rank.h"

#include <stdlib.h>

#include "base/mem.h"

enum { GROUP = 8 }; /* words per group */

void pt_rank_release(struct pt_rank *rank)
{
    free(rank->words);
    free(rank->ones);
    *rank = (struct pt_rank){0};
}

void pt_rank_begin(struct pt_rank *rank, uint64_t set)
{
    rank->len = rank->total = rank->leading = set;
}

void pt_rank_append(struct pt_rank *rank, bool bit)
{
    if (bit && rank->len == rank->leading) {
        pt_rank_begin(rank, rank->len + 1);
        return;
    }
    uint64_t at = rank->len - rank->leading, word = at / 64;
    if (at % 64 == 0) {
        PT_GROW(rank->words, rank->word_cap, word + 1);
        rank->words[word] = 0;
        if (word % GROUP == 0) {
            PT_GROW(rank->ones, rank->group_cap, word / GROUP + 1);
            rank->ones[word / GROUP] = rank->total;
        }
    }
    rank->words[word] |= (uint64_t)bit << (at % 64);
    rank->len++;
    rank->total += bit;
}

uint64_t pt_rank_count(const struct pt_rank *rank, uint64_t k)
{
    if (k >= rank->len)
        return rank->total;
    if (k <= rank->leading)
        return k;
    k -= rank->leading;
    uint64_t word = k / 64, n = rank->ones[word / GROUP];
    for (uint64_t i = word / GROUP * GROUP; i < word; i++)
        n += (uint64_t)__builtin_popcountll(rank->words[i]);
    uint64_t mask = ((uint64_t)1 << (k % 64)) - 1;
    return n + (uint64_t)__builtin_popcountll(rank->words[word] & mask);
}
