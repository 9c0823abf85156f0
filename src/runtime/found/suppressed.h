/* Suppressions inside the program (core/suppress.h): those that the observer has read, or else of PORTENT_OPTIONS'
 * suppressions=FILE. */
#ifndef PT_RUNTIME_FOUND_SUPPRESSED_H
#define PT_RUNTIME_FOUND_SUPPRESSED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/channel.h"

/* Called once, before the first thread that may find something. */
void pt_suppressed_start(const struct pt_config *config);
bool pt_suppressed_any(void);
/* Some name elements of arrays. */
bool pt_suppressed_elements(void);
/* Whether one of them is about a violation of the property (name and text) in this thread, at this object and place. */
bool pt_suppressed_matches(const char *property, const char *text, const char *thread, const char *object,
                           const char *place);
/* Whether one is about all findings of a property of this name. */
bool pt_suppressed_property(const char *name);
/* Whether one is about what a built-in check found (core/found.h, bytes that are whole). */
bool pt_suppressed_found(const char *bytes, size_t len);

#endif
