/* Exceptions: through frames with destructors, rethrown, through a thread by exception_ptr, from new.
 * holds: x <= 7
 * violated: x != 6
 * ordered: yes
 */
#include "say.h"
#include <exception>
#include <new>
#include <stdexcept>
#include <thread>

static int x;

struct guard {
    int value;
    ~guard()
    {
        SAY(x, value);
    }
};

static int deep(int n)
{
    guard here{n};
    if (n == 0)
        throw std::runtime_error("deep down");
    return deep(n - 1) + 1;
}

int main()
{
    try {
        try {
            deep(3);
        } catch (std::logic_error &) {
            puts("wrong");
        } catch (...) {
            SAY(x, 5);
            throw;
        }
    } catch (std::runtime_error &error) {
        puts(error.what());
    }
    std::exception_ptr carried;
    std::thread([&] {
        guard here{6};
        try {
            throw 42;
        } catch (...) {
            carried = std::current_exception();
        }
    }).join();
    try {
        std::rethrow_exception(carried);
    } catch (int value) {
        printf("%d\n", value);
    }
    try {
        volatile size_t much = (size_t)1 << 62;
        delete[] new char[much];
    } catch (std::bad_alloc &) {
        SAY(x, 7);
    }
    return 0;
}
