// Exceptions, virtual calls, std::thread, std::atomic, function statics, lambdas: the output does not depend on the schedule.
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace shop {
struct Item {
    virtual ~Item() = default;
    virtual int price() const = 0;
};
struct Apple : Item {
    int price() const override { return cents; }
    int cents = 30;
};
struct Pear : Apple {
    int price() const override { return Apple::price() + 5; }
};
std::atomic<long> sold{0};
std::map<std::string, int> stock;
std::mutex lock;
} // namespace shop

static std::vector<std::unique_ptr<shop::Item>> &items()
{
    static std::vector<std::unique_ptr<shop::Item>> all;
    static const bool filled = [] {
        all.emplace_back(new shop::Apple);
        all.emplace_back(new shop::Pear);
        return true;
    }();
    (void)filled;
    return all;
}

static void sell(const std::string &name, int count)
{
    for (int i = 0; i < count; i++) {
        std::lock_guard<std::mutex> hold(shop::lock);
        try {
            if (shop::stock[name] <= 0)
                throw std::runtime_error("no " + name);
            shop::stock[name]--;
            shop::sold.fetch_add(items()[name == "pear"]->price(), std::memory_order_relaxed);
        } catch (const std::exception &e) {
            if (std::string(e.what()) != "no " + name)
                std::terminate();
        }
    }
}

int main()
{
    shop::stock = {{"apple", 700}, {"pear", 300}};
    std::thread first(sell, "apple", 1000), second([] { sell("pear", 1000); });
    first.join();
    second.join();
    std::printf("%ld %d %d\n", shop::sold.load(), shop::stock["apple"], shop::stock["pear"]);
}
