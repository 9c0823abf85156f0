/* "Did you mean ...?": the nearest word of a vocabulary. */
#ifndef PT_BASE_SUGGEST_H
#define PT_BASE_SUGGEST_H

#include <stddef.h>

/*
 * The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other (the
 * restricted Damerau-Levenshtein distance), regardless of case; anything above 2 is reported as 3.
 */
unsigned pt_suggest_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/* A search for the nearest word: words are offered one by one, the first of the nearest wins. */
struct pt_suggest {
    const char *word;
    size_t len;
    const char *best; /* NULL: none near enough to be a slip of the pen */
    unsigned distance;
};
void pt_suggest_init(struct pt_suggest *search, const char *word, size_t len);
void pt_suggest_offer(struct pt_suggest *search, const char *candidate);

#endif
