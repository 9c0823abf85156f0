/*
 * What a built-in check found, printed by the program itself where nobody observes: in the order of things that users
 * of ThreadSanitizer know, and under the names that the source has, since there is no debug information at hand.
 *
 * Guarantee: a report is written in one piece. Cost: only where something new is found and nobody observes.
 */
#include <string.h>

#include "core/ops.h"
#include "runtime/found/found_impl.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/log.h"
#include "runtime/sys/sys.h"

/* What is read once, because the parts of a page are not in the order of the bytes. */
struct side {
    struct pt_found_side about;
    struct pt_local_report_reader stack, locks, created; /* from where each can be read */
};

struct page {
    struct pt_found_head head;
    struct pt_local_report_reader block;
    struct side sides[PT_FOUND_SIDES];
    uint32_t side_count;
    struct pt_page out;
    char text[2 * PT_FOUND_BYTES];
};

static void put(struct page *page, const char *text)
{
    pt_page_text(&page->out, text);
}

static void put_number(struct page *page, uint64_t number)
{
    pt_page_number(&page->out, number);
}

/* The letter there begins a sentence. */
static void capitalise(struct page *page, size_t at)
{
    if (at < page->out.len && page->text[at] >= 'a' && page->text[at] <= 'z')
        page->text[at] = (char)(page->text[at] - 'a' + 'A');
}

/* --- reading --- */

static void read_side(struct side *side, struct pt_local_report_reader *r)
{
    side->about = pt_found_read_side(r);
    side->stack = *r;
    pt_found_skip_stack(r);
    side->locks = *r;
    pt_found_skip_locks(r);
    side->created = *r;
    pt_found_skip_stack(r);
}

static void read_all(struct page *page, struct pt_local_report_reader r)
{
    page->head = pt_found_read_head(&r);
    page->block = r;
    if (page->head.block_size)
        pt_found_skip_stack(&r);
    page->side_count = pt_found_read_sides(&r);
    for (uint32_t i = 0; i < page->side_count; i++)
        read_side(&page->sides[i], &r);
}

/* --- writing --- */

static void put_thread(struct page *page, uint64_t number, const char *name)
{
    if (number == 1) {
        put(page, "main thread");
        return;
    }
    put(page, "thread T");
    put_number(page, number);
    if (name[0]) {
        put(page, " (");
        put(page, name);
        put(page, ")");
    }
}

static void put_place(struct page *page, const struct pt_found_frame *frame)
{
    put(page, frame->file[0] ? frame->file : "<unknown>");
    if (frame->file[0] && frame->line) {
        put(page, ":");
        put_number(page, frame->line);
    }
}

static void put_stack(struct page *page, struct pt_local_report_reader r)
{
    uint64_t count = pt_found_read_stack(&r);
    if (count == PT_FOUND_LOST)
        put(page, "    [stack lost]\n");
    for (uint64_t i = 0; count != PT_FOUND_LOST && i < count; i++) {
        struct pt_found_frame frame = pt_found_read_frame(&r);
        put(page, "    #");
        put_number(page, i);
        put(page, " ");
        put(page, frame.function[0] ? frame.function : "<unknown>");
        if (frame.file[0] || !frame.function[0] || strchr("[.", frame.function[0]) == NULL) { /* or else no call */
            put(page, " ");
            put_place(page, &frame);
        }
        put(page, "\n");
    }
}

/* The first frame, if it is known. */
static bool innermost(struct pt_local_report_reader r, struct pt_found_frame *ret_frame)
{
    uint64_t count = pt_found_read_stack(&r);
    if (count == PT_FOUND_LOST || !count)
        return false;
    *ret_frame = pt_found_read_frame(&r);
    return true;
}

static const char *access_word(const struct pt_found_side *side)
{
    bool atomic = side->flags & PT_FOUND_ATOMIC;
    if (side->kind == PT_KIND_FREED)
        return "free";
    switch (pt_kind_op(side->kind)) {
    case PT_OP_READ:
        return atomic ? "atomic read" : "read";
    case PT_OP_WRITE:
        return atomic ? "atomic write" : "write";
    case PT_OP_UPDATE:
        return "atomic update";
    default:
        return pt_op_word(pt_kind_op(side->kind));
    }
}

static void put_access(struct page *page, const struct side *side, bool earlier)
{
    put(page, "  ");
    size_t at = page->out.len;
    put(page, earlier ? "previous " : "");
    put(page, access_word(&side->about));
    capitalise(page, at);
    put(page, " of size ");
    put_number(page, side->about.size);
    put(page, " at ");
    pt_page_hex(&page->out, side->about.address);
    put(page, " by ");
    put_thread(page, side->about.thread, side->about.thread_name);
    put(page, ":\n");
    put_stack(page, side->stack);
    put(page, "\n");
}

static void put_location(struct page *page)
{
    const struct pt_found_head *head = &page->head;
    if (!head->block_size && !head->object[0])
        return;
    if (!head->block_size) {
        put(page, "  Location is '");
        put(page, head->object);
        put(page, "' of size ");
        put_number(page, head->size);
        put(page, " at ");
        pt_page_hex(&page->out, head->address);
        put(page, "\n\n");
        return;
    }
    put(page, "  Location is heap block of size ");
    put_number(page, head->block_size);
    put(page, " at ");
    pt_page_hex(&page->out, head->block_start);
    if (head->block_thread) {
        put(page, " allocated by ");
        put_thread(page, head->block_thread, head->block_thread_name);
        put(page, ":\n");
        put_stack(page, page->block);
    } else {
        put(page, "\n");
    }
    put(page, "\n");
}

