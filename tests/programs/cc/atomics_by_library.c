/* Atomics that clang leaves to libatomic, and fortified copies. From LLVM 19 on the choice for 16 bytes comes after ours: an atomic access until then. */
#include <stdatomic.h>
#include <string.h>
struct triple {
    long a, b, c;
};
_Atomic struct triple triple;
struct triple plain_triple;
char room[16];
__int128 wide_value;
_Atomic __int128 wide;
// hooks: begin_atomic,24,0 end_atomic,24,0,5 memcpy,24
struct triple read_triple(void)
{
    return triple;
}
// hooks: begin_atomic,24,1 end_atomic,24,1,5
void write_triple(struct triple x)
{
    triple = x;
}
// hooks: begin_atomic,24,1 end_atomic,24,1,3
void release_triple(struct triple x)
{
    atomic_store_explicit(&triple, x, memory_order_release);
}
// hooks: memcpy,24 begin_atomic,24,2 end_atomic,24,2,4 memcpy,24
void swap_triple(struct triple *x, struct triple *old)
{
    __atomic_exchange(&plain_triple, x, old, __ATOMIC_ACQ_REL);
}
// hooks: begin_atomic,24,2 end_atomic
_Bool private_exchange(struct triple expected, struct triple x)
{
    return atomic_compare_exchange_strong(&triple, &expected, x);
}
// hooks: memcpy,24 begin_atomic,24,2 end_atomic memcpy
_Bool shared_exchange(struct triple *expected, struct triple x)
{
    return atomic_compare_exchange_strong(&triple, expected, x);
}
// hooks: begin_atomic,16,0 end_atomic,16,0,2 store16 | atomic_load16,2 store16
void read_wide(void)
{
    wide_value = atomic_load_explicit(&wide, memory_order_acquire);
}
// hooks: begin_atomic,16,2 end_atomic,16,2,0 | atomic_rmw16,1,0
void add_wide(long x)
{
    atomic_fetch_add_explicit(&wide, x, memory_order_relaxed);
}
// hooks: memcpy,16 begin_atomic,16,2 end_atomic memcpy | load16 atomic_cas16,5,5 store16
_Bool exchange_wide(__int128 *expected)
{
    return atomic_compare_exchange_strong(&wide, expected, 7);
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
