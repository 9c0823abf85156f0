/*
 * Jobs: one thread of the tool each, with a program of its own; the first is the calling thread. In a round they take
 * runs in order of their number. A program's process ends with the thread that started it (PR_SET_PDEATHSIG), so the
 * threads live as long as the crew. Guarantee: the outcome of a run depends on its plan and on what was shared before
 * the round, not on who did it. Cost: a lock per run.
 */
#include "explore/crew.h"

#include <pthread.h>
#include <stdlib.h>

struct job {
    struct pt_explore_crew *crew;
    struct pt_explore_program *program;
    pthread_t thread;
    uint32_t number;
};

struct pt_explore_crew {
    struct job *jobs;
    uint32_t job_count, started; /* threads that run, beside the caller's */
    uint64_t timeout;
    pthread_mutex_t lock;
    pthread_cond_t work, rest;
    /* the round */
    const struct pt_explore_plan *plans;
    struct pt_explore_outcome *outcomes;
    uint32_t count, next, busy;
    uint32_t last; /* runs behind it are not needed */
    pt_explore_stops stops;
    void *context;
    enum pt_status status;
    struct pt_err err;
    bool ends;
};

/* The lock is held, and is again afterwards. */
static void do_next(struct job *job)
{
    struct pt_explore_crew *crew = job->crew;
    uint32_t index = crew->next++;
    struct pt_explore_outcome *outcome = &crew->outcomes[index];
    struct pt_err err;
    crew->busy++;
    pthread_mutex_unlock(&crew->lock);
    struct pt_explore *file = pt_explore_program_file(job->program);
    pt_explore_places_unmeet(file);
    enum pt_status status = pt_explore_program_run(job->program, &crew->plans[index], crew->timeout, outcome, &err);
    if (status == PT_OK)
        pt_explore_places_met(file, outcome);
    bool stops = status == PT_OK && crew->stops && crew->stops(crew->context, outcome);
    pthread_mutex_lock(&crew->lock);
    if (status != PT_OK && crew->status == PT_OK) {
        crew->status = status;
        crew->err = err;
    }
    if ((stops || status != PT_OK) && index < crew->last)
        crew->last = index;
    crew->busy--;
    if (!crew->busy)
        pthread_cond_broadcast(&crew->rest);
}

static bool has_work(const struct pt_explore_crew *crew)
{
    return crew->next < crew->count && crew->next <= crew->last;
}

static void *work(void *context)
{
    struct job *job = context;
    struct pt_explore_crew *crew = job->crew;
    pthread_mutex_lock(&crew->lock);
    while (!crew->ends) {
        if (has_work(crew))
            do_next(job);
        else
            pthread_cond_wait(&crew->work, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    pt_explore_program_free(job->program); /* by the thread that started it */
    job->program = NULL;
    return NULL;
}

enum pt_status pt_explore_crew_new(const struct pt_explore_setup *setup, uint32_t jobs, uint64_t timeout,
                                   struct pt_explore_crew **ret_crew, struct pt_err *err)
{
    struct pt_explore_crew *crew = pt_xcalloc(1, sizeof *crew);
    enum pt_status status = PT_OK;
    crew->jobs = pt_xcalloc(jobs, sizeof *crew->jobs);
    crew->timeout = timeout;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->work, NULL);
    pthread_cond_init(&crew->rest, NULL);
    for (uint32_t i = 0; i < jobs && status == PT_OK; i++) {
        struct pt_explore_setup own = *setup;
        own.job = i;
        crew->jobs[i] = (struct job){.crew = crew, .number = i};
        status = pt_explore_program_new(&own, &crew->jobs[i].program, err);
        crew->job_count = status == PT_OK ? i + 1 : i;
    }
    for (uint32_t i = 1; i < crew->job_count && status == PT_OK; i++) {
        if (pthread_create(&crew->jobs[i].thread, NULL, work, &crew->jobs[i]) != 0)
            status = pt_err_set(err, PT_EIO, "cannot start a thread");
        else
            crew->started = i;
    }
    if (status != PT_OK)
        pt_explore_crew_free(crew);
    else
        *ret_crew = crew;
    return status;
}

void pt_explore_crew_free(struct pt_explore_crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->ends = true;
    pthread_cond_broadcast(&crew->work);
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t i = 1; i <= crew->started; i++)
        pthread_join(crew->jobs[i].thread, NULL);
    for (uint32_t i = 0; i < crew->job_count; i++)
        pt_explore_program_free(crew->jobs[i].program);
    pthread_cond_destroy(&crew->work);
    pthread_cond_destroy(&crew->rest);
    pthread_mutex_destroy(&crew->lock);
    free(crew->jobs);
    free(crew);
}

uint32_t pt_explore_crew_jobs(const struct pt_explore_crew *crew)
{
    return crew->job_count;
}

bool pt_explore_crew_is_unserved(const struct pt_explore_crew *crew)
{
    for (uint32_t i = 0; i < crew->job_count; i++)
        if (pt_explore_program_is_unserved(crew->jobs[i].program))
            return true;
    return false;
}

static void begin_round(struct pt_explore_crew *crew, const struct pt_explore_places *places)
{
    for (uint32_t i = 0; i < crew->job_count; i++)
        pt_explore_places_write(places, pt_explore_program_file(crew->jobs[i].program));
}

static void end_round(struct pt_explore_crew *crew, struct pt_explore_places *places, uint32_t *ret_fresh)
{
    *ret_fresh = 0;
    for (uint32_t i = 0; i < crew->job_count; i++) {
        const struct pt_explore *file = pt_explore_program_file(crew->jobs[i].program);
        pt_explore_places_read(places, i, file);
    }
    for (uint32_t i = 0; i < crew->count; i++) {
        if (i > crew->last) /* whether it was done depends on the jobs */
            pt_explore_outcome_release(&crew->outcomes[i]);
        else if (crew->outcomes[i].done)
            pt_explore_places_take(places, &crew->outcomes[i]);
        if (!crew->plans[i].ahead)
            *ret_fresh += pt_explore_places_meet(places, &crew->outcomes[i]);
    }
}

enum pt_status pt_explore_crew_round(struct pt_explore_crew *crew, struct pt_explore_places *places,
                                     const struct pt_explore_plan *plans, uint32_t count, pt_explore_stops stops,
                                     void *context, struct pt_explore_outcome *ret_outcomes, uint32_t *ret_fresh,
                                     struct pt_err *err)
{
    begin_round(crew, places);
    for (uint32_t i = 0; i < count; i++)
        ret_outcomes[i] = (struct pt_explore_outcome){0};
    pthread_mutex_lock(&crew->lock);
    crew->plans = plans;
    crew->outcomes = ret_outcomes;
    crew->next = 0;
    crew->count = count;
    crew->last = count;
    crew->stops = stops;
    crew->context = context;
    crew->status = PT_OK;
    if (crew->job_count > 1 && count > 1)
        pthread_cond_broadcast(&crew->work);
    while (has_work(crew))
        do_next(&crew->jobs[0]);
    while (crew->busy)
        pthread_cond_wait(&crew->rest, &crew->lock);
    enum pt_status status = crew->status;
    if (status != PT_OK)
        *err = crew->err;
    pthread_mutex_unlock(&crew->lock);
    end_round(crew, places, ret_fresh);
    return status;
}
