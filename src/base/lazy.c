#include "base/lazy.h"

#ifdef __x86_64__

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *pt_lazy_resolve(const struct pt_lazy *lazy, uint64_t index)
{
    const char *name = lazy->names;
    for (uint64_t i = 0; i < index; i++)
        name += strlen(name) + 1;
    void *library = dlopen(lazy->library, RTLD_NOW | RTLD_LOCAL); /* stays loaded; the second time it is at hand */
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        (void)fprintf(stderr, "portent: cannot load what this needs: %s\n", dlerror());
        exit(3);
    }
    __atomic_store_n(&lazy->functions[index], function, __ATOMIC_RELEASE);
    return function;
}

/*
 * A stand-in comes here in the middle of a call, with the number of its function on the stack and its library in r11.
 * Whatever the call's arguments may be in, the number of vector registers among it (rax), is kept; the stack is aligned
 * as the ABI wants it, since the caller's return address and the number are 16 bytes.
 */
asm(".text\n"
    ".hidden pt_lazy_enter\n"
    ".globl pt_lazy_enter\n"
    ".type pt_lazy_enter, @function\n"
    "pt_lazy_enter:\n"
    "    push %rax\n"
    "    push %rdi\n"
    "    push %rsi\n"
    "    push %rdx\n"
    "    push %rcx\n"
    "    push %r8\n"
    "    push %r9\n"
    "    push %r10\n"
    "    sub $128, %rsp\n"
    "    movups %xmm0, (%rsp)\n"
    "    movups %xmm1, 16(%rsp)\n"
    "    movups %xmm2, 32(%rsp)\n"
    "    movups %xmm3, 48(%rsp)\n"
    "    movups %xmm4, 64(%rsp)\n"
    "    movups %xmm5, 80(%rsp)\n"
    "    movups %xmm6, 96(%rsp)\n"
    "    movups %xmm7, 112(%rsp)\n"
    "    mov %r11, %rdi\n"
    "    mov 192(%rsp), %rsi\n"
    "    call pt_lazy_resolve\n"
    "    mov %rax, %r11\n"
    "    movups (%rsp), %xmm0\n"
    "    movups 16(%rsp), %xmm1\n"
    "    movups 32(%rsp), %xmm2\n"
    "    movups 48(%rsp), %xmm3\n"
    "    movups 64(%rsp), %xmm4\n"
    "    movups 80(%rsp), %xmm5\n"
    "    movups 96(%rsp), %xmm6\n"
    "    movups 112(%rsp), %xmm7\n"
    "    add $128, %rsp\n"
    "    pop %r10\n"
    "    pop %r9\n"
    "    pop %r8\n"
    "    pop %rcx\n"
    "    pop %rdx\n"
    "    pop %rsi\n"
    "    pop %rdi\n"
    "    pop %rax\n"
    "    add $8, %rsp\n"
    "    jmp *%r11\n"
    ".size pt_lazy_enter, . - pt_lazy_enter\n");

#endif
