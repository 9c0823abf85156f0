/*
 * JSON text, written member by member in the order given. Integers up to UINT64_MAX are written
 * exactly, floating-point numbers in their shortest form that reads back the same.
 */
#ifndef PT_REPORT_JSON_WRITER_H
#define PT_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/value.h"

struct pt_json {
    struct pt_buf *buf;
    bool has_before; /* something stands before in this object or array, so that a comma is due */
};

/* `key` is NULL for an array's element and for the outermost value. */
void pt_json_open(struct pt_json *json, const char *key, char bracket); /* '{' or '[' */
void pt_json_close(struct pt_json *json, char bracket);                 /* '}' or ']' */
void pt_json_string(struct pt_json *json, const char *key, const char *text);
void pt_json_uint(struct pt_json *json, const char *key, uint64_t value);
void pt_json_bool(struct pt_json *json, const char *key, bool value);
void pt_json_null(struct pt_json *json, const char *key);
/* A value that is JSON already; line ends after it are left out. */
void pt_json_text(struct pt_json *json, const char *key, const char *text);
/* Seconds, to the microsecond. */
void pt_json_seconds(struct pt_json *json, const char *key, double value);
/* Integers and floating point as numbers (nan and infinities, which JSON lacks, as strings); unknown as null. */
void pt_json_value(struct pt_json *json, const char *key, struct pt_value value);

#endif
