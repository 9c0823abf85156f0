/*
 * libstdc++'s own file of this name, with one answer changed: members of std::string are instantiated in the program, as C++20 does anyway, and not taken from
 * libstdc++.so. So `portent c++` instruments them, and sees what they do to a string. Nothing else changes: neither layout nor meaning, and no
 * assertion comes with it. Where another library is used (libc++), nobody asks for this file.
 */
#pragma GCC system_header
#include_next <bits/c++config.h>
#if defined _GLIBCXX_EXTERN_TEMPLATE && _GLIBCXX_EXTERN_TEMPLATE > 0
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1 /* libstdc++'s way to say: extern templates, but for strings */
#endif
