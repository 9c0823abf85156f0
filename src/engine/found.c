/*
 * Findings out of the records in which a running program reports what its built-in checks found (core/found.h). Memory
 * and locks get the names that debug information has for their addresses, threads those of a recording; what has none
 * is called as the source calls it, or by its address.
 *
 * Records of different threads come in any order: a report whose threads have no final names yet waits for the next
 * record or the end. Guarantee: nothing in a report is trusted further than its bytes go; a finding is reported once,
 * and two reports that turn out to be the same one under these names are counted together. Cost: linear in the reports,
 * and a look-up for each count.
 */
#include "engine/found.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/table.h"
#include "core/finding_key.h"
#include "trace/event.h"

struct waiting {
    uint64_t key, count;
    char *bytes;
    size_t len;
};

struct pt_founds {
    uint32_t checks;
    struct pt_found_names names;
    const struct pt_analysis_options *options;
    struct pt_finding *of[PT_FOUND_CHECKS]; /* NULL: nobody asked, and nothing was found */
    struct pt_finding **properties;
    uint32_t property_count;
    struct pt_map64 by_key; /* index into entries */
    struct pt_map64 kinds;  /* of findings, by pt_finding_key */
    struct entry {
        uint64_t count;
        bool reported;
    } * entries;
    uint32_t entry_count;
    size_t entry_cap;
    struct link { /* what an entry counts for */
        uint32_t entry;
        struct pt_finding *finding;
    } * links;
    uint32_t link_count;
    size_t link_cap;
    struct waiting *waiting;
    uint32_t waiting_count;
    size_t waiting_cap;
    uint64_t untold;
    uint64_t started;
    const char *left_out; /* why not all accesses are looked at; NULL: all are */
    bool left_out_asked;
    struct pt_finding **findings; /* the result's and ours */
};

static const struct {
    const char *name, *kind;
} words[] = {[PT_FOUND_RACE] = {"races", "race"},
             [PT_FOUND_DEADLOCK] = {"deadlocks", "deadlock"},
             [PT_FOUND_LIFETIME] = {"lifetimes", "lifetime"}};

static struct pt_finding *make_check(struct pt_founds *f, enum pt_found_check check)
{
    struct pt_finding *finding = f->of[check] = pt_finding_new();
    finding->property = words[check].name;
    finding->kind = words[check].kind;
    finding->text = "";
    finding->order = "access";
    finding->window = finding->lookahead = PT_ALL;
    finding->builtin = finding->monitorable = finding->complete = true;
    return finding;
}

struct pt_founds *pt_founds_new(uint32_t checks, struct pt_finding *const *properties, uint32_t property_count,
                                const struct pt_found_names *names, const struct pt_analysis_options *options)
{
    struct pt_founds *f = pt_xcalloc(1, sizeof *f);
    f->checks = checks;
    f->properties = pt_xcalloc((size_t)property_count + 1, sizeof(struct pt_finding *));
    f->property_count = property_count;
    for (uint32_t i = 0; i < property_count; i++)
        f->properties[i] = properties[i];
    f->names = *names;
    f->options = options;
    f->started = options->now ? options->now() : 0;
    pt_map64_init(&f->by_key);
    pt_map64_init(&f->kinds);
    for (unsigned check = 0; check < PT_FOUND_CHECKS; check++)
        if (checks >> check & 1)
            make_check(f, (enum pt_found_check)check);
    return f;
}

void pt_founds_free(struct pt_founds *f)
{
    if (!f)
        return;
    for (unsigned check = 0; check < PT_FOUND_CHECKS; check++)
        pt_finding_free(f->of[check]);
    for (uint32_t i = 0; i < f->waiting_count; i++)
        free(f->waiting[i].bytes);
    free(f->waiting);
    free(f->entries);
    free(f->links);
    free(f->properties);
    free(f->findings);
    pt_map64_release(&f->by_key);
    pt_map64_release(&f->kinds);
    free(f);
}

/* ---- texts ---- */

static const char *copy(struct pt_finding *f, const char *text)
{
    return pt_arena_strndup(&f->arena, text, strlen(text));
}

static const char *copy_clean(struct pt_finding *f, enum pt_space space, const char *text)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_name_clean(&buf, space, text);
    const char *kept = pt_arena_strndup(&f->arena, buf.text ? buf.text : "", buf.len);
    pt_buf_release(&buf);
    return kept;
}

