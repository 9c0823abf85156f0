/*
 * The table of operations, row by row, against what the contract (section 3) and docs/wire-format.md say. The
 * expectations are written out here once more, and nothing here is made from core/ops.def: whoever changes a row by
 * mistake hears of it. The tables of docs/trace-format.md and docs/wire-format.md are held against the rows as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/channel.h"
#include "core/ops.h"
#include "core/wire.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* In the order of their numbers in binary traces. Access: - none, r read, w write, u both, f fork, j join. */
static const struct expected {
    enum pt_op op;
    const char *word;
    enum pt_space space;
    char access;
    enum pt_value_rule value;
    bool thread;
    unsigned wire;
    enum pt_mttl_what mttl;
} expected[] = {
    {PT_OP_INIT, "init", PT_SPACE_VAR, '-', PT_VALUE_MUST, false, 0, PT_MTTL_OTHER},
    {PT_OP_FORK, "fork", PT_SPACE_THREAD, 'f', PT_VALUE_NEVER, true, 3, PT_MTTL_OTHER},
    {PT_OP_JOIN, "join", PT_SPACE_THREAD, 'j', PT_VALUE_NEVER, true, 4, PT_MTTL_OTHER},
    {PT_OP_READ, "r", PT_SPACE_VAR, 'r', PT_VALUE_MAY, true, 0, PT_MTTL_READ},
    {PT_OP_WRITE, "w", PT_SPACE_VAR, 'w', PT_VALUE_MAY, true, 5, PT_MTTL_WRITE},
    {PT_OP_UPDATE, "u", PT_SPACE_VAR, 'u', PT_VALUE_MAY, true, 6, PT_MTTL_UPDATE},
    {PT_OP_ACQ, "acq", PT_SPACE_LOCK, 'w', PT_VALUE_NEVER, true, 7, PT_MTTL_OTHER},
    {PT_OP_REL, "rel", PT_SPACE_LOCK, 'w', PT_VALUE_NEVER, true, 8, PT_MTTL_OTHER},
    {PT_OP_RACQ, "racq", PT_SPACE_LOCK, 'r', PT_VALUE_NEVER, true, 9, PT_MTTL_OTHER},
    {PT_OP_RREL, "rrel", PT_SPACE_LOCK, 'r', PT_VALUE_NEVER, true, 10, PT_MTTL_OTHER},
    {PT_OP_WAIT, "wait", PT_SPACE_OTHER, 'w', PT_VALUE_NEVER, true, 12, PT_MTTL_OTHER},
    {PT_OP_NOTIFY, "notify", PT_SPACE_OTHER, 'w', PT_VALUE_NEVER, true, 13, PT_MTTL_OTHER},
    {PT_OP_SYNC, "sync", PT_SPACE_OTHER, 'w', PT_VALUE_NEVER, true, 14, PT_MTTL_OTHER},
    {PT_OP_BEGIN, "begin", PT_SPACE_BLOCK, '-', PT_VALUE_NEVER, true, 15, PT_MTTL_ENTER},
    {PT_OP_END, "end", PT_SPACE_BLOCK, '-', PT_VALUE_NEVER, true, 16, PT_MTTL_LEAVE},
    {PT_OP_EVENT, "event", PT_SPACE_EVENT, '-', PT_VALUE_NEVER, true, 17, PT_MTTL_USER},
    {PT_OP_INTERNAL, "int", PT_SPACE_LOCAL, '-', PT_VALUE_MUST, true, 18, PT_MTTL_OTHER},
    {PT_OP_STATE, "state", PT_SPACE_STATE, '-', PT_VALUE_NEVER, true, 19, PT_MTTL_OTHER},
    {PT_OP_CONTENDED, "contended", PT_SPACE_LOCK, '-', PT_VALUE_NEVER, true, 11, PT_MTTL_OTHER},
    {PT_OP_CLOCK, "clock", PT_SPACE_COUNT, '-', PT_VALUE_NEVER, false, 0, PT_MTTL_OTHER},
    {PT_OP_LOST, "lost", PT_SPACE_OTHER, '-', PT_VALUE_MUST, false, 0, PT_MTTL_OTHER},
    {PT_OP_ALLOC, "alloc", PT_SPACE_HEAP, '-', PT_VALUE_MAY, true, 0, PT_MTTL_OTHER},
    {PT_OP_FREE, "free", PT_SPACE_HEAP, '-', PT_VALUE_NEVER, true, 0, PT_MTTL_OTHER},
    {PT_OP_FENCE, "fence", PT_SPACE_COUNT, '-', PT_VALUE_NEVER, true, 0, PT_MTTL_OTHER},
    {PT_OP_STACK, "stack", PT_SPACE_STACK, '-', PT_VALUE_TEXT, false, 0, PT_MTTL_OTHER},
};

