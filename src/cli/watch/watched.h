/*
 * One program that is watched: its stream, what it is checked against, and what is known of it by now. Programs have
 * nothing in common but the properties and how things are printed; each has its names, its clock and its verdicts.
 */
#ifndef PT_CLI_WATCH_WATCHED_H
#define PT_CLI_WATCH_WATCHED_H

#include "cli/common/analyse.h"
#include "cli/watch/record.h"
#include "cli/watch/verdicts.h"

struct pt_scene;

/* What is asked of every program. */
struct pt_watching {
    struct pt_analyse analyse;
    struct pt_output_options output_options;
    bool exit_on_verdict, log;
    bool live;    /* the terminal is drawn on: nothing else is printed before the end */
    bool several; /* there may be more programs than one: what is printed says of which it is */
    bool shown;   /* somebody looks: each has a scene */
    bool warned;  /* of names that streams never mention */
};

struct pt_watched {
    struct pt_watching *watching;
    char *address;
    char *label; /* "./server (process 12)"; the address until the stream has begun */
    char *program;
    uint32_t pid;
    struct pt_names names;
    uint32_t no_loc;

    int fd;
    struct pt_source *source;
    struct pt_analysis_options engine;
    struct pt_analysis *analysis;
    struct pt_output_options output_options;
    struct pt_output output;
    struct pt_verdicts verdicts;
    struct pt_recording record;
    struct pt_scene *scene; /* NULL: nobody looks */
    uint64_t id;            /* given by the fleet: the views' name for it */
    bool over;              /* the stream has ended, or nobody wants more of it */
    bool concluded;         /* what there is to say in the end is said */
    bool failed;            /* it is damaged; said already */

    bool offset_known;
    int64_t offset;        /* our clock minus the stream's, at least */
    uint64_t last_arrival; /* by our clock */
};

/* Of a connection, which it takes over. `record`: where the stream goes to (-o), NULL: nowhere. */
enum pt_status pt_watched_new(struct pt_watching *watching, const char *address, int fd, const char *record,
                              struct pt_watched **ret_watched, struct pt_err *err) PT_WARN_UNUSED;
void pt_watched_free(struct pt_watched *watched);

/* Takes in what has come, one read of it. */
void pt_watched_receive(struct pt_watched *watched);
/* Nothing had come when we looked, at `now` by our clock: after a second of that, our clock stands in for the stream's.
 * (We may have been held up since, and something may have come.) */
void pt_watched_wait(struct pt_watched *watched, uint64_t now);
/* Brings the scene up to date. */
void pt_watched_show(struct pt_watched *watched);
/* Says what there is to say in the end, and gives the exit status. */
int pt_watched_conclude(struct pt_watched *watched);

#endif
