/*
 * Finding ids: the same for the same violation in another run, and after lines were added to the program. So they are
 * made of names alone: the property, its kind and variables, and who did what last, the thread by its start function
 * (`worker` for `worker#2`); places, values and the other steps of the witness vary from run to run. So does the event
 * that reveals a decentralised violation. What it is about does not: the variable of a race, which is the event's, and
 * of an atomic block its name and the two threads, of which either may be the one that was disturbed. What a built-in
 * check found is called by what it is about, its sides being as many threads and places as there are runs; memory that
 * has no name at all by the functions that access it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "core/mttl.h"
#include "core/finding_key.h"
#include "finding/finding.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Parts end in NUL, so that no two lists of parts make the same text. */
static void add(struct pt_buf *buf, const char *part, size_t len)
{
    pt_buf_add(buf, part, len);
    pt_buf_add(buf, "", 1);
}

static void add_thread(struct pt_buf *buf, const char *name)
{
    add(buf, name, pt_finding_key_thread(name));
}

/* In the same order whichever is which. */
static void add_threads(struct pt_buf *buf, const char *one, const char *other)
{
    size_t len = pt_finding_key_thread(one), other_len = pt_finding_key_thread(other);
    int order = memcmp(one, other, len < other_len ? len : other_len);
    bool swap = order > 0 || (order == 0 && len > other_len);
    add_thread(buf, swap ? other : one);
    add_thread(buf, swap ? one : other);
}

/* False: no atomic block was disturbed. */
static bool add_blocks(struct pt_buf *buf, const struct pt_finding *finding)
{
    bool any = false;
    for (uint32_t i = 0; i < finding->first.knew_count; i++) {
        const struct pt_known *known = &finding->first.knew[i];
        if (known->value.kind != PT_VALUE_STRING || strcmp(known->text, PT_MTTL_TEXT_DISTURBED) != 0)
            continue;
        add(buf, known->value.s, known->value.len);
        add_threads(buf, finding->first.thread, known->thread);
        any = true;
    }
    return any;
}

/* Memory without a name is called by its address, which is another one in the next run. */
static void add_object(struct pt_buf *buf, const char *name)
{
    bool address = name[0] == '0' && name[1] == 'x';
    add(buf, name, address ? 0 : strlen(name));
}

/* Elements of an array count as one, `a[].b` for `a[3].b`: which of them shows a race first, varies. */
static void add_element(struct pt_buf *buf, const char *name)
{
    struct pt_buf plain;
    pt_buf_init(&plain);
    for (; *name; name = pt_finding_key_next(name))
        pt_buf_add(&plain, name, 1);
    add_object(buf, plain.text ? plain.text : "");
    pt_buf_release(&plain);
}

static void add_variables(struct pt_buf *buf, const struct pt_finding *finding)
{
    const char **names = pt_xcalloc(finding->value_count + 1, sizeof *names);
    for (uint32_t i = 0; i < finding->value_count; i++)
        names[i] = finding->initial[i].name;
    qsort(names, finding->value_count, sizeof *names, compare_names);
    for (uint32_t i = 0; i < finding->value_count; i++)
        add(buf, names[i], strlen(names[i]));
    free(names);
}

/* Memory that not even the source has a name for: by the functions of the sides, whichever came first. */
static void add_functions(struct pt_buf *buf, const struct pt_finding *finding)
{
    const char **names = pt_xcalloc((size_t)finding->side_count + 1, sizeof *names);
    uint32_t count = 0;
    for (uint32_t i = 0; i < finding->side_count; i++)
        if (finding->sides[i].stack && finding->sides[i].stack[0])
            names[count++] = finding->sides[i].stack[0];
    qsort(names, count, sizeof *names, compare_names);
    for (uint32_t i = 0; i < count; i++) {
        const char *place = strrchr(names[i], ' ');
        add(buf, names[i], place ? (size_t)(place - names[i]) : strlen(names[i]));
    }
    free(names);
}

static int compare_elements(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a = pt_finding_key_next(a);
        b = pt_finding_key_next(b);
    }
    return (unsigned char)*a - (unsigned char)*b;
}

/* Of several variables that race at the same places the first by its name: which is met first, varies. */
static const char *named_object(const struct pt_finding *finding)
{
    const char *least = finding->object ? finding->object : "";
    if (finding->block || strncmp(least, "0x", 2) == 0)
        return least;
    for (const char *const *name = finding->also; name && *name; name++)
        if (compare_elements(*name, least) < 0)
            least = *name;
    return least;
}

struct pt_finding_id pt_finding_id(const struct pt_finding *finding)
{
    return pt_finding_id_on(finding, named_object(finding));
}

struct pt_finding_id pt_finding_id_on(const struct pt_finding *finding, const char *object)
{
    struct pt_finding_id id;
    struct pt_buf buf;
    pt_buf_init(&buf);
    add(&buf, finding->property, strlen(finding->property));
    add(&buf, finding->kind, strlen(finding->kind));
    if (finding->initial)
        add_variables(&buf, finding);
    if (finding->builtin) {
        add_element(&buf, object);
        if (!object[0] || strncmp(object, "0x", 2) == 0)
            add_functions(&buf, finding);
    } else if (finding->witness_count) {
        const struct pt_step *last = &finding->witness[finding->witness_count - 1];
        add_thread(&buf, last->thread);
        add(&buf, last->op, strlen(last->op));
        add_object(&buf, last->object);
    } else if (finding->first.state > 0 && !add_blocks(&buf, finding)) {
        /* which of the racing threads comes second, varies; what they race on, does not */
        const struct pt_step *event = &finding->first.event;
        if (strcmp(event->op, "fork") == 0 || strcmp(event->op, "join") == 0)
            add_thread(&buf, event->object);
        else
            add_element(&buf, event->object);
    }
    snprintf(id.text, sizeof id.text, "%016llx", (unsigned long long)XXH64(buf.text, buf.len, 0));
    pt_buf_release(&buf);
    return id;
}

uint64_t pt_finding_key(const struct pt_finding *finding)
{
    if (finding->side_count > 2) { /* a cycle, which begins anywhere */
        uint64_t sum = 0;
        for (uint32_t i = 0; i < finding->side_count; i++) {
            struct pt_finding_side side = {finding->sides[i].step.loc, finding->sides[i].step.object};
            sum += pt_finding_key_race(side, side);
        }
        return sum ? sum : 1;
    }
    if (pt_finding_places(finding))
        return pt_finding_places(finding);
    if (finding->side_count) {
        const struct pt_step *one = &finding->sides[0].step, *other = &finding->sides[finding->side_count - 1].step;
        return pt_finding_key_race((struct pt_finding_side){one->loc, one->object},
                                   (struct pt_finding_side){other->loc, other->object});
    }
    return 0;
}

bool pt_finding_is_same(const struct pt_finding *a, const struct pt_finding *b)
{
    return pt_finding_key(a) == pt_finding_key(b);
}