static void rows_say_what_the_contract_says(void **state)
{
    (void)state;
    assert_int_equal(LENGTH(expected), PT_OP_COUNT);
    for (unsigned i = 0; i < LENGTH(expected); i++) {
        const struct expected *e = &expected[i];
        assert_int_equal(e->op, i);
        assert_string_equal(pt_op_word(e->op), e->word);
        assert_int_equal(pt_op_space(e->op), e->space);
        assert_int_equal(pt_op_has_object(e->op), e->op != PT_OP_CLOCK && e->op != PT_OP_FENCE);
        assert_int_equal(pt_op_has_thread(e->op), e->thread);
        assert_int_equal(pt_op_value_rule(e->op), e->value);
        assert_int_equal(pt_op_mttl(e->op), e->mttl);
        assert_int_equal(pt_op_wire(e->op), e->wire);
    }
}

static void accesses(void **state)
{
    static const char letters[] = {[PT_ACCESS_NONE] = '-',   [PT_ACCESS_READ] = 'r', [PT_ACCESS_WRITE] = 'w',
                                   [PT_ACCESS_UPDATE] = 'u', [PT_ACCESS_FORK] = 'f', [PT_ACCESS_JOIN] = 'j'};
    (void)state;
    for (unsigned i = 0; i < LENGTH(expected); i++) {
        const struct expected *e = &expected[i];
        bool reads = e->access == 'r' || e->access == 'u', writes = e->access == 'w' || e->access == 'u';
        assert_int_equal(letters[pt_op_access(e->op)], e->access);
        assert_int_equal(pt_op_reads(e->op), reads);
        assert_int_equal(pt_op_writes(e->op), writes);
        assert_int_equal(pt_op_accesses(e->op), reads || writes);
        assert_int_equal(pt_op_writes_var(e->op), e->op == PT_OP_WRITE || e->op == PT_OP_UPDATE);
        assert_int_equal(pt_op_is_of_thread(e->op), e->op == PT_OP_FORK || e->op == PT_OP_JOIN);
    }
}

static void no_operation_does_nothing(void **state)
{
    (void)state;
    assert_string_equal(pt_op_word(PT_OP_COUNT), "");
    assert_int_equal(pt_op_space(PT_OP_COUNT), PT_SPACE_COUNT);
    assert_int_equal(pt_op_wire(PT_OP_COUNT), 0);
    assert_int_equal(pt_op_mttl(PT_OP_COUNT), PT_MTTL_OTHER);
    assert_false(pt_op_accesses(PT_OP_COUNT) || pt_op_is_of_thread(PT_OP_COUNT) || pt_op_has_thread(PT_OP_COUNT));
}

static void words_and_codes_are_unique(void **state)
{
    (void)state;
    for (int a = 0; a < PT_OP_COUNT; a++)
        for (int b = 0; b < a; b++) {
            assert_string_not_equal(pt_op_word(a), pt_op_word(b));
            assert_true(!pt_op_wire(a) || pt_op_wire(a) != pt_op_wire(b));
        }
}

/* --- the channel --- */