static bool is_address(const char *name)
{
    return strncmp(name, "0x", 2) == 0;
}

static const char *put_address(struct pt_finding *f, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    return copy(f, text);
}

/* Debug information's name of what lies there, else the source's, else the address. */
static const char *name_at(const struct pt_founds *f, struct pt_finding *finding, uint64_t address, enum pt_space space,
                           const char *source)
{
    const char *name = f->names.object && address ? f->names.object(f->names.context, address, space) : NULL;
    if (name && !is_address(name))
        return copy(finding, name);
    return source[0] ? copy_clean(finding, space, source) : put_address(finding, address);
}

static const char *thread_name(const struct pt_founds *f, struct pt_finding *finding, uint64_t number, const char *own)
{
    const char *name = f->names.thread ? f->names.thread(f->names.context, number, true) : NULL;
    struct pt_buf buf;
    if (name || own[0])
        return name ? copy(finding, name) : copy_clean(finding, PT_SPACE_THREAD, own);
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "T%" PRIu64, number);
    const char *kept = copy(finding, buf.text);
    pt_buf_release(&buf);
    return kept;
}

static const char *place_of(struct pt_finding *f, const struct pt_found_frame *frame)
{
    struct pt_buf buf;
    if (!frame->file[0])
        return "-";
    pt_buf_init(&buf);
    pt_buf_puts(&buf, frame->file);
    if (frame->line)
        pt_buf_printf(&buf, ":%" PRIu64, frame->line);
    const char *kept = copy_clean(f, PT_SPACE_LOC, buf.text);
    pt_buf_release(&buf);
    return kept;
}

/* "function file:line", as a trace's stacks have it. */
static const char *call_of(struct pt_finding *f, const struct pt_found_frame *frame)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, frame->function[0] ? frame->function : "<unknown>");
    if (frame->file[0])
        pt_buf_printf(&buf, " %s", place_of(f, frame));
    const char *kept = copy_clean(f, PT_SPACE_LOC, buf.text);
    pt_buf_release(&buf);
    return kept;
}

/* NULL: it is lost, or has no frame; *ret_place: where its first one is, "-" for unknown. */
static const char *const *take_stack(struct pt_finding *f, struct pt_local_report_reader *r, bool *ret_lost,
                                     const char **ret_place)
{
    uint64_t count = pt_found_read_stack(r);
    *ret_lost = count == PT_FOUND_LOST;
    *ret_place = "-";
    if (*ret_lost || count == 0)
        return NULL;
    const char **calls = pt_arena_alloc(&f->arena, (count + 1) * sizeof *calls);
    for (uint64_t i = 0; i < count; i++) {
        struct pt_found_frame frame = pt_found_read_frame(r);
        if (i == 0)
            *ret_place = place_of(f, &frame);
        calls[i] = call_of(f, &frame);
    }
    calls[count] = NULL;
    return calls;
}

/* ---- findings ---- */

static enum pt_space space_of(uint32_t kind)
{
    return pt_kind_by(kind) == PT_BY_ADDRESS ? pt_op_space(pt_kind_op(kind)) : PT_SPACE_VAR;
}

static void take_locks(const struct pt_founds *f, struct pt_finding *finding, struct pt_local_report_reader *r,
                       struct pt_side *side)
{
    uint32_t count = pt_found_read_locks(r);
    bool placed = false;
    const char **names = pt_arena_alloc(&finding->arena, (count + 1) * sizeof *names),
               **places = pt_arena_alloc(&finding->arena, (count + 1) * sizeof *places);
    for (uint32_t i = 0; i < count; i++) {
        struct pt_found_frame at;
        struct pt_found_lock lock = pt_found_read_lock(r, &at);
        names[i] = name_at(f, finding, lock.address, PT_SPACE_LOCK, lock.name);
        places[i] = at.file[0] ? place_of(finding, &at) : "";
        placed |= at.file[0] != '\0';
    }
    names[count] = places[count] = NULL;
    side->locks = names;
    side->locked_at = placed ? places : NULL;
}

