/* Levels as sorted sequences, for searches whose states are one word (sorted.c). Two levels are there at a time; they
 * are known by their numbers. */
#ifndef PT_ENGINE_WIDE_SORTED_H
#define PT_ENGINE_WIDE_SORTED_H

#include "engine/wide/wide_impl.h"

struct wide_sorted;
bool wide_sorted_fits(const struct wide_search *search);
struct wide_sorted *wide_sorted_new(struct wide_search *search);
void wide_sorted_free(struct wide_sorted *sorted); /* NULL is fine */
/* Level 0, from its first state; then the level after this one. False: the search was cut off. */
bool wide_sorted_begin(struct wide_sorted *sorted, uint64_t key, pt_letter letter, pt_set set);
bool wide_sorted_expand(struct wide_sorted *sorted, uint32_t number);
uint32_t wide_sorted_count(const struct wide_sorted *sorted, uint32_t number);
/* Those to which relevant events lead, not only choices; and the runs that end with such an event. */
uint32_t wide_sorted_arrived(const struct wide_sorted *sorted, uint32_t number);
uint64_t wide_sorted_runs(const struct wide_sorted *sorted, uint32_t number);
/* Of all its sets. */
pt_set wide_sorted_flags(const struct wide_sorted *sorted, uint32_t number);
/* The key of a state whose evaluation fails, in a level whose flags say that there is one. */
uint64_t wide_sorted_mistake(const struct wide_sorted *sorted, uint32_t number);
size_t wide_sorted_bytes(const struct wide_sorted *sorted);

#endif
