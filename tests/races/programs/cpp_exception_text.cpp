/* Copies of an exception share its text, and whoever destroys the last one frees it, after all others: automatic
 * objects, through pointers, of derived classes, thrown and caught by value, and by assignment.
 * race: none
 * flags: -std=c++17
 */
#include "races.h"
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace
{
struct Own : std::out_of_range {
    using std::out_of_range::out_of_range;
};
} // namespace

static void look_at(const std::exception &failure)
{
    for (const char *c = failure.what(); *c; c++)
        USE(*c);
}

static int step;

template <class Failure> static void share(const Failure &failure)
{
    auto first = std::make_unique<Failure>(failure), second = std::make_unique<Failure>(failure);
    std::optional<Failure> third(failure);
    int now = step;
    step += 2;
    std::thread one([&] { look_at(*first), first.reset(), pass(now + 1); });
    std::thread two([&] { await(now + 1), look_at(*second), second.reset(), pass(now + 2); });
    std::thread three([&] { await(now + 2), look_at(*third), third.reset(); });
    one.join();
    two.join();
    three.join();
}

/* The first copies are gone when their threads begin. */
template <class Failure> static void share_text()
{
    auto failure = std::make_unique<Failure>("a text that is too long to lie in a string itself");
    Failure copy(*failure);
    failure.reset();
    share(copy);
}

static void assign()
{
    std::runtime_error first("this is the text that they share, and it is long"), second(first);
    int now = step;
    step += 1;
    std::thread one(
        [&] { look_at(first), first = std::runtime_error("another text, of the same length or so"), pass(now + 1); });
    std::thread two([&] { await(now + 1), look_at(second), second = std::runtime_error("and one more, likewise"); });
    one.join();
    two.join();
}

/* What the library throws it destroys itself. */
static void fail()
{
    std::optional<std::invalid_argument> kept;
    std::thread two;
    int now = step;
    step += 1;
    std::thread one([&] {
        try {
            USE(std::stoi("no number at all"));
        } catch (const std::invalid_argument &failure) {
            kept.emplace(failure);
            two = std::thread([&kept, now] { await(now + 1), look_at(*kept), kept.reset(); });
            look_at(failure);
        }
        pass(now + 1);
    });
    one.join();
    two.join();
}

/* This one has more than a text. */
static void share_paths()
{
    auto failure = std::make_unique<std::filesystem::filesystem_error>(
        "a text that is too long to lie in a string itself", "/a/path/that/is/too/long/for/that", std::error_code());
    std::filesystem::filesystem_error copy(*failure);
    failure.reset();
    share(copy);
}

int main()
{
    share_paths();
    share_text<std::runtime_error>();
    share_text<std::logic_error>();
    share_text<std::underflow_error>();
    share_text<Own>();
    assign();
    fail();
    return 0;
}
