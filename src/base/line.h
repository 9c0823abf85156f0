/*
 * Memory that one thread fills and another one reads, over and over. What is stored the usual way has to be fetched
 * first from the caches of the processor that has read it last, and the stores behind it wait for that: 100 to 500 ns
 * for each line. These stores go past the caches, a whole line at a time, and nobody waits.
 */
#ifndef PT_BASE_LINE_H
#define PT_BASE_LINE_H

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { PT_LINE = 64 };

/* `to` is aligned to a line. */
static inline void pt_line_store(void *to, const void *from)
{
#ifdef __SSE2__
    __m128i words[PT_LINE / sizeof(__m128i)];
    memcpy(words, from, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        _mm_stream_si128((__m128i *)to + i, words[i]);
#else
    memcpy(to, from, PT_LINE);
#endif
}

/* Before the memory is handed over: no lock orders these stores by itself. */
static inline void pt_line_fence(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
