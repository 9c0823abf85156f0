/* Included before all else in every source whose object is part of all three forms of the runtime (CMakeLists.txt):
 * such a source must not ask which form it is in. */
#ifndef PT_RUNTIME_EVERY_FORM_H
#define PT_RUNTIME_EVERY_FORM_H

#pragma GCC poison PT_RT_STATIC

#endif
