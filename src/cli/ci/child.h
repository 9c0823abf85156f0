/* Other commands of Portent as processes of `ci`: each with a time to be done by. */
#ifndef PT_CLI_CI_CHILD_H
#define PT_CLI_CI_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* A command line that grows word by word; the words are its own. */
struct pt_words_list {
    char **items; /* then NULL */
    uint32_t count;
    size_t cap;
};
void pt_words_list_add(struct pt_words_list *list, const char *word);
void pt_words_list_addf(struct pt_words_list *list, const char *fmt, ...) PT_PRINTF(2, 3);
void pt_words_list_release(struct pt_words_list *list);

struct pt_child {
    const char *folder; /* where it starts, NULL: here */
    const char *output; /* the file for its standard output, NULL: ours */
    uint64_t
        deadline; /* of pt_progress_now, 0: none; then it gets `signal`, and 10 s later SIGKILL, with all it started */
    int signal;
    bool cut; /* afterwards: it was ended for the deadline, or by Ctrl-C */
};

/* The words after `portent`. Returns the exit status as a shell has it; 127 when it cannot be started. */
int pt_child_run(const struct pt_words_list *words, struct pt_child *child);

#endif
