/*
 * What the twin of a function tells of a stretch of plain accesses (core/look.h), where races are sampled.
 *
 * Each access goes the way of any that is looked at: it may be the first of its place and open a window, be in one, or
 * be left out. If no window is open then and all places of the stretch were looked at often enough, it is not asked
 * again but in windows (runtime/race/window.c): __portent_asks is read first, so what opens meanwhile is seen. While
 * there is one thread alone nothing is, and then all begins anew.
 *
 * Guarantee: an access is looked at before its thread does anything that orders it with others. Cost: in a gap as often
 * as one of its places is rare, and once more.
 */
#pragma GCC visibility push(default)
#include "core/look.h"
#pragma GCC visibility pop

#include <string.h>

#include "runtime/race/asked.h"
#include "runtime/shadow/slow.h"

_Static_assert((int)PT_LOOKED_READ == (int)PT_RACE_READ && (int)PT_LOOKED_WRITE == (int)PT_RACE_WRITE, "kinds agree");

/* Saves all that a function of C may change, vectors with what is above their 16 bytes (the C library's functions use
 * that), if the processor has instructions for it. */
#define VECTORS "2752" /* x87, SSE, AVX and AVX-512: 2688 bytes, at a multiple of 64 */
__asm__(".text\n"
        ".globl __portent_look\n"
        ".type __portent_look, @function\n"
        ".balign 16\n"
        "__portent_look:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    .cfi_rel_offset %rbp, 0\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    pushq %rax\n    pushq %rcx\n    pushq %rdx\n    pushq %rsi\n    pushq %rdi\n"
        "    pushq %r8\n    pushq %r9\n    pushq %r10\n    pushq %r11\n    pushq %rbx\n"
        "    movq %rsp, %rbx\n"
        "    andq $-64, %rsp\n"
        "    subq $" VECTORS ", %rsp\n"
        "    cmpb $0, pt_look_saves_all(%rip)\n"
        "    je 1f\n"
        "    xorl %eax, %eax\n"
        "    movq %rax, 512(%rsp)\n    movq %rax, 520(%rsp)\n    movq %rax, 528(%rsp)\n    movq %rax, 536(%rsp)\n"
        "    movq %rax, 544(%rsp)\n    movq %rax, 552(%rsp)\n    movq %rax, 560(%rsp)\n    movq %rax, 568(%rsp)\n"
        "    movl $0xe7, %eax\n"
        "    xorl %edx, %edx\n"
        "    xsave (%rsp)\n"
        "    jmp 2f\n"
        "1:  fxsave (%rsp)\n"
        "2:  movq 8(%rbp), %rdi\n"
        "    leaq 16(%rbp), %rsi\n"
        "    cld\n"
        "    call pt_shadow_look\n"
        "    cmpb $0, pt_look_saves_all(%rip)\n"
        "    je 3f\n"
        "    movl $0xe7, %eax\n"
        "    xorl %edx, %edx\n"
        "    xrstor (%rsp)\n"
        "    jmp 4f\n"
        "3:  fxrstor (%rsp)\n"
        "4:  movq %rbx, %rsp\n"
        "    popq %rbx\n    popq %r11\n    popq %r10\n    popq %r9\n    popq %r8\n    popq %rdi\n"
        "    popq %rsi\n    popq %rdx\n    popq %rcx\n    popq %rax\n    popq %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size __portent_look, . - __portent_look\n");

bool pt_look_saves_all; /* for the assembly above */

static bool is_known(const struct pt_asked *asked, uint32_t stretch, uint32_t asks)
{
    bool several = atomic_load_explicit(&pt_active, memory_order_relaxed) & PT_ACTIVE_CHOOSES;
    if (asks != PT_ASKS_RARE || !several)
        return asks == PT_ASKS_NOBODY && !several;
    for (uint32_t i = asked->first[stretch]; i < asked->first[stretch + 1]; i++)
        if (!pt_race_is_often(asked->accesses[i].site))
            return false;
    return true;
}

/* Where nothing is checked threads have no `self`, and the module is listed all the same: it would be asked for ever.
 */
static void list(struct pt_asked *asked)
{
    struct pt_shadow_self *self = pt_self;
    if (__atomic_load_n(&asked->state, __ATOMIC_RELAXED) != PT_ASKED_NEW || (self && self->busy))
        return;
    if (self)
        pt_enter(self);
    pt_race_asked_list(asked);
    if (self)
        pt_leave(self);
}

void __portent_leave(struct pt_asked *asked)
{
    struct pt_shadow_self *self = pt_self;
    if (self)
        pt_enter(self);
    pt_race_asked_leave(asked);
    if (self)
        pt_leave(self);
}

void pt_shadow_look(const unsigned char *behind_call, const uintptr_t *arguments)
{
    struct {
        uint16_t test;
        int32_t distance;
        uint32_t stretch;
    } __attribute__((packed)) said;
    uint32_t asks = __atomic_load_n(&__portent_asks, __ATOMIC_ACQUIRE);
    memcpy(&said, behind_call, sizeof said);
    struct pt_asked *asked = (struct pt_asked *)((uintptr_t)behind_call + sizeof said + (uintptr_t)said.distance);
    list(asked);
    for (uint32_t i = asked->first[said.stretch]; i < asked->first[said.stretch + 1]; i++) {
        const struct pt_looked *access = &asked->accesses[i];
        size_t size = access->kind & PT_LOOKED_SIZED ? arguments[access->size] : access->size;
        uintptr_t at = access->memory ? (uintptr_t)access->memory : arguments[access->base];
        at += (uintptr_t)(intptr_t)access->offset;
        if (access->index != PT_LOOKED_NO_INDEX)
            at += arguments[access->index] * access->scale;
        pt_shadow_race((const void *)at, size, access->kind & (PT_LOOKED_READ | PT_LOOKED_WRITE), access->site);
    }
    if (is_known(asked, said.stretch, asks))
        pt_race_asked_known(asked, said.stretch, asks);
}

void pt_shadow_look_start(void)
{
    unsigned a = 1, b, c = 0, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    pt_look_saves_all = c >> 27 & 1; /* the kernel lets programs use xsave */
}