static void events_of_the_channel(void **state)
{
    static const struct {
        enum pt_event_kind kind;
        enum pt_op op;
        enum pt_object_by by;
    } kinds[] = {
        {PT_KIND_WRITE, PT_OP_WRITE, PT_BY_WATCH},
        {PT_KIND_UPDATE, PT_OP_UPDATE, PT_BY_WATCH},
        {PT_KIND_READ, PT_OP_READ, PT_BY_WATCH},
        {PT_KIND_WRITE_AT, PT_OP_WRITE, PT_BY_MEMORY},
        {PT_KIND_UPDATE_AT, PT_OP_UPDATE, PT_BY_MEMORY},
        {PT_KIND_READ_AT, PT_OP_READ, PT_BY_MEMORY},
        {PT_KIND_USER, PT_OP_EVENT, PT_BY_INDEX},
        {PT_KIND_OTHER_USER, PT_OP_EVENT, PT_BY_NAME},
        {PT_KIND_INTERNAL, PT_OP_INTERNAL, PT_BY_NAME},
        {PT_KIND_BEGIN, PT_OP_BEGIN, PT_BY_NAME},
        {PT_KIND_END, PT_OP_END, PT_BY_NAME},
        {PT_KIND_ENDED, PT_OP_STATE, PT_BY_NOTHING},
        {PT_KIND_FENCE, PT_OP_FENCE, PT_BY_NOTHING},
        {PT_KIND_FORK, PT_OP_FORK, PT_BY_THREAD},
        {PT_KIND_JOIN, PT_OP_JOIN, PT_BY_THREAD},
        {PT_KIND_ACQ, PT_OP_ACQ, PT_BY_ADDRESS},
        {PT_KIND_REL, PT_OP_REL, PT_BY_ADDRESS},
        {PT_KIND_RACQ, PT_OP_RACQ, PT_BY_ADDRESS},
        {PT_KIND_RREL, PT_OP_RREL, PT_BY_ADDRESS},
        {PT_KIND_WAIT, PT_OP_WAIT, PT_BY_ADDRESS},
        {PT_KIND_NOTIFY, PT_OP_NOTIFY, PT_BY_ADDRESS},
        {PT_KIND_SYNC, PT_OP_SYNC, PT_BY_ADDRESS},
        {PT_KIND_ALLOC, PT_OP_ALLOC, PT_BY_EXTENT},
        {PT_KIND_FREE, PT_OP_FREE, PT_BY_EXTENT},
        {PT_KIND_FREED, PT_OP_COUNT, PT_BY_EXTENT},
        {PT_KIND_NAMED, PT_OP_COUNT, PT_BY_NOTHING},
        {PT_KIND_COUNT, PT_OP_COUNT, PT_BY_NOTHING},
        {PT_KIND_COUNT + 1, PT_OP_COUNT, PT_BY_NOTHING},
    };
    bool seen[PT_KIND_COUNT + 2] = {false};
    (void)state;
    assert_int_equal(LENGTH(kinds), LENGTH(seen));
    for (unsigned i = 0; i < LENGTH(kinds); i++) {
        assert_false(seen[kinds[i].kind]);
        seen[kinds[i].kind] = true;
        assert_int_equal(pt_kind_op(kinds[i].kind), kinds[i].op);
        assert_int_equal(pt_kind_by(kinds[i].kind), kinds[i].by);
        assert_true(kinds[i].op == PT_OP_COUNT || pt_op_has_object(kinds[i].op) || kinds[i].by == PT_BY_NOTHING);
    }
    assert_int_not_equal(pt_kind_by(0), PT_BY_ADDRESS); /* runtime/thread/thread.h: 0 is no synchronisation */
}

/* --- the wire --- */

static void numbers_of_the_wire(void **state)
{
    static const char *const words[] = {NULL,   "state", "state", "fork",  "join",      "w",    "u",
                                        "acq",  "rel",   "racq",  "rrel",  "contended", "wait", "notify",
                                        "sync", "begin", "end",   "event", "int",       "state"};
    (void)state;
    for (unsigned number = 0; number < 256; number++) {
        enum pt_op op = pt_wire_op(number);
        const char *object = number == 1 ? "running" : number == 2 ? "ended" : NULL;
        if (number < LENGTH(words) && words[number])
            assert_string_equal(pt_op_word(op), words[number]);
        else
            assert_int_equal(op, PT_OP_COUNT);
        if (object)
            assert_string_equal(pt_wire_state(number), object);
        else
            assert_null(pt_wire_state(number));
        if (op != PT_OP_COUNT && !object)
            assert_int_equal(pt_op_wire(op), number);
    }
    assert_int_equal(PT_WIRE_OP_START, 1);
    assert_int_equal(PT_WIRE_OP_END, 2);
    assert_int_equal(PT_WIRE_OP_FINISH, 16);
    assert_int_equal(PT_WIRE_OP_USER, 17);
}

/* Both in binary traces and on the wire. */
static void numbers_of_spaces(void **state)
{
    static const enum pt_space order[] = {PT_SPACE_THREAD, PT_SPACE_VAR,    PT_SPACE_LOCK,  PT_SPACE_OTHER,
                                          PT_SPACE_BLOCK,  PT_SPACE_EVENT,  PT_SPACE_LOCAL, PT_SPACE_STATE,
                                          PT_SPACE_LOC,    PT_SPACE_STRING, PT_SPACE_HEAP,  PT_SPACE_STACK};
    (void)state;
    assert_int_equal(LENGTH(order), PT_SPACE_COUNT);
    for (unsigned i = 0; i < LENGTH(order); i++)
        assert_int_equal(order[i], i);
    assert_int_equal(PT_WIRE_SPACES, 8);
}

/* --- the documents --- */

/* Calls `row` for each row of the table that begins with this heading; returns how many there were. */
static unsigned each_row(const char *path, const char *heading, void (*row)(char *line, bool *seen), bool *seen)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    unsigned count = 0;
    bool inside = false;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, heading, strlen(heading)) == 0)
            inside = true;
        else if (inside && line[0] != '|')
            break;
        else if (inside && strncmp(line, "|-", 2) != 0) {
            row(line, seen);
            count++;
        }
    }
    fclose(file);
    return count;
}

