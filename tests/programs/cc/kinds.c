/*
 * One function per kind of access. The line before each function lists the hooks it must call, in order (run_cc.py
 * reads it); with optimisation, no load or store may be left beside them, except where `inline` says that the access
 * stays between a begin and an end. `|` separates what different versions of clang make of a function.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

char c;
short s;
int i;
long l;
__int128 q;
float f;
double d;
long double ld;
bool b;
int *p;
volatile int v;
_Thread_local int tls;
struct bits {
    unsigned a : 3, b : 7, wide : 20;
} bits;
struct __attribute__((packed)) packed {
    char c;
    int i;
    long l;
} packed;
struct big {
    int a[25];
} big, other;
struct pair {
    long a, b;
} pair;
typedef int vec4 __attribute__((vector_size(16)));
vec4 vec;
_BitInt(24) odd;
_Complex double z;
int array[8];
const int table[4] = {1, 2, 3, 4};
pthread_mutex_t mutex;
pthread_cond_t condition;

// hooks: load1
char load_char(void)
{
    return c;
}
// hooks: load2
short load_short(void)
{
    return s;
}
// hooks: load4
int load_int(void)
{
    return i;
}
// hooks: load8
long load_long(void)
{
    return l;
}
// hooks: load16
__int128 load_int128(void)
{
    return q;
}
// hooks: load4
float load_float(void)
{
    return f;
}
// hooks: load8
double load_double(void)
{
    return d;
}
// hooks: load1
bool load_bool(void)
{
    return b;
}
// hooks: load8
int *load_pointer(void)
{
    return p;
}
// hooks: load8 load4
int load_through(void)
{
    return *p;
}
// hooks: store1
void store_char(char x)
{
    c = x;
}
// hooks: store2
void store_short(short x)
{
    s = x;
}
// hooks: store4
void store_int(int x)
{
    i = x;
}
// hooks: store8
void store_long(long x)
{
    l = x;
}
// hooks: store16
void store_int128(__int128 x)
{
    q = x;
}
// hooks: store4
void store_float(float x)
{
    f = x;
}
// hooks: store8
void store_double(double x)
{
    d = x;
}
// hooks: store1
void store_bool(bool x)
{
    b = x;
}
// hooks: store8
void store_pointer(int *x)
{
    p = x;
}
// hooks: peek4 store4
void increment(void)
{
    i++;
}
// hooks: load4 load4 store4
void volatile_sum(void)
{
    int x = v;
    v = x + v;
}
// hooks: peek4 store4
void thread_local_increment(void)
{
    tls++;
}
// hooks: peek4 store4
void bit_field(int x)
{
    bits.b = (unsigned)x & 127;
}
// hooks: load4
unsigned bit_field_read(void)
{
    return bits.a;
}
// hooks: load4 store8
void unaligned(void)
{
    packed.l = packed.i;
}
// hooks: begin_write end_write inline
void store_long_double(long double x)
{
    ld = x;
}
// hooks: begin_read end_read inline
long double load_long_double(void)
{
    return ld;
}
// hooks: begin_read end_read begin_write end_write inline
void vector(void)
{
    vec += 1;
}
// hooks: begin_read end_read begin_write end_write inline | load4 store4
void odd_width(void)
{
    odd++;
}
// hooks: store8 store8
void complex(double x)
{
    z = x;
}
// hooks: memcpy
void struct_copy(void)
{
    big = other;
}
// hooks: memcpy
void struct_through(struct pair *to, const struct pair *from)
{
    *to = *from;
}
// hooks: memcpy
void copy(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
// hooks: memmove
void move(char *to, const char *from, size_t n)
{
    memmove(to, from, n);
}
// hooks: memset
void fill(char *to, int x, size_t n)
{
    memset(to, x, n);
}
// hooks: load4
int element(int at)
{
    return array[at];
}
// hooks:
int constant(int at)
{
    return table[at] + "abc"[at];
}
// hooks:
int local(int x)
{
    int mine[3] = {x, 2, 3};
    struct pair both = {x, mine[x & 1]};
    volatile int kept = (int)both.b;
    return kept + mine[(x + 1) & 1];
}
void use(int *);
// hooks: store4 load4
int escaped(void)
{
    int mine;
    use(&mine);
    mine = 1;
    use(&mine);
    return mine;
}

_Atomic char ac;
_Atomic short as;
atomic_int ai;
atomic_long al;
_Atomic __int128 aq;
_Atomic(int *) ap;
_Atomic float af;
atomic_bool ab;
// hooks: atomic_load4,0
int atomic_relaxed(void)
{
    return atomic_load_explicit(&ai, memory_order_relaxed);
}
// hooks: atomic_load4,2
int atomic_acquire(void)
{
    return atomic_load_explicit(&ai, memory_order_acquire);
}
// hooks: atomic_load4,5
int atomic_seq_cst(void)
{
    return ai;
}
// hooks: atomic_load1,5
char atomic_load_char(void)
{
    return ac;
}
// hooks: atomic_load2,5
short atomic_load_short(void)
{
    return as;
}
// hooks: atomic_load8,5
long atomic_load_long(void)
{
    return al;
}
// hooks: atomic_load16,5
__int128 atomic_int128(void)
{
    return aq;
}
// hooks: atomic_load8,5
int *atomic_pointer(void)
{
    return ap;
}
// hooks: atomic_load4,5
float atomic_float(void)
{
    return af;
}
// hooks: atomic_load1,5
bool atomic_load_bool(void)
{
    return ab;
}
// hooks: atomic_store4,0
void atomic_store_relaxed(int x)
{
    atomic_store_explicit(&ai, x, memory_order_relaxed);
}
// hooks: atomic_store4,3
void atomic_store_release(int x)
{
    atomic_store_explicit(&ai, x, memory_order_release);
}
// hooks: atomic_store4,5
void atomic_store_seq_cst(int x)
{
    ai = x;
}
// hooks: atomic_store16,5
void atomic_store_int128(__int128 x)
{
    aq = x;
}
// hooks: atomic_store4,5
void atomic_store_float(float x)
{
    af = x;
}
// hooks: atomic_rmw4,0,4
int rmw_exchange(int x)
{
    return __atomic_exchange_n((int *)&ai, x, __ATOMIC_ACQ_REL);
}
// hooks: atomic_rmw4,1,0
int rmw_add(int x)
{
    return atomic_fetch_add_explicit(&ai, x, memory_order_relaxed);
}
// hooks: atomic_rmw4,2,2
int rmw_sub(int x)
{
    return atomic_fetch_sub_explicit(&ai, x, memory_order_acquire);
}
// hooks: atomic_rmw4,3,3
int rmw_and(int x)
{
    return atomic_fetch_and_explicit(&ai, x, memory_order_release);
}
// hooks: atomic_rmw4,4,5
int rmw_nand(int x)
{
    return __atomic_fetch_nand((int *)&ai, x, __ATOMIC_SEQ_CST);
}
// hooks: atomic_rmw8,5,5
long rmw_or(long x)
{
    return __atomic_fetch_or((long *)&al, x, __ATOMIC_SEQ_CST);
}
// hooks: atomic_rmw2,6,5
short rmw_xor(short x)
{
    return atomic_fetch_xor(&as, x);
}
// hooks: atomic_rmw4,7,5
int rmw_max(int x)
{
    return __atomic_fetch_max((int *)&ai, x, __ATOMIC_SEQ_CST);
}
// hooks: atomic_rmw4,8,5
int rmw_min(int x)
{
    return __atomic_fetch_min((int *)&ai, x, __ATOMIC_SEQ_CST);
}
// hooks: atomic_rmw4,9,5
unsigned rmw_umax(unsigned x)
{
    return __atomic_fetch_max((unsigned *)&ai, x, __ATOMIC_SEQ_CST);
}
// hooks: atomic_rmw4,10,5
unsigned rmw_umin(unsigned x)
{
    return __atomic_fetch_min((unsigned *)&ai, x, __ATOMIC_SEQ_CST);
}
// hooks: atomic_rmw16,1,5
__int128 rmw_int128(__int128 x)
{
    return __sync_fetch_and_add(&q, x);
}
// hooks: atomic_rmw1,0,2
bool test_and_set(atomic_flag *flag)
{
    return atomic_flag_test_and_set_explicit(flag, memory_order_acquire);
}
// hooks: begin_write end_write inline
float rmw_float(float x)
{
    return __atomic_fetch_add(&f, x, __ATOMIC_SEQ_CST);
}
// hooks: atomic_cas4,5,5
bool cas_strong(int x)
{
    return __sync_bool_compare_and_swap((int *)&ai, x, 1);
}
// hooks: atomic_cas8,4,2
bool cas_weak(long x)
{
    return atomic_compare_exchange_weak_explicit(&al, &x, 1, memory_order_acq_rel, memory_order_acquire);
}
// hooks: atomic_cas1,3,0
bool cas_release(char x)
{
    return atomic_compare_exchange_strong_explicit(&ac, &x, 1, memory_order_release, memory_order_relaxed);
}
// hooks: atomic_cas16,5,5
bool cas_int128(__int128 x)
{
    return __sync_bool_compare_and_swap(&q, x, 1);
}
// hooks: fence,2
void fence_acquire(void)
{
    atomic_thread_fence(memory_order_acquire);
}
// hooks: fence,3
void fence_release(void)
{
    atomic_thread_fence(memory_order_release);
}
// hooks: fence,4
void fence_acq_rel(void)
{
    atomic_thread_fence(memory_order_acq_rel);
}
// hooks: fence,5
void fence_seq_cst(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
// hooks:
void fence_signal(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}
// hooks: call
int sync_lock(void)
{
    return pthread_mutex_lock(&mutex);
}
// hooks: load8 call
int sync_through_pointer(void)
{
    return pthread_mutex_unlock((pthread_mutex_t *)p);
}
// hooks: call store4
void sync_wait(void)
{
    pthread_cond_wait(&condition, &mutex);
    i = 0;
}
// hooks: call
int sync_join(pthread_t thread)
{
    return pthread_join(thread, NULL);
}
// hooks:
int no_sync(void)
{
    return pthread_mutex_init(&mutex, NULL);
}
// hooks:
int sync_by_pointer(int (*lock)(pthread_mutex_t *))
{
    return lock(&mutex);
}
// clang-format off
// hooks:
__attribute__((no_sanitize("thread"))) int opted_out(void) { return i; } // not checked for loads
// clang-format on
// clang-format off
// hooks:
__attribute__((no_sanitize_thread)) int opted_out_too(void) { return i; } // not checked for loads
// clang-format on
// hooks: load4
__attribute__((pure)) int pure(void)
{
    return i;
}
