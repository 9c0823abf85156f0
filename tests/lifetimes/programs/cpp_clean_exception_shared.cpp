/* Whoever lets go of an exception last destroys it, after all who had it: thrown again from a copy of the pointer, and
 * caught where it was thrown.
 * life: none
 */
#include "races.h"
#include <exception>
#include <string>
#include <thread>

namespace
{
struct Failed {
    int code = 7;
    std::string text = "a text that is too long to lie in the string itself";
    ~Failed()
    {
        code = 0;
    }
};
} // namespace

static void look_at(const Failed &failed)
{
    USE(failed.code);
    USE(failed.text[3]);
}

static void look(std::exception_ptr pointer)
{
    try {
        std::rethrow_exception(pointer);
    } catch (const Failed &failed) {
        look_at(failed);
    }
}

int main()
{
    std::exception_ptr pointer;
    try {
        throw Failed();
    } catch (...) {
        pointer = std::current_exception();
    }
    std::thread one([](std::exception_ptr own) { look(std::move(own)), pass(1); }, pointer);
    std::thread two([](std::exception_ptr own) { await(1), look(std::move(own)), pass(2); }, std::move(pointer));
    await(2);
    std::thread three([&pointer] {
        try {
            throw Failed();
        } catch (const Failed &failed) {
            pointer = std::current_exception();
            std::thread four([](std::exception_ptr own) { look(std::move(own)), pass(3); }, std::move(pointer));
            await(3);
            look_at(failed);
            four.detach();
        }
    });
    one.join();
    two.join();
    three.join();
    return 0;
}
