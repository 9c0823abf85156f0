/* Variables that share a name: statics of overloaded functions, of two blocks and of two lambdas, and a member that a
 * derived class has as well. Each thread has its own of each.
 * race: none
 * flags: -std=c++17
 */
#include "races.h"
#include <thread>

struct base {
    int number;
};
struct derived : base {
    int number;
};
struct left {
    int side;
};
struct right {
    int side;
};
struct two_sides : left, right {
};

static derived object;
static two_sides sides;

static void overloaded(int)
{
    static int count;
    count++;
    USE(count);
}

static void overloaded(long)
{
    static int count;
    count++;
    USE(count);
}

static void blocks(bool first)
{
    if (first) {
        static int count;
        count++;
        USE(count);
    } else {
        static int count;
        count++;
        USE(count);
    }
}

int main()
{
    std::thread one([] {
        static int count;
        count++, overloaded(1), blocks(true), object.base::number++, sides.left::side++;
        USE(count);
    });
    std::thread two([] {
        static int count;
        count++, overloaded(1L), blocks(false), object.number++, sides.right::side++;
        USE(count);
    });
    one.join();
    two.join();
    return 0;
}
