/* A text goes with the last of its exceptions, and whoever looks at it through a pointer must come before that.
 * race: * r:A free:B
 * levels: -O2
 */
#include "races.h"
#include <memory>
#include <stdexcept>
#include <thread>

int main()
{
    auto failure = std::make_unique<std::runtime_error>("a text that is too long to lie in a string itself");
    const char *text = failure->what();
    std::thread one([text] {
        USE(text[5]); /* A */
        pass(1);
    });
    std::thread two([&failure] {
        await(1);
        failure.reset(); /* B */
    });
    one.join();
    two.join();
    return 0;
}