static struct pt_side take_side(const struct pt_founds *f, struct pt_finding *finding, struct pt_local_report_reader *r)
{
    const char *place;
    struct pt_found_side read = pt_found_read_side(r);
    struct pt_side side = {.address = read.address, .size = read.size, .atomic = read.flags & PT_FOUND_ATOMIC};
    side.step =
        (struct pt_step){.thread = thread_name(f, finding, read.thread, read.thread_name),
                         .op = read.kind == PT_KIND_FREED ? pt_op_word(PT_OP_FREE) : pt_op_word(pt_kind_op(read.kind)),
                         .object = name_at(f, finding, read.address, space_of(read.kind), read.variable),
                         .var = PT_NONE};
    side.stack = take_stack(finding, r, &side.lost, &side.step.loc);
    take_locks(f, finding, r, &side);
    side.created = take_stack(finding, r, &side.created_lost, &place);
    return side;
}

static void take_block(const struct pt_founds *f, struct pt_finding *finding, const struct pt_found_head *head,
                       struct pt_local_report_reader *r)
{
    struct pt_side *block = finding->block = pt_arena_alloc(&finding->arena, sizeof *block);
    block->address = head->block_start;
    block->size = head->block_size;
    block->step = (struct pt_step){
        .thread = head->block_thread ? thread_name(f, finding, head->block_thread, head->block_thread_name) : "-",
        .op = pt_op_word(PT_OP_ALLOC),
        .object = put_address(finding, head->block_start),
        .value = {.kind = PT_VALUE_INT, .i = (int64_t)head->block_size},
        .var = PT_NONE};
    block->stack = take_stack(finding, r, &block->lost, &block->step.loc);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The locks of a deadlock, in an order that does not depend on who came first. */
static const char *list_wanted(struct pt_finding *finding)
{
    const char *names[PT_FOUND_SIDES];
    struct pt_buf buf;
    for (uint32_t i = 0; i < finding->side_count; i++)
        names[i] = finding->sides[i].step.object;
    qsort(names, finding->side_count, sizeof *names, compare_texts);
    pt_buf_init(&buf);
    for (uint32_t i = 0; i < finding->side_count; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            pt_buf_printf(&buf, "%s%s", i ? ", " : "", names[i]);
    const char *kept = copy(finding, buf.text ? buf.text : "");
    pt_buf_release(&buf);
    return kept;
}

/* Whether debug information knows all that a deadlock's threads wait for. Then a recording calls it the same; else the
 * source's names are what stays the same from run to run. */
static bool are_known(const struct pt_founds *f, const struct pt_finding *finding)
{
    bool known = f->names.object != NULL;
    for (uint32_t i = 0; i < finding->side_count && known; i++) {
        uint64_t address = finding->sides[i].address;
        const char *name = address ? f->names.object(f->names.context, address, PT_SPACE_LOCK) : NULL;
        known = name && !is_address(name);
    }
    return known;
}

/* What it is about as a whole: the report's object, else what its sides call it. */
static const char *object_of(const struct pt_founds *f, struct pt_finding *finding, const struct pt_found_head *head)
{
    const char *name = "";
    if (head->check == PT_FOUND_DEADLOCK)
        return head->object[0] && !are_known(f, finding) ? copy_clean(finding, PT_SPACE_LOCK, head->object)
                                                         : list_wanted(finding);
    if (head->address)
        name = name_at(f, finding, head->address, PT_SPACE_VAR, head->object);
    else if (head->object[0])
        name = copy_clean(finding, PT_SPACE_VAR, head->object);
    for (uint32_t i = 0; i < finding->side_count && (!name[0] || is_address(name)); i++)
        name = finding->sides[finding->side_count - 1 - i].step.object;
    return name;
}

static void fill(const struct pt_founds *f, struct pt_finding *finding, const char *bytes, size_t len)
{
    struct pt_local_report_reader r = {bytes, len, false};
    struct pt_found_head head = pt_found_read_head(&r);
    finding->how = head.how == PT_FOUND_PREDICTED ? PT_HOW_PREDICTED : PT_HOW_OBSERVED;
    finding->note = head.note[0] ? copy_clean(finding, PT_SPACE_LOC, head.note) : NULL;
    if (head.block_size)
        take_block(f, finding, &head, &r);
    finding->side_count = pt_found_read_sides(&r);
    finding->sides = pt_arena_alloc(&finding->arena, (finding->side_count + 1) * sizeof *finding->sides);
    for (uint32_t i = 0; i < finding->side_count; i++)
        finding->sides[i] = take_side(f, finding, &r);
    finding->object = object_of(f, finding, &head);
}

/* ---- one for each key ---- */

static struct entry *entry_of(struct pt_founds *f, uint64_t key)
{
    uint32_t *index = pt_map64_at(&f->by_key, key);
    if (*index == PT_NONE) {
        *index = f->entry_count;
        PT_PUSH(f->entries, f->entry_count, f->entry_cap, ((struct entry){0}));
    }
    return &f->entries[*index];
}

static void count_for(struct pt_founds *f, const struct entry *entry, struct pt_finding *finding)
{
    struct link link = {(uint32_t)(entry - f->entries), finding};
    PT_PUSH(f->links, f->link_count, f->link_cap, link);
}

static bool is_suppressed(const struct pt_founds *f, const struct pt_finding *finding)
{
    return f->options->suppressed && f->options->suppressed(f->options->context, finding);
}

/* Whether some finding has had its key (pt_finding_key): else none is the same. */
static bool note_kind(struct pt_founds *f, const struct pt_finding *finding)
{
    uint32_t *known = pt_map64_at(&f->kinds, pt_finding_key(finding));
    bool is_known = *known != PT_NONE;
    *known = 0;
    return is_known;
}

/* Another key's finding that is the same under these names, and about which people have decided the same: what they
 * know of one element hides no other. Races are the same where their places are (finding/join.c). NULL: none. */
static struct pt_finding *same_as(struct pt_founds *f, const struct pt_finding *check, const struct pt_finding *finding,
                                  bool race)
{
    if (!note_kind(f, finding))
        return NULL;
    struct pt_finding_id id = pt_finding_id(finding);
    bool by_places = race && pt_finding_places(finding);
    for (uint32_t i = 0; i <= check->more_count; i++) {
        struct pt_finding *other = i ? check->more[i - 1] : (struct pt_finding *)check;
        if (other != finding && other->side_count && pt_finding_is_same(other, finding) &&
            (by_places || strcmp(pt_finding_id(other).text, id.text) == 0) &&
            is_suppressed(f, other) == is_suppressed(f, finding))
            return other;
    }
    return NULL;
}

/* To the check or the property whose finding, or first finding, this is. */
static void add_to(struct pt_founds *f, struct pt_finding *first, const struct entry *entry, bool race,
                   const char *bytes, size_t len)
{
    struct pt_finding *finding = first, *same;
    if (first->verdict == PT_VERDICT_VIOLATED) {
        if (first->more_count == PT_CHECK_FINDINGS_MAX) {
            first->untold++;
            return;
        }
        finding = pt_finding_add(first);
    }
    finding->verdict = PT_VERDICT_VIOLATED;
    fill(f, finding, bytes, len);
    same = same_as(f, first, finding, race);
    if (same) {
        pt_finding_join(same, finding);
        pt_finding_drop(first);
    }
    count_for(f, entry, same ? same : finding); /* how often, is known at the end */
    if (!same && f->options->found)
        f->options->found(f->options->context, finding);
}

static void add(struct pt_founds *f, uint64_t key, uint64_t count, const char *bytes, size_t len)
{
    struct pt_local_report_reader r = {bytes, len, false};
    struct pt_found_head head = pt_found_read_head(&r);
    struct entry *entry = entry_of(f, key);
    bool race = head.check == PT_FOUND_RACE;
    entry->count = count > entry->count ? count : entry->count;
    if (entry->reported)
        return;
    entry->reported = true;
    for (uint32_t i = 0; i < head.property_count; i++) {
        uint64_t number = pt_found_read_property(&head.properties).number;
        if (number < f->property_count)
            add_to(f, f->properties[number], entry, race, bytes, len);
    }
    if (!head.property_count || f->checks >> head.check & 1)
        add_to(f, f->of[head.check] ? f->of[head.check] : make_check(f, head.check), entry, race, bytes, len);
}

/* Whether all its threads have final names. */
static bool is_settled(const struct pt_founds *f, const char *bytes, size_t len)
{
    struct pt_local_report_reader r = {bytes, len, false};
    bool settled = true;
    if (pt_found_read_head(&r).block_size)
        pt_found_skip_stack(&r);
    for (uint32_t left = pt_found_read_sides(&r); left && settled; left--) {
        uint64_t thread = pt_found_read_side(&r).thread;
        settled = !f->names.thread || f->names.thread(f->names.context, thread, false);
        pt_found_skip_stack(&r);
        pt_found_skip_locks(&r);
        pt_found_skip_stack(&r);
    }
    return settled;
}

/* Those that have waited, as far as they need not any more. */
static void take_waiting(struct pt_founds *f, bool all)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->waiting_count; i++) {
        struct waiting w = f->waiting[i];
        if (!all && !is_settled(f, w.bytes, w.len)) {
            f->waiting[kept++] = w;
            continue;
        }
        add(f, w.key, w.count, w.bytes, w.len);
        free(w.bytes);
    }
    f->waiting_count = kept;
}

