/* new and delete, arrays, placement, virtual destructors, containers and strings.
 * holds: live >= 0 && live <= 12
 * violated: live < 12
 * ordered: yes
 */
#include "say.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

static int live;

struct base {
    base()
    {
        SAY(live, live + 1);
    }
    base(const base &) : base()
    {
    }
    virtual ~base()
    {
        SAY(live, live - 1);
    }
    virtual int kind() const
    {
        return 1;
    }
};
struct derived : base {
    std::string text = "a text that is too long to be kept in place";
    int kind() const override
    {
        return (int)text.size();
    }
};

int main()
{
    {
        std::vector<std::unique_ptr<base>> all;
        for (int i = 0; i < 5; i++)
            all.emplace_back(i % 2 ? new derived : new base);
        std::shared_ptr<base> shared = std::make_shared<derived>(), again = shared;
        base *row = new base[6];
        delete[] row;
        alignas(derived) char room[sizeof(derived)];
        derived *placed = new (room) derived;
        printf("%d %d\n", placed->kind(), all[2]->kind() + (int)shared.use_count());
        placed->~derived();
    }
    std::map<std::string, int> counts;
    for (const char *word : {"one", "two", "one"})
        counts[word]++;
    printf("%d %d\n", counts["one"], live);
    return 0;
}
