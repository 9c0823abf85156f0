/*
 * race_free properties inside the program: the race engine (runtime/race) finds races, and here is said which of them
 * such a property forbids, and what follows from that.
 */
#ifndef PT_RUNTIME_LOCAL_RACE_PROPERTIES_H
#define PT_RUNTIME_LOCAL_RACE_PROPERTIES_H

#include "core/found.h"
#include "runtime/thread/thread.h"

/* The properties of the configuration, before the first other thread is known. `check`: races are asked for by
 * themselves, too. */
void pt_race_properties_configure(struct pt_thread *self, const struct pt_config *config, bool check);
/* In a child that begins anew, before that: there are no properties. */
void pt_race_properties_restart(void);
/* A module was loaded: variables in it have a place now. */
void pt_race_properties_resolve(void);
/* From here on no property is checked. */
void pt_race_properties_stop(void);
/* A thread that is about to run, or that nobody has seen start; and one that gives itself a name. */
void pt_race_properties_thread(struct pt_thread *thread);
void pt_race_properties_named(const struct pt_thread *thread, const char *name);
/* portent_watch has named an object. */
void pt_race_properties_watched(uint32_t object);

/* For pt_race_hooks. */
uint64_t pt_race_properties_asked(uintptr_t granule, unsigned bytes, uint32_t one, uint32_t other);
uint64_t pt_race_properties_apart(uintptr_t address, bool element, uint32_t one, uint32_t other);
void pt_race_properties_found(const struct pt_found *found, uint64_t asked);

#endif
