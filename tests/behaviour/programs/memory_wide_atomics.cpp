/* std::atomic of 16 and of 24 bytes, through libatomic, handed from thread to thread.
 * holds: turn >= 0 && turn <= 40
 * violated: turn != 40
 * ordered: yes
 * libraries: -latomic
 */
#include "say.h"
#include <atomic>
#include <thread>

struct wide {
    long a, b;
};
struct wider {
    long a, b, c;
};
static std::atomic<wide> shared;
static std::atomic<wider> other;
static int turn;

static void take_turns(long me)
{
    for (;;) {
        wide now = shared.load();
        if (now.a >= 40)
            return;
        if (now.a % 2 != me) {
            std::this_thread::yield();
            continue;
        }
        SAY(turn, turn + 1); /* ordered by the atomic */
        wider before = other.load();
        NEED(before.a == now.a && before.c == -now.a);
        other.store({before.a + 1, 0, -before.a - 1});
        shared.store({now.a + 1, now.b + now.a});
    }
}

int main()
{
    std::thread one(take_turns, 0L), two(take_turns, 1L);
    one.join();
    two.join();
    printf("%ld %ld\n", shared.load().a, shared.load().b);
    return 0;
}
