/* Atomics that clang leaves to libatomic, and fortified copies. */
#include <stdatomic.h>
#include <string.h>
struct triple {
    long a, b, c;
};
_Atomic struct triple triple;
char room[16];
// hooks: begin_read,24 end_read
struct triple read_triple(void)
{
    return triple;
}
// hooks: begin_write,24 end_write
void write_triple(struct triple x)
{
    triple = x;
}
// hooks: memcpy
void fortified(const char *from, unsigned long n)
{
    __builtin___memcpy_chk(room, from, n, sizeof room);
}
// hooks: memset
void fortified_fill(unsigned long n)
{
    __builtin___memset_chk(room, 7, n, sizeof room);
}
