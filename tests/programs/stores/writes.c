/* Stores that an optimiser would delete, merge or move. `writes:` says what each function must be seen to write; main
 * calls them in this order. */
#include <stdlib.h>
#include <string.h>
typedef int four __attribute__((vector_size(16)));
struct pair {
    int left, right;
};
int x, table[4];
static int unread;
struct pair pair;
const struct pair first = {1, 2}, second = {3, 4};
struct {
    unsigned low : 3, high : 5;
} bits;
long double real;
four lanes;
volatile int port;
_Atomic int flag;
union {
    int number;
    float real;
} either;

// writes: x=1 x=2
static void adjacent(void)
{
    x = 1;
    x = 2;
}

// writes: x=2
static void of_itself(void)
{
    x = x;
}

// writes: x=3 x=4
static void through(int *p)
{
    *p = 3;
    *p = 4;
}

// writes: x=0 x=0 x=0 x=1 x=0 x=2 x=3 x=6
static void in_a_loop(int n)
{
    for (int i = 0; i < n; i++) {
        x = 0;
        x = i;
    }
    x = 3;
    x += 3;
}

// writes: x=0 x=1 x=3
static void summed(int n)
{
    x = 0;
    for (int i = 1; i < n; i++)
        x += i;
}

// writes: table[0]=5 table[0]=7 table[1]=5 table[1]=7 table[2]=5 table[2]=7 table[3]=5 table[3]=7
static void filled(void)
{
    for (int i = 0; i < 4; i++) {
        table[i] = 5;
        table[i] = 7;
    }
}

// writes: unread=1 unread=2
static void never_read(void)
{
    unread = 1;
    unread = 2;
}

// writes: kept::inside=8 kept::inside=9
static void kept(void)
{
    static int inside;
    inside = 8;
    inside = 9;
}

// writes: pair.left=1 pair.right=2 pair.left=3 pair.right=4
static void copied(void)
{
    pair = first;
    pair = second;
}

// writes: pair.left=5 pair.right=6 pair.left=6 pair.right=5
static void from_registers(int a, int b)
{
    pair = (struct pair){a, b};
    pair = (struct pair){b, a};
}

// writes: pair.left=0 pair.right=0 pair.left=1 pair.right=2
static void by_library(void)
{
    memset(&pair, 0, sizeof pair);
    memcpy(&pair, &first, sizeof pair);
}

// writes: bits.low=1 bits.high=9 bits.low=2 bits.low=3
static void fields(void)
{
    bits.low = 1;
    bits.high = 9;
    bits.low = 2;
    bits.low = 3;
}

// writes: real=1.5 real=2.5
static void long_doubles(void)
{
    real = 1.5L;
    real = 2.5L;
}

// writes: lanes[1]=2 lanes[1]=6
static void vectors(void)
{
    lanes = (four){1, 2, 3, 4};
    lanes = (four){5, 6, 7, 8};
}

// writes: port=1 port=1 flag=1 flag=2
static void volatile_and_atomic(void)
{
    port = 1;
    port = 1;
    __c11_atomic_store(&flag, 1, __ATOMIC_RELAXED);
    __c11_atomic_store(&flag, 2, __ATOMIC_RELAXED);
}

// writes: either.number=0 either.number=1065353216
static void unions(void)
{
    either.number = 0;
    either.real = 1;
}

// writes: x=11 x=12
static void before_exit(void)
{
    x = 11;
    x = 12;
    exit(0);
}

int main(void)
{
    adjacent();
    of_itself();
    through(&x);
    in_a_loop(3);
    summed(3);
    filled();
    never_read();
    kept();
    copied();
    from_registers(5, 6);
    by_library();
    fields();
    long_doubles();
    vectors();
    volatile_and_atomic();
    unions();
    before_exit();
}
