#include <gtest/gtest.h>
#include <portent-gtest.h>

#include <thread>

#include "counter.h"

TEST(Counter, Adds)
{
    std::thread a([] { counter_add(1); }), b([] { counter_add(1); });
    a.join();
    b.join();
    EXPECT_EQ(counter_get(), 2);
}

TEST(Counter, Peeks)
{
    std::thread a([] { counter_add(1); }), b([] { counter_peek(); });
    a.join();
    b.join();
    EXPECT_EQ(counter_get(), 3);
}

TEST(Counter, Gets)
{
    EXPECT_EQ(counter_get(), 3);
}
