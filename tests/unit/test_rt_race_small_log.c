/* The same of logs whose blocks are so short that several share a word of bits (PT_RACE_SMALL). */
#include "test_rt_race_log.c"
