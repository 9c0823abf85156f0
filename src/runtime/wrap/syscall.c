/* syscall(). As the kernel has it, six words follow the number, however many of them the call means. */
#include "runtime/wrap/syscall.h"

#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/explore/explore.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

PT_WRAP(long, syscall, (long number, ...))
{
    long words[6];
    va_list list;
    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex && (pt_is_active() || pt_wrap_streaming() || pt_explore_on))
        return pt_syscall_futex(PT_REAL(syscall), words);
    bool filters = pt_syscall_before(number, words);
    long result = PT_REAL(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (filters && result == 0)
        pt_sys_go_quiet();
    if (result == 0)
        pt_syscall_after(number, words);
    return result;
}
