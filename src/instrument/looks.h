/* Stretches of plain accesses (looks.c), as they are collected. */
#ifndef PT_INSTRUMENT_LOOKS_H
#define PT_INSTRUMENT_LOOKS_H

#include "core/look.h"
#include "instrument/module.h"

/* Those of a module: constants of what `struct pt_asked` points to. */
struct pt_looks {
    LLVMValueRef *accesses, *first;
    size_t access_count, access_cap, count, cap;
};

struct pt_stretch {
    LLVMValueRef entries[PT_LOOK_MAX]; /* struct pt_looked */
    LLVMValueRef arguments[PT_LOOK_ARGUMENTS];
    unsigned entry_count, argument_count;
    LLVMValueRef before; /* the instruction that ends it */
};

/* Is a stretch over before this instruction? */
bool pt_ends_stretch(LLVMValueRef inst);
/* False: there is no room for it, and nothing has happened. */
bool pt_add_to_stretch(struct pt_module *m, struct pt_stretch *stretch, const struct pt_hooked_access *access);
/* Where the builder stands: tells the stretch, if somebody asks. */
void pt_ask(struct pt_module *m, const struct pt_stretch *stretch);

#endif
