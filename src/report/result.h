/* Results as files: what `check --json`, `run -r` and `model --json` wrote, read back into findings. */
#ifndef PT_REPORT_RESULT_H
#define PT_REPORT_RESULT_H

#include "base/buf.h"
#include "finding/finding.h"

/* An event of the run that shows that a block is not causally atomic. */
struct pt_block_step {
    const char *thread; /* its name, or its number */
    const char *text;
    const char *role;        /* "begin", "foreign", "later" or something else */
    const char *file;        /* "" where unknown */
    uint32_t line;           /* 0: unknown */
    const char *loc;         /* of a run's event, as its trace has it, else "" */
    const char *op, *object; /* of a run's event, else "" */
    struct pt_value value;   /* its own, if it has one, ... */
    uint64_t trace_line;     /* ... and where it stands in the trace; 0: not known */
    uint32_t *after;         /* the steps it causally follows at once, all before it */
    uint32_t after_count;
};

/* What `model` says about one atomic block, or `check --atomicity` (then `thread` is 0). */
struct pt_block {
    uint32_t thread, number, line, column;
    const char *thread_name; /* "" where none is given */
    const char *name;        /* "" */
    const char *file;        /* "" */
    bool atomic;
    bool unknown; /* and so not `atomic` */
    bool of_run;  /* and with it: */
    uint64_t occurrences, violated, unfinished;
    const char *loc;                /* where it begins, as its trace has it */
    const struct pt_finding *tried; /* as of struct pt_block_finding */
    struct pt_block_step *steps;
    uint32_t step_count;
    const char *suppressed; /* this and the next two as of a finding */
    bool known;
    uint32_t times;
};

/* Whether it is a violation, and one that counts. */
static inline bool pt_block_violated(const struct pt_block *block)
{
    return !block->atomic && !block->unknown;
}
static inline bool pt_block_counts(const struct pt_block *block)
{
    return pt_block_violated(block) && !block->suppressed && !block->known;
}

struct pt_loaded {
    struct pt_arena arena;
    struct pt_result result; /* its findings have arenas of their own */
    bool is_model;           /* it has no findings */
    bool is_list;            /* of processes: it says nothing but what they do, which are among `merged` */
    struct pt_block *blocks; /* of a model, or of a run beside its findings */
    uint32_t block_count;
    struct pt_block_findings *of_run; /* the blocks of a run once more, as `check` has them; NULL: there are none */
    const char *file;                 /* its name, and when that was written; NULL: not known */
    const char *written;
    const char *limit;        /* why some blocks are unknown, NULL */
    struct pt_loaded *merged; /* those that were put into this one, freed with it */
};

/* `label` names the text in errors. PT_EINPUT: it is no result, with the member that is wrong. */
enum pt_status pt_result_read(const char *label, const char *text, size_t len, struct pt_loaded **ret_loaded,
                              struct pt_err *err) PT_WARN_UNUSED;
void pt_loaded_free(struct pt_loaded *loaded);
/* Moves the findings and blocks of `from` into `into`, duplicates counted; `from` is then freed with `into`. */
void pt_loaded_merge(struct pt_loaded *into, struct pt_loaded *from);
/* The id of a block's finding, made of names and numbers within the source, not of lines. */
struct pt_finding_id pt_block_id(const struct pt_block *block);
/* What suppressions call it: its name, else THREAD/NUMBER. */
void pt_block_label(const struct pt_block *block, struct pt_buf *buf);

#endif
