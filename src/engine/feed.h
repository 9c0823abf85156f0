/*
 * Batches on their way from one thread, the *owner*, which fills them, to others, the *takers*, each of which takes all
 * of them in their order. The owner goes on while they do, as far ahead as there are slots.
 *
 * A taker that has something to tell, or needs what the owner changes, asks for the floor: it gets it when the owner
 * waits and all other takers have taken what there is, or ask too; of several, the one whose matter comes first. So
 * what they tell comes in the same order as if the owner had done it all by itself, however fast each of them is.
 */
#ifndef PT_ENGINE_FEED_H
#define PT_ENGINE_FEED_H

#include <stdbool.h>
#include <stdint.h>

struct pt_feed;

enum { PT_FEED_SLOTS = 8 };

/* take(context, taker, slot) is called in the taker's thread. NULL: no threads can be had. */
struct pt_feed *pt_feed_new(unsigned takers, void (*take)(void *context, unsigned taker, unsigned slot), void *context);
/* Ends the threads, when all is taken. */
void pt_feed_free(struct pt_feed *feed);

/* --- the owner --- */

/* The slot to be filled next. Waits until all takers have done with what was in it. */
unsigned pt_feed_slot(struct pt_feed *feed);
/* It is full. Who has something to tell does so now. */
void pt_feed_hand(struct pt_feed *feed);
/* Waits until all that was handed on is taken: what takers have written is seen then. */
void pt_feed_drain(struct pt_feed *feed);
/* Whether it is; then no taker does anything. */
bool pt_feed_is_drained(struct pt_feed *feed);

/* --- a taker, while it takes a batch; of others nothing is done --- */

/* Until pt_feed_end the owner and all other takers wait. `time`, then `rank`: whose matter comes first. */
void pt_feed_begin(struct pt_feed *feed, unsigned taker, uint64_t time, uint32_t rank);
void pt_feed_end(struct pt_feed *feed, unsigned taker);

#endif