void pt_founds_take(struct pt_founds *f, uint64_t key, uint64_t count, const char *report, size_t bytes)
{
    if (bytes && !pt_found_is_whole(report, bytes))
        return;
    take_waiting(f, false);
    if (!bytes && key) {
        struct entry *entry = entry_of(f, key);
        entry->count = count > entry->count ? count : entry->count;
    } else if (!bytes) {
        f->untold = count;
    } else if (is_settled(f, report, bytes)) {
        add(f, key, count, report, bytes);
    } else {
        struct waiting w = {key, count, pt_xcalloc(bytes, 1), bytes};
        memcpy(w.bytes, report, bytes);
        PT_PUSH(f->waiting, f->waiting_count, f->waiting_cap, w);
    }
}

static void sum_counts(struct pt_founds *f)
{
    for (uint32_t i = 0; i < f->link_count; i++)
        f->links[i].finding->count = 0;
    for (uint32_t i = 0; i < f->link_count; i++)
        f->links[i].finding->count += f->entries[f->links[i].entry].count;
}

/* `lost`: why it is not known whether there was more; `left_out`: what was not looked at; NULL: nothing. */
static void settle(struct pt_founds *f, struct pt_finding *finding, const char *lost, const char *left_out)
{
    const char *open = lost || f->left_out_asked ? lost : left_out;
    if (!open && f->untold && finding->verdict == PT_VERDICT_HOLDS)
        open = "so much was found that some of it was not reported";
    finding->complete = !open;
    finding->seconds = f->options->now ? (double)(f->options->now() - f->started) / 1e9 : 0;
    if (finding->verdict == PT_VERDICT_HOLDS && (open || left_out)) {
        finding->verdict = open ? PT_VERDICT_UNKNOWN : PT_VERDICT_HOLDS;
        finding->message = copy(finding, open ? open : left_out);
    }
}

