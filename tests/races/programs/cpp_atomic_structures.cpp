/* std::atomic of structures that no instruction stores, or with bytes that belong to nobody: what one store publishes,
 * an acquiring load of another thread has.
 * race: none
 * tsan: does not see what libatomic does, so that data races
 * libraries: -latomic
 */
#include "races.h"
#include <atomic>
#include <thread>

struct three {
    char c[3];
};
struct padded {
    int a;
    short b;
};
struct wide {
    long a, b;
};
struct large {
    long a[5];
};

template <class T> struct published {
    static std::atomic<T> flag;
    static int data;
    static void run(T set, bool (*is_set)(const T &))
    {
        std::thread writer([=] {
            data = 42;
            flag.store(set, std::memory_order_release);
        });
        std::thread reader([=] {
            while (!is_set(flag.load(std::memory_order_acquire)))
                std::this_thread::yield();
            data++;
        });
        std::thread other([] {
            T seen = flag.load();
            flag.compare_exchange_strong(seen, seen);
        });
        writer.join();
        reader.join();
        other.join();
    }
};
template <class T> std::atomic<T> published<T>::flag;
template <class T> int published<T>::data;

int main()
{
    published<three>::run({{1, 2, 3}}, [](const three &t) { return t.c[0] == 1; });
    published<padded>::run({1, 2}, [](const padded &p) { return p.a == 1; });
    published<wide>::run({1, 2}, [](const wide &w) { return w.a == 1; });
    published<large>::run({{1, 2, 3, 4, 5}}, [](const large &l) { return l.a[0] == 1; });
    published<long double>::run(1.5L, [](const long double &d) { return d == 1.5L; });
    return 0;
}
