/* When, where and by what a result was made. */
#ifndef PT_FINDING_MADE_H
#define PT_FINDING_MADE_H

struct pt_made {
    const char *time;    /* UTC, "2026-11-17T05:49:50Z" */
    const char *version; /* of portent */
    const char *command; /* portent's own command line, as a shell would take it */
    const char *host;
    const char *commit; /* checked out where the command was given; NULL: none is known */
};

#endif
