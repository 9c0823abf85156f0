/* Virtual calls, lambdas, pointers to members and function pointers that write what a namespace holds.
 * holds: stock::level >= 0 && stock::level <= 44
 * violated: stock::level != 33
 * ordered: yes
 */
#include "say.h"
#include <functional>

namespace stock
{
static int level;

struct shelf {
    virtual ~shelf()
    {
    }
    virtual void put(int n)
    {
        level = n, said("stock::level", n);
    }
    void twice(int n)
    {
        put(n);
        put(2 * n);
    }
};
struct top : shelf {
    void put(int n) override
    {
        level = n + 11, said("stock::level", n + 11);
    }
};
} // namespace stock

int main()
{
    using namespace stock;
    top high;
    shelf *any = &high;
    void (shelf::*member)(int) = &shelf::twice;
    (any->*member)(11);
    std::function<void(int)> later = [any](int n) { any->shelf::put(n); };
    later(44);
    printf("%d\n", level);
    return 0;
}
