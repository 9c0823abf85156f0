/*
 * libc marks blocks that were freed with a number (tcache_key, since glibc 2.34) that it draws when a process allocates
 * for the first time. A program that uses memory after its end reads it, so that the same schedule might go on in one
 * way in one process and otherwise in the next. In controlled runs it is one number, always: what is marked with it is
 * still known to be free.
 *
 * libc has no name for it. It is what a block has in its second word when it was freed, and it stands at one place of
 * libc's own variables; where that is not so, of an allocator that works otherwise for instance, nothing is changed.
 * Before the program allocates anything. Cost: one look at libc's variables, some ten kilobytes, per process.
 */
#include <link.h>
#include <stdint.h>

#include "runtime/explore/impl.h"

extern void *__libc_malloc(size_t bytes) __attribute__((weak));
extern void __libc_free(void *block) __attribute__((weak));

struct search {
    uintptr_t inside, key; /* an address of libc's code; what is looked for */
    uintptr_t *place;
    unsigned count;
};

/* Any: the block is marked by its second word whatever its size, as long as it is small. */
static uintptr_t key_of_freed(void)
{
    enum { BYTES = 1000 };
    uintptr_t *volatile block = __libc_malloc(BYTES);
    if (!block)
        return 0;
    __libc_free(block);
    return ((volatile uintptr_t *)block)[1];
}

static void look_at(struct search *s, uintptr_t from, uintptr_t to)
{
    for (uintptr_t *word = (uintptr_t *)from; word < (uintptr_t *)to; word++)
        if (*word == s->key) {
            s->place = word;
            s->count++;
        }
}

/* In the module that libc's code is in, what can be written. */
static int look_in(struct dl_phdr_info *module, size_t size, void *context)
{
    struct search *s = context;
    bool is_libc = false;
    (void)size;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t from = module->dlpi_addr + part->p_vaddr;
        is_libc |= part->p_type == PT_LOAD && s->inside >= from && s->inside - from < part->p_memsz;
    }
    for (unsigned i = 0; is_libc && i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t from = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && part->p_flags & PF_W)
            look_at(s, (from + sizeof from - 1) & -sizeof from, (from + part->p_memsz) & -sizeof from);
    }
    return is_libc;
}

void pt_explore_heap_start(void)
{
    static const uintptr_t always = (uintptr_t)UINT64_C(0x506f7274656e7421);
    if (!__libc_malloc || !__libc_free)
        return;
    struct search s = {.inside = (uintptr_t)__libc_malloc, .key = key_of_freed()};
    if (!s.key)
        return;
    (void)dl_iterate_phdr(look_in, &s);
    if (s.count != 1)
        return;
    *s.place = always;
    if (key_of_freed() != always) /* it was something else that has the same value */
        *s.place = s.key;
}
