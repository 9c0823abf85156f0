// Exceptions leave functions without returning; whoever goes on has its own depth again.
#include <cstdio>
#include <stdexcept>

extern "C" void print_stack(const char *what);
int shared;

[[gnu::noinline]] static void fails(int depth)
{
    if (depth == 0)
        throw std::runtime_error("");
    fails(depth - 1);
    shared++;
}

struct guard {
    ~guard()
    {
        print_stack("cleanup");
        shared++;
    }
};

[[gnu::noinline]] static void cleans()
{
    guard g;
    fails(3);
}

[[gnu::noinline]] static void catches()
{
    try {
        cleans();
    } catch (const std::exception &) {
        print_stack("caught");
    }
    print_stack("after");
}

int main()
{
    catches();
    print_stack("main");
}
