/* Those who have caught one exception share it.
 * race: * w:A r:B
 */
#include "races.h"
#include <exception>
#include <thread>

namespace
{
struct Failed {
    int code = 7;
};
} // namespace

int main()
{
    std::exception_ptr pointer = std::make_exception_ptr(Failed());
    std::thread one([pointer] {
        try {
            std::rethrow_exception(pointer);
        } catch (Failed &failed) {
            failed.code = 8; /* A */
            pass(1);
            await(2);
        }
    });
    std::thread two([pointer] {
        try {
            std::rethrow_exception(pointer);
        } catch (const Failed &failed) {
            await(1);
            USE(failed.code); /* B */
            pass(2);
        }
    });
    one.join();
    two.join();
    return 0;
}
