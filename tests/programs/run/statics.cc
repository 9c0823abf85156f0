// Statics of functions that are inlined everywhere.
#include <cstdio>
#include <thread>

static int once()
{
    static int calls;
    return ++calls;
}
namespace ns {
struct C {
    int step() const
    {
        static long steps;
        steps += 2;
        return (int)steps;
    }
};
} // namespace ns

int main()
{
    int sum = 0;
    std::thread a([&] { sum = once() + ns::C().step(); });
    a.join();
    printf("%d\n", sum);
}
