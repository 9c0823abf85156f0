/* The same with logs and regions that are short, and pages that are soon busy (PT_RACE_SMALL). */
#include "test_rt_race_busy.c"
