#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <portent-catch2.h>

#include <thread>

#include "counter.h"

TEST_CASE("adds")
{
    std::thread a([] { counter_add(1); }), b([] { counter_add(1); });
    a.join();
    b.join();
    CHECK(counter_get() == 2);
}

TEST_CASE("peeks")
{
    std::thread a([] { counter_add(1); }), b([] { counter_peek(); });
    a.join();
    b.join();
    CHECK(counter_get() == 3);
}
