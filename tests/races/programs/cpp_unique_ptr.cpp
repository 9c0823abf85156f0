/* An object that is moved into a thread, and back by its future.
 * race: none
 */
#include "races.h"
#include <future>
#include <memory>

int main()
{
    auto object = std::make_unique<int>(1);
    auto future = std::async(
        std::launch::async,
        [](std::unique_ptr<int> given) {
            ++*given;
            return given;
        },
        std::move(object));
    object = future.get();
    return *object != 2;
}
