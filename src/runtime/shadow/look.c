/*
 * What the twin of a function tells of a stretch of plain accesses (core/look.h), where races are sampled.
 *
 * Each access goes the way of any that is looked at: it may be the first of its place and open a window, be in one, or
 * be left out. If no window is open then and all places of the stretch were looked at often enough, it is not asked
 * again until one opens, or there are several threads once more (runtime/race/window.c): __portent_asks is read first,
 * so what opens meanwhile is seen.
 *
 * Guarantee: an access is looked at before its thread does anything that orders it with others. Cost: in a gap once for
 * each window.
 */
#pragma GCC visibility push(default)
#include "core/look.h"
#pragma GCC visibility pop

#include "runtime/shadow/slow.h"

_Static_assert((int)PT_LOOKED_READ == (int)PT_RACE_READ && (int)PT_LOOKED_WRITE == (int)PT_RACE_WRITE, "kinds agree");

/* Saves what a function of C may change; vector registers are the caller's to save. */
__asm__(".text\n"
        ".globl __portent_look\n"
        ".type __portent_look, @function\n"
        ".balign 16\n"
        "__portent_look:\n"
        "    .cfi_startproc\n"
        "    pushq %rax\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rcx\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rdx\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rdi\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r8\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r9\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r10\n    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n    .cfi_adjust_cfa_offset 8\n"
        "    call pt_shadow_look\n"
        "    addq $8, %rsp\n    .cfi_adjust_cfa_offset -8\n"
        "    popq %r10\n    .cfi_adjust_cfa_offset -8\n"
        "    popq %r9\n    .cfi_adjust_cfa_offset -8\n"
        "    popq %r8\n    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdx\n    .cfi_adjust_cfa_offset -8\n"
        "    popq %rcx\n    .cfi_adjust_cfa_offset -8\n"
        "    popq %rax\n    .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size __portent_look, . - __portent_look\n");

static bool is_known(const struct pt_look *look)
{
    if (!(atomic_load_explicit(&pt_active, memory_order_relaxed) & PT_ACTIVE_CHOOSES))
        return true;
    if (pt_is_racing())
        return false;
    for (uint32_t i = 0; i < look->count; i++)
        if (!pt_race_is_often(look->accesses[i].site))
            return false;
    return true;
}

void pt_shadow_look(const struct pt_look *look, const uintptr_t *arguments)
{
    uint32_t asks = __atomic_load_n(&__portent_asks, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < look->count; i++) {
        const struct pt_looked *access = &look->accesses[i];
        unsigned kind = access->kind & (PT_LOOKED_READ | PT_LOOKED_WRITE);
        size_t size = access->kind & PT_LOOKED_SIZED ? arguments[access->size] : access->size;
        if (kind)
            pt_shadow_race((const void *)(arguments[access->base] + (uintptr_t)(intptr_t)access->offset), size, kind,
                           access->site);
    }
    if (is_known(look))
        *look->asked = asks;
}