/* It is not known whose they were: the first's. */
static void note_untold(struct pt_founds *f, struct pt_finding *finding)
{
    if (finding && finding->verdict == PT_VERDICT_VIOLATED) {
        finding->untold += f->untold;
        f->untold = 0;
    }
}

void pt_founds_leave_out(struct pt_founds *f, const char *why, bool asked)
{
    f->left_out = why;
    f->left_out_asked = asked;
}

void pt_founds_finish(struct pt_founds *f, const char *lost, struct pt_result *result)
{
    take_waiting(f, true);
    sum_counts(f);
    f->findings = pt_xcalloc((size_t)result->count + PT_FOUND_CHECKS + 1, sizeof(struct pt_finding *));
    if (result->count)
        memcpy(f->findings, result->findings, result->count * sizeof(struct pt_finding *));
    result->findings = f->findings;
    for (uint32_t i = 0; i < f->property_count; i++)
        settle(f, f->properties[i], lost, f->left_out);
    for (unsigned check = 0; check < PT_FOUND_CHECKS; check++)
        if (f->of[check]) {
            settle(f, f->of[check], lost, check == PT_FOUND_DEADLOCK ? NULL : f->left_out);
            result->findings[result->count++] = f->of[check];
        }
    for (uint32_t i = 0; i < f->property_count; i++)
        note_untold(f, f->properties[i]);
    for (unsigned check = 0; check < PT_FOUND_CHECKS; check++)
        note_untold(f, f->of[check]);
}