/* `before` them, and where `after` is not NULL the thread and that; then `end`. Nothing if there are none. */
static void put_locks(struct page *page, const struct side *side, const char *before, const char *after,
                      const char *end)
{
    struct pt_local_report_reader r = side->locks;
    uint32_t count = pt_found_read_locks(&r);
    for (uint32_t i = 0; i < count; i++) {
        struct pt_found_frame at;
        struct pt_found_lock lock = pt_found_read_lock(&r, &at);
        put(page, i ? ", " : before);
        if (!i && after) {
            put_thread(page, side->about.thread, side->about.thread_name);
            put(page, after);
        }
        if (lock.name[0]) {
            put(page, lock.name);
            put(page, " (");
        }
        pt_page_hex(&page->out, lock.address);
        put(page, lock.name[0] ? ")" : "");
        if (at.file[0]) {
            put(page, ", locked at ");
            put_place(page, &at);
        }
    }
    put(page, count ? end : "");
}

static bool is_first_of_thread(const struct page *page, uint32_t side)
{
    for (uint32_t i = 0; i < side; i++)
        if (page->sides[i].about.thread == page->sides[side].about.thread)
            return false;
    return true;
}

static void put_created(struct page *page)
{
    for (uint32_t i = 0; i < page->side_count; i++) {
        const struct side *side = &page->sides[i];
        struct pt_local_report_reader r = side->created;
        if (side->about.thread == 1 || pt_found_read_stack(&r) == 0 || !is_first_of_thread(page, i))
            continue;
        put(page, "  ");
        size_t at = page->out.len;
        put_thread(page, side->about.thread, side->about.thread_name);
        capitalise(page, at);
        put(page, " created at:\n");
        put_stack(page, side->created);
        put(page, "\n");
    }
}

static void put_properties(struct page *page)
{
    struct pt_local_report_reader r = page->head.properties;
    for (uint32_t i = 0; i < page->head.property_count; i++) {
        put(page, "  It violates property '");
        put(page, pt_found_read_property(&r).name);
        put(page, "'.\n");
    }
}

/* Two accesses that must not come together. */
static void put_accesses(struct page *page)
{
    bool later_first = page->head.check == PT_FOUND_RACE && page->side_count == 2,
         happened = page->head.how == PT_FOUND_OBSERVED;
    for (uint32_t i = 0; i < page->side_count; i++)
        put_access(page, &page->sides[later_first ? 1 - i : i], happened && i > 0);
    put_location(page);
    for (uint32_t i = 0; i < page->side_count; i++)
        put_locks(page, &page->sides[later_first ? 1 - i : i], "  Mutexes held by ", ": ", "\n\n");
}

static void put_name(struct page *page, const char *name, uint64_t address)
{
    put(page, name);
    put(page, name[0] ? " (" : "");
    pt_page_hex(&page->out, address);
    put(page, name[0] ? ")" : "");
}

static void put_cycle(struct page *page)
{
    for (uint32_t i = 0; i < page->side_count; i++) {
        const struct side *side = &page->sides[i];
        put(page, "  ");
        size_t at = page->out.len;
        put_thread(page, side->about.thread, side->about.thread_name);
        capitalise(page, at);
        put(page, page->head.how == PT_FOUND_PREDICTED ? " locks " : " waits for ");
        put_name(page, side->about.variable, side->about.address);
        put(page, " at:\n");
        put_stack(page, side->stack);
        put_locks(page, side, "    while it holds ", NULL, "\n");
        put(page, "\n");
    }
}

static void put_summary(struct page *page, const char *title)
{
    struct pt_found_frame frame;
    bool any = false;
    put(page, "SUMMARY: portent: ");
    put(page, title);
    if (page->head.object[0]) {
        put(page, " on ");
        put(page, page->head.object);
    }
    for (uint32_t i = page->side_count; i > 0; i--) {
        if (!innermost(page->sides[i - 1].stack, &frame))
            continue;
        put(page, any ? " and " : " at ");
        any = true;
        put_place(page, &frame);
        put(page, " in ");
        put(page, frame.function[0] ? frame.function : "<unknown>");
    }
    put(page, "\n");
}

static void compose(struct page *page)
{
    static const char line[] = "==================\n";
    const char *title = pt_found_title(page->head.check, page->head.how, page->head.note);
    put(page, line);
    put(page, "WARNING: portent: ");
    put(page, title);
    put(page, " (pid=");
    put_number(page, pt_sys_process());
    put(page, ")\n");
    put_properties(page);
    if (page->head.check == PT_FOUND_DEADLOCK && page->head.how == PT_FOUND_PREDICTED) {
        put_cycle(page);
        put(page, "  " PT_FOUND_BY_LOCKS ".\n\n");
    } else if (page->head.check == PT_FOUND_DEADLOCK) {
        put_cycle(page);
    } else {
        put_accesses(page);
    }
    put_created(page);
    put_summary(page, title);
    put(page, line);
}

void pt_found_print(struct pt_thread *self, const char *bytes, size_t len)
{
    struct page *page = pt_pool_take(pt_thread_pool(self), sizeof *page);
    if (!page)
        return;
    page->out = (struct pt_page){page->text, sizeof page->text, 0};
    read_all(page, (struct pt_local_report_reader){bytes, len, false});
    compose(page);
    pt_log_write(page->text, page->out.len);
    pt_pool_give(pt_thread_pool(self), page);
}
