/*
 * Predicted violations of serializability, by triples (prediction.md 3.11): a block of a thread accesses a variable
 * twice, and a run of the same events has an access of it by another thread in between, which conflicts with both. For
 * the check `serializable`, whose recorded run is judged elsewhere.
 */
#ifndef PT_ENGINE_TRIPLES_H
#define PT_ENGINE_TRIPLES_H

#include "engine/check.h"
#include "engine/full_run.h"

struct triples;

struct triples *pt_triples_new(const struct pt_names *names, const struct pt_check_options *options);
void pt_triples_free(struct triples *triples);
/* Every event of a thread, by its number in the trace. */
void pt_triples_event(struct triples *triples, const struct pt_event *event, uint64_t number);
size_t pt_triples_bytes(const struct triples *triples);
/* Adds what was found to the finding, which becomes violated by it. NULL, or why the answer is not whole. */
const char *pt_triples_finish(struct triples *triples, const struct pt_full_run *run, struct pt_finding *finding);

#endif
