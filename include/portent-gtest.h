/*
 * For GoogleTest: a test during which Portent finds something fails, and shows it. Include this in one source file of the tests; then
 *
 *   PORTENT_OPTIONS=races=1:deadlocks=1:log_path=FILE ./tests
 *
 * (portent-found.h). What is found between tests belongs to none of them: the program's exit status tells (66).
 */
#ifndef PORTENT_GTEST_H
#define PORTENT_GTEST_H

#include <gtest/gtest.h>

#include "portent-found.h"

namespace portent
{

class gtest_listener : public testing::EmptyTestEventListener
{
    found found_;

    void OnTestStart(const testing::TestInfo &) override
    {
        found_.news();
    }
    void OnTestEnd(const testing::TestInfo &) override
    {
        std::string news = found_.news();
        if (!news.empty())
            ADD_FAILURE() << "Portent found:\n" << news;
    }
};

/* Last in the list, so that it is asked first when a test ends, before anybody prints how it went. */
static const bool gtest_listens = (testing::UnitTest::GetInstance()->listeners().Append(new gtest_listener), true);

} /* namespace portent */

#endif
