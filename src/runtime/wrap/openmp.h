/* The order that OpenMP's library makes (openmp.c), and that of its tasks (openmp_tasks.c). */
#ifndef PT_RUNTIME_WRAP_OPENMP_H
#define PT_RUNTIME_WRAP_OPENMP_H

/* Tasks that have ended are told here: nobody leaves a barrier, or a region, before those of the team have. One object
 * for all teams, which is more order than there is. */
extern const char pt_openmp_ended[8];

/* Carried from who tells to who hears. No lock: another order of a lock's sections is a possible run, and members
 * that begin before their region is none. */
void pt_openmp_tell(const void *object);
void pt_openmp_hear(const void *object);

/* Called where a region begins, so that a program with regions has the tool. */
void pt_openmp_follow_tasks(void);

#endif
