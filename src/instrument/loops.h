/* Loops in which a function may go on in its other body (loops.c says which, and how). */
#ifndef PT_INSTRUMENT_LOOPS_H
#define PT_INSTRUMENT_LOOPS_H

#include "instrument/module.h"

struct pt_loop {
    LLVMBasicBlockRef header;
    uint32_t component;
    bool *from; /* blocks that are in it, or behind it */
};

struct pt_loops {
    struct pt_loop *loops;
    size_t count;
    LLVMValueRef *carried; /* values that are used in or behind a loop, and are from before it */
    size_t carried_count, carried_cap;
    LLVMBasicBlockRef *blocks; /* of the function */
    size_t block_count, block_cap;
    struct pt_map64 at;  /* blocks to their indices */
    uint32_t *component; /* of each block, by index; 0: it is never reached */
};

/* Before the function is changed. */
void pt_find_loops(LLVMValueRef function, struct pt_loops *ret_loops);
void pt_release_loops(struct pt_loops *loops);
/* Lets a value, or its twin's, be whichever was computed. */
void pt_carry(struct pt_module *m, LLVMBasicBlockRef entry, LLVMValueRef value, LLVMValueRef twin);
/* A block for all that go to one of two headers; it is for the caller to end. */
LLVMBasicBlockRef pt_join_headers(struct pt_module *m, LLVMBasicBlockRef header, LLVMBasicBlockRef twin);

#endif
