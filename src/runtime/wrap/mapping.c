/*
 * Memory that a program gets from the kernel itself, and gives back or moves. What is unmapped, or mapped over, ends
 * the variables in it, as free does. mremap that moves is a read of the old pages and a write of the new ones, as
 * realloc is; one that leaves them where they are is neither, since other threads may go on using them meanwhile.
 * madvise changes values at most, which loads find out (shadow/slow.c).
 *
 * Guarantee: what was known of memory is forgotten before anybody else can get it. Cost: linear in the pages of it that
 * have shadow; shmdt reads the process's list of mappings; a load and a branch without an observer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "runtime/race/life.h"
#include "runtime/shadow/shadow.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/memory.h"

enum { PAGE = 4096 };

#ifdef PT_RT_STATIC
void *__real_mremap(void *old, size_t old_size, size_t size, int flags, ...);
#endif

/* Whoever uses it from here on is found. */
static void unmapped(const void *memory, size_t size)
{
    struct pt_thread *self = pt_is_living() ? pt_memory_recorder() : NULL;
    if (!self || !self->shadow.race)
        return;
    pt_thread_enter(self);
    pt_life_unmapped(self->shadow.race, (uintptr_t)memory, (uintptr_t)memory + size);
    pt_thread_leave(self);
}

PT_WRAP(int, munmap, (void *memory, size_t size))
{
    pt_memory_forget(memory, size, false);
    int result = PT_REAL(munmap)(memory, size);
    if (result == 0)
        unmapped(memory, size);
    return result;
}

PT_WRAP(void *, mmap, (void *address, size_t size, int protection, int flags, int fd, off_t offset))
{
    if (flags & MAP_FIXED)
        pt_memory_forget(address, size, false);
    return PT_REAL(mmap)(address, size, protection, flags, fd, offset);
}

PT_WRAP(void *, mmap64, (void *address, size_t size, int protection, int flags, int fd, off64_t offset))
{
    if (flags & MAP_FIXED)
        pt_memory_forget(address, size, false);
    return PT_REAL(mmap64)(address, size, protection, flags, fd, offset);
}

/* Of the old pages, those that ever were used have something to carry over. */
static void carry_over(const char *old, char *to, size_t size)
{
    for (size_t at = 0; at < size; at += PAGE)
        if (pt_shadow_any((uintptr_t)old + at, (uintptr_t)old + at + PAGE))
            pt_memory_written(to + at, size - at < PAGE ? size - at : PAGE);
}

static void *move(void *old, size_t old_size, size_t size, int flags, void *to)
{
    bool known = old_size && pt_memory_forget(old, old_size, true);
    if (flags & MREMAP_FIXED)
        pt_memory_forget(to, size, false);
    void *result = PT_REAL(mremap)(old, old_size, size, flags, to);
    if (known && result == MAP_FAILED)
        pt_runtime_lost(); /* it stayed where it was, and what was known of it is gone */
    else if (known)
        carry_over(old, result, old_size < size ? old_size : size);
    return result;
}

/* Without leave to move, and where it shrinks, the kernel leaves it in place. Elsewhere it tries that first, and so do
 * we: only what really moves may be forgotten. */
PT_WRAP(void *, mremap, (void *old, size_t old_size, size_t size, int flags, ...))
{
    va_list list;
    va_start(list, flags);
    void *to = va_arg(list, void *);
    va_end(list);
    bool must_move = flags & ~MREMAP_MAYMOVE;
    if (!pt_memory_recorder())
        return PT_REAL(mremap)(old, old_size, size, flags, to);
    if (!must_move && size < old_size)
        pt_memory_forget((char *)old + size, old_size - size, false);
    int error = errno;
    void *result = must_move ? MAP_FAILED : PT_REAL(mremap)(old, old_size, size, 0, to);
    if (result != MAP_FAILED || (!must_move && !(flags & MREMAP_MAYMOVE)))
        return result;
    errno = error;
    return move(old, old_size, size, flags, to);
}

PT_WRAP(void *, sbrk, (intptr_t increment))
{
    if (increment < 0 && pt_memory_recorder()) {
        const char *end = PT_REAL(sbrk)(0);
        pt_memory_forget(end + increment, (size_t)-increment, false);
    }
    return PT_REAL(sbrk)(increment);
}

PT_WRAP(int, brk, (void *end))
{
    const char *now = pt_memory_recorder() ? sbrk(0) : NULL;
    if (now && (const char *)end < now)
        pt_memory_forget(end, (size_t)(now - (const char *)end), false);
    return PT_REAL(brk)(end);
}

/* One line of /proc/self/maps: "from-to protection offset device inode path". */
struct mapping {
    uintptr_t from, to;
    uint64_t inode;
};

static const char *take_number(const char *text, unsigned base, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (;; text++) {
        unsigned digit = *text >= '0' && *text <= '9'   ? (unsigned)(*text - '0')
                         : *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10
                                                        : base;
        if (digit >= base)
            break;
        number = number * base + digit;
    }
    *ret_number = number;
    return text;
}

static const char *take_mapping(const char *line, struct mapping *ret_mapping)
{
    uint64_t from, to;
    line = take_number(line, 16, &from);
    line = take_number(line + (*line == '-'), 16, &to);
    for (unsigned spaces = 0; spaces < 4 && *line && *line != '\n'; line++)
        spaces += *line == ' ';
    line = take_number(line, 10, &ret_mapping->inode);
    ret_mapping->from = (uintptr_t)from;
    ret_mapping->to = (uintptr_t)to;
    while (*line && *line != '\n')
        line++;
    return line + (*line == '\n');
}

/* Where the mappings of one file that begin at an address end; the address itself where none does. */
static uintptr_t end_of_segment(uintptr_t address)
{
    enum { ROOM = 1 << 22 };
    uintptr_t end = address;
    uint64_t inode = 0;
    int fd = pt_sys_open("/proc/self/maps");
    char *text = fd < 0 ? NULL : pt_sys_reserve(ROOM);
    if (text) {
        text[pt_sys_read_at(fd, text, ROOM - 1, 0)] = 0;
        for (const char *line = text; *line;) {
            struct mapping mapping;
            line = take_mapping(line, &mapping);
            if (mapping.from == end && (end == address || mapping.inode == inode)) {
                inode = mapping.inode;
                end = mapping.to;
            }
        }
        pt_sys_release(text, ROOM);
    }
    if (fd >= 0)
        pt_sys_close(fd);
    return end;
}

PT_WRAP(int, shmdt, (const void *address))
{
    if (pt_memory_recorder())
        pt_memory_forget(address, end_of_segment((uintptr_t)address) - (uintptr_t)address, false);
    return PT_REAL(shmdt)(address);
}
