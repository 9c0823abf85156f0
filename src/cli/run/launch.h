/* Starting a program under observation, passing signals on to it, and learning how it ended. */
#ifndef PT_CLI_RUN_LAUNCH_H
#define PT_CLI_RUN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "trace/channel.h"

enum { PT_EXIT_CANNOT_RUN = 126, PT_EXIT_NOT_FOUND = 127, PT_EXIT_SIGNAL = 128 }; /* as a shell has them */

/* The file that `name` stands for, searched in PATH as a shell does; the caller frees it. NULL: *ret_exit says why. */
char *pt_launch_find(const char *name, int *ret_exit, struct pt_err *err);

struct pt_launched {
    pid_t program;
    struct pt_channel_reader *reader; /* knows which of its children is observed in its place */
    pid_t guard;
    int guard_pipe; /* closing it ends the guard */
    int pidfd;      /* of a process that somebody else started; -1: the program is our child */
    int signal;     /* when it has ended: the one that killed it; 0: none did */
    int stop;       /* with it: readable when it is not to be observed any longer */
};

/* What a started program finds in its environment (core/channel.h). */
struct pt_launch_means {
    struct pt_channel_reader *reader;
    bool keeps_channel;     /* its descriptor is not handed over: the program is not instrumented */
    const char *rendezvous; /* for the processes that it starts; NULL: none */
    bool ends;              /* it is not to outlive us, however we end */
};

/*
 * Starts the program with the channel. From then on signals that someone sends to this process are sent on to the
 * program; those of the terminal reach it anyway, and do nothing here. A guard process waits for the end of this one,
 * however it comes, and then lets the program know that nobody reads any more.
 */
enum pt_status pt_launch(const char *path, const char *const *arguments, const struct pt_launch_means *means,
                         struct pt_launched *ret_launched, struct pt_err *err) PT_WARN_UNUSED;
/* Runs it to its end without anything of ours, and returns its exit status as a shell gives it; -1: it could not be
 * started, or did not end within so many nanoseconds, and was killed. It does not outlive us. */
int pt_launch_usual(const char *path, const char *const *arguments, uint64_t patience);
/* The same for a process that runs already, with a guard of its own; signals are not passed on to it. */
enum pt_status pt_launch_attach(const struct pt_launched *attached, struct pt_launched *ret_launched,
                                struct pt_err *err) PT_WARN_UNUSED;
/* Ends that; true: the process has ended, too. */
bool pt_launch_detach(struct pt_launched *launched);
/* Before pt_launch: children whose parents end become ours, so that their ends are seen. */
void pt_launch_adopt(void);
/* To the program, or to the child that is observed in its place. */
void pt_launch_kill(const struct pt_launched *launched, int number);
/* Has the program ended, and the child that is observed in its place? It stays a zombie until pt_launch_end. */
bool pt_launch_is_over(const struct pt_launched *launched);
/* How many living children have we beside `helper`? The first `room` are listed. Whatever the program leaves behind is
 * one after pt_launch_adopt; those of them that have ended are waited for here. */
uint32_t pt_launch_left(pid_t helper, pid_t *ret_left, uint32_t room);
/* The program's exit status as a shell gives it: 128 + the signal's number when one killed it. */
int pt_launch_end(struct pt_launched *launched);

#endif
