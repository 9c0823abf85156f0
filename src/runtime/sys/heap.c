/* The size of an object on the heap. The allocator may be the program's own, or a library's, and malloc_usable_size
 * another's: that must not read what it did not write. */
#include "runtime/sys/heap.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef PT_RT_STATIC
#pragma weak malloc_usable_size /* a program with a malloc of its own must not get libc's beside it */
static bool knows_sizes(void)
{
    return malloc_usable_size != NULL;
}
#else
/* Are both functions of one module? In a program at a fixed address, malloc may have its address there although a
 * library defines it; the symbol tells. dlsym would tell more, but may call free. */
static bool have_one_origin(void)
{
    Dl_info allocator, sizes;
    void *symbol = NULL;
    if (!dladdr1((void *)malloc, &allocator, &symbol, RTLD_DL_SYMENT) || !dladdr((void *)malloc_usable_size, &sizes))
        return false;
    return allocator.dli_fbase == sizes.dli_fbase || (symbol && ((const ElfW(Sym) *)symbol)->st_shndx == SHN_UNDEF);
}

static bool knows_sizes(void)
{
    static _Atomic int known; /* 1: yes, -1: no */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        answer = have_one_origin() ? 1 : -1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer > 0;
}
#endif

size_t pt_heap_size(const void *memory)
{
    return memory && knows_sizes() ? malloc_usable_size((void *)(uintptr_t)memory) : 0;
}
