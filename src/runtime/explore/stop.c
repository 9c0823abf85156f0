/*
 * Stops for a debugger (`portent replay --gdb`): a function with a breakpoint, which is called while all threads are
 * where they are in the run. What there is to say of it is written by the tool, which knows names and places: the
 * program waits for that a moment, and goes on without where the tool is gone.
 */
#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"

/* What the debugger prints at the breakpoint. */
__attribute__((visibility("default"))) const char *__portent_explore_says = "";
__attribute__((visibility("default"), noinline)) void __portent_explore_stop(void);
void __portent_explore_stop(void)
{
    __asm__ volatile("" ::"m"(__portent_explore_says));
}

static void stop(void)
{
    enum { LOOKS = 50 };
    static const uint64_t look = 100 * 1000 * 1000;
    struct pt_explore *file = pt_run.file;
    uint32_t number = atomic_fetch_add(&file->stops, 1) + 1, told;
    pt_sys_wake_all(&file->stops);
    for (unsigned i = 0; i < LOOKS && (told = atomic_load(&file->told)) != number; i++)
        pt_sys_wait(&file->told, told, look);
    file->says[PT_EXPLORE_SAYS - 1] = '\0';
    __portent_explore_says = file->says;
    __portent_explore_stop();
}

void pt_explore_stop_here(void)
{
    uint64_t step = pt_run.result->step_count;
    if (pt_run.input->wishes & PT_EXPLORE_PATIENT && step &&
        (step == pt_run.input->stop_at || step == pt_run.input->fails_at || step == pt_run.picker.diverged_at))
        stop();
}

void pt_explore_stop_at_end(void)
{
    if (pt_run.input->wishes & PT_EXPLORE_PATIENT)
        stop();
}
