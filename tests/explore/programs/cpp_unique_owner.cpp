/* Each of two owners of a shared_ptr believes that it is not the last one, so nobody writes the log.
 * bug: check-then-act
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"
#include <atomic>
#include <memory>
#include <thread>

static std::atomic<int> closed{0};

struct log_file {
    ~log_file()
    {
#ifdef FIXED
        closed++;
#endif
    }
};

static void owner(std::shared_ptr<log_file> log)
{
#ifndef FIXED
    if (log.use_count() == 1)
        closed++;
#endif
    log.reset(); /* A */
}

int main()
{
    auto log = std::make_shared<log_file>();
    std::thread one(owner, log);
    std::thread two(owner, std::move(log));
    one.join();
    two.join();
    return closed == 1 ? 0 : 1;
}