/* Each `THREAD\|WORD(...)...` of a line says whether its word has a thread, an object and a value. */
static void check_trace_row(char *line, bool *seen)
{
    for (char *p = line + 2; (p = strchr(p, '`')); p++) {
        char *end = strchr(p + 1, '`');
        assert_non_null(end);
        *end = '\0';
        bool nobody = p[1] == '-';
        char *word = strstr(p, "\\|");
        assert_non_null(word);
        word += 2;
        size_t len = strcspn(word, "(\\");
        int op = 0;
        while (op < PT_OP_COUNT && (strlen(pt_op_word(op)) != len || strncmp(pt_op_word(op), word, len) != 0))
            op++;
        if (op == PT_OP_COUNT)
            fail_msg("docs/trace-format.md has '%.*s', which is no operation", (int)len, word);
        seen[op] = true;
        assert_int_equal(pt_op_has_thread(op), !nobody);
        assert_int_equal(pt_op_has_object(op), word[len] == '(');
        bool given = word[len] == '(' && strstr(word, ")=");
        assert_true(given ? pt_op_value_rule(op) != PT_VALUE_NEVER : pt_op_value_rule(op) != PT_VALUE_MUST);
        p = end;
        if (end[1] != ',') /* the meaning may have code in it too */
            break;
    }
}

static void trace_format(void **state)
{
    bool seen[PT_OP_COUNT] = {false};
    (void)state;
    assert_true(each_row("docs/trace-format.md", "| line | meaning |", check_trace_row, seen) > 10);
    for (int op = 0; op < PT_OP_COUNT; op++)
        if (!seen[op])
            fail_msg("docs/trace-format.md does not have '%s'", pt_op_word(op));
}

static enum pt_space documented_space(const char *object)
{
    static const struct {
        const char *text;
        enum pt_space space;
    } texts[] = {{"its parent; nothing", PT_SPACE_STATE},
                 {"thread-local variable", PT_SPACE_LOCAL},
                 {"thread", PT_SPACE_THREAD},
                 {"variable", PT_SPACE_VAR},
                 {"lock", PT_SPACE_LOCK},
                 {"other object", PT_SPACE_OTHER},
                 {"block", PT_SPACE_BLOCK},
                 {"user event", PT_SPACE_EVENT},
                 {"state", PT_SPACE_STATE}};
    for (unsigned i = 0; i < LENGTH(texts); i++)
        if (strncmp(object, texts[i].text, strlen(texts[i].text)) == 0)
            return texts[i].space;
    fail_msg("docs/wire-format.md has the object '%s'", object);
    return PT_SPACE_COUNT;
}

/* | NUMBERS | meaning | object | extra |, where NUMBERS is `a`, `a, b` or `a to b`. */
static void check_wire_row(char *line, bool *seen)
{
    char *meaning = strstr(line + 1, " | "), *object = meaning ? strstr(meaning + 3, " | ") : NULL;
    assert_non_null(object);
    char *rest;
    unsigned long first = strtoul(line + 1, &rest, 10), last = first;
    if (strncmp(rest, ", ", 2) == 0)
        last = strtoul(rest + 2, NULL, 10);
    else if (strncmp(rest, " to ", 4) == 0)
        last = strtoul(rest + 4, NULL, 10);
    const char *word = meaning + 3;
    for (unsigned long number = first; number <= last; number++) {
        enum pt_op op = pt_wire_op((unsigned)number);
        assert_true(number && number < 256 && !seen[number]);
        seen[number] = true;
        assert_int_equal(pt_op_space(op), documented_space(object + 3));
        if (op == PT_OP_FORK || op == PT_OP_JOIN || pt_op_space(op) == PT_SPACE_LOCK ||
            pt_op_space(op) == PT_SPACE_OTHER) {
            assert_int_equal(strncmp(word, pt_op_word(op), strlen(pt_op_word(op))), 0);
            word += strlen(pt_op_word(op)) + 2; /* and the comma */
        }
    }
}

static void wire_format(void **state)
{
    bool seen[256] = {false};
    (void)state;
    assert_true(each_row("docs/wire-format.md", "| what | | object | extra |", check_wire_row, seen) > 5);
    for (unsigned number = 0; number < 256; number++)
        assert_int_equal(seen[number], pt_wire_op(number) != PT_OP_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_say_what_the_contract_says),
        cmocka_unit_test(accesses),
        cmocka_unit_test(no_operation_does_nothing),
        cmocka_unit_test(words_and_codes_are_unique),
        cmocka_unit_test(events_of_the_channel),
        cmocka_unit_test(numbers_of_the_wire),
        cmocka_unit_test(numbers_of_spaces),
        cmocka_unit_test(trace_format),
        cmocka_unit_test(wire_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
