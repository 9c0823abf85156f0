/*
 * For Catch2, version 2: a test case, or section, during which Portent finds something fails, and shows it. Include this after
 * <catch2/catch.hpp> in the source file that defines CATCH_CONFIG_MAIN or CATCH_CONFIG_RUNNER; then
 *
 *   PORTENT_OPTIONS=races=1:deadlocks=1:log_path=FILE ./tests
 *
 * (portent-found.h).
 */
#ifndef PORTENT_CATCH2_H
#define PORTENT_CATCH2_H

#include "portent-found.h"

namespace portent
{

class catch2_listener : public Catch::TestEventListenerBase
{
    found found_;

  public:
    using TestEventListenerBase::TestEventListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo &test) override
    {
        TestEventListenerBase::testCaseStarting(test);
        found_.news();
    }
    /* Listeners come before reporters: what fails here is still part of the section. */
    void sectionEnded(const Catch::SectionStats &section) override
    {
        std::string news = found_.news();
        if (!news.empty())
            FAIL_CHECK("Portent found:\n" << news);
        TestEventListenerBase::sectionEnded(section);
    }
};

CATCH_REGISTER_LISTENER(catch2_listener)

} /* namespace portent */

#endif
