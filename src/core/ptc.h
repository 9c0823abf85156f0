/*
 * The file of `portent compile`: decentralised properties for one program, byte by byte.
 *
 *   struct pt_ptc       header
 *   configuration       config_bytes: the same bytes that `portent run` hands to the program (core/channel.h), with the
 *                       block of the properties, the watched variables, and the functions that name threads
 *
 * A file is used only for the program it was made for: the one with this build-id or, where the linker made none, this
 * hash of what is loaded from its file read-only. The same holds for the libraries in which it names something (struct
 * pt_library). Everything is checked before it is used (pt_ptc_problem): a file that was cut short, damaged or made up
 * is refused.
 */
#ifndef PT_CORE_PTC_H
#define PT_CORE_PTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/channel.h"

#define PT_PTC_MAGIC "PTPROP1"
enum { PT_PTC_VERSION = 6 };

struct pt_ptc {
    char magic[8];
    uint32_t version;
    uint32_t id_bytes; /* of the build-id */
    unsigned char id[PT_ID_MAX];
    uint64_t config_bytes; /* a multiple of 8 */
    uint64_t hash;         /* pt_fnv of the configuration */
};

/* Why these bytes, 8-aligned, are no such file; NULL: they are. */
const char *pt_ptc_problem(const void *bytes, size_t len);
/* Are the tables of a configuration of so many bytes inside it, its strings ended, its block a good one? */
bool pt_config_is_sound(const struct pt_config *config, size_t bytes);

#endif
