/* Two lock_guards in the order of the arguments; std::scoped_lock takes both without the danger.
 * bug: deadlock
 * depth: 2
 * fails: deadlock
 * place: A
 */
#include "catalogue.h"
#include <mutex>
#include <thread>

struct account {
    std::mutex m;
    int balance = 100;
};
static account a, b;

static void transfer(account &from, account &to)
{
#ifdef FIXED
    std::scoped_lock guard(from.m, to.m);
#else
    std::lock_guard<std::mutex> first(from.m);
    std::lock_guard<std::mutex> second(to.m); /* A */
#endif
    from.balance -= 10;
    to.balance += 10;
}

int main()
{
    std::thread one([] { transfer(a, b); }), two([] { transfer(b, a); });
    one.join();
    two.join();
    return a.balance + b.balance == 200 ? 0 : 98;
}
