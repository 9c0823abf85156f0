/*
 * Writing and reading what found.h describes.
 *
 * Guarantee: what is written is whole, with shorter stacks where the room does not allow for all of them; a reader
 * never looks beyond its bytes, and what it gives is bounded by them. Cost: linear in the bytes, for each length of
 * stacks that is tried. Nothing is allocated.
 */
#include "core/found.h"

#include "core/ops.h"

const char *pt_found_title(enum pt_found_check check, enum pt_found_how how, const char *note)
{
    static const char *const titles[][2] = {[PT_FOUND_RACE] = {"data race", "data race"},
                                            [PT_FOUND_DEADLOCK] = {"deadlock", "potential deadlock"},
                                            [PT_FOUND_LIFETIME] = {"use after free", "use after free"}};
    return check != PT_FOUND_RACE && note[0] ? note : titles[check][how == PT_FOUND_PREDICTED];
}

static void put_text(struct pt_local_report_writer *w, const char *text)
{
    pt_local_report_put_text(w, text ? text : "");
}

static void put_frame(struct pt_local_report_writer *w, const struct pt_site *site)
{
    put_text(w, site ? site->function : "");
    put_text(w, site ? site->file : "");
    pt_local_report_put_number(w, site ? site->line : 0);
}

/* A site in an inlined function stands for the calls through which it was inlined, too. */
static uint32_t count_frames(const struct pt_found_stack *stack, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < stack->count && count <= most; i++)
        for (const struct pt_site *site = stack->sites[i], *next; count <= most; site = next) {
            count++;
            next = site ? site->caller : NULL;
            if (!next)
                break;
        }
    return count;
}

static void put_frames(struct pt_local_report_writer *w, const struct pt_found_stack *stack, uint32_t count)
{
    for (uint32_t i = 0; count; i++) {
        const struct pt_site *site = stack->sites[i];
        do {
            put_frame(w, site);
            site = site ? site->caller : NULL;
        } while (--count && site);
    }
}

static void put_stack(struct pt_local_report_writer *w, const struct pt_found_stack *stack, uint32_t most)
{
    static const struct pt_site more = {.file = "", .function = "...", .variable = ""},
                                lost = {.file = "", .function = "[stack lost]", .variable = ""};
    uint32_t all = count_frames(stack, most), count = all < most ? all : most;
    bool cut = count < all || stack->lost;
    if (stack->lost && !count) {
        pt_local_report_put_number(w, PT_FOUND_LOST);
        return;
    }
    pt_local_report_put_number(w, count + cut);
    put_frames(w, stack, count);
    if (cut)
        put_frame(w, count < all ? &more : &lost);
}

static void put_side(struct pt_local_report_writer *w, const struct pt_found_side *side, uint32_t most)
{
    uint32_t locks = side->lock_count < PT_FOUND_LOCKS ? side->lock_count : PT_FOUND_LOCKS;
    pt_local_report_put_number(w, side->thread);
    put_text(w, side->thread_name);
    pt_local_report_put_number(w, side->kind);
    pt_local_report_put_number(w, side->flags);
    pt_local_report_put_number(w, side->address);
    pt_local_report_put_number(w, side->size);
    put_text(w, side->variable);
    put_stack(w, &side->stack, most);
    pt_local_report_put_number(w, locks);
    for (uint32_t i = 0; i < locks; i++) {
        put_text(w, side->locks[i].name);
        pt_local_report_put_number(w, side->locks[i].address);
        put_frame(w, side->locks[i].at);
    }
    put_stack(w, &side->created, most);
}

static void put_found(struct pt_local_report_writer *w, const struct pt_found *found, uint32_t most)
{
    uint32_t sides = found->side_count < PT_FOUND_SIDES ? found->side_count : PT_FOUND_SIDES;
    pt_local_report_put_number(w, found->check);
    pt_local_report_put_number(w, found->how);
    pt_local_report_put_number(w, found->key);
    put_text(w, found->note);
    put_text(w, found->object);
    pt_local_report_put_number(w, found->address);
    pt_local_report_put_number(w, found->size);
    pt_local_report_put_number(w, found->property_count);
    for (uint32_t i = 0; i < found->property_count; i++) {
        pt_local_report_put_number(w, found->properties[i].number);
        put_text(w, found->properties[i].name);
    }
    pt_local_report_put_number(w, found->block.size);
    if (found->block.size) {
        pt_local_report_put_number(w, found->block.start);
        pt_local_report_put_number(w, found->block.thread);
        put_text(w, found->block.thread_name);
        put_stack(w, &found->block.stack, most);
    }
    pt_local_report_put_number(w, sides);
    for (uint32_t i = 0; i < sides; i++)
        put_side(w, &found->sides[i], most);
}

size_t pt_found_write(const struct pt_found *found, char *bytes, size_t room)
{
    for (uint32_t most = PT_FOUND_FRAMES; most; most /= 2) {
        struct pt_local_report_writer w = {.bytes = bytes, .room = room};
        put_found(&w, found, most);
        if (!w.full)
            return w.len;
    }
    return 0;
}

/* A number that is less than `end`; others are bad. */
static uint64_t number_below(struct pt_local_report_reader *r, uint64_t end)
{
    uint64_t number = pt_local_report_number(r);
    if (number < end)
        return number;
    r->bad = true;
    return 0;
}

struct pt_found_property pt_found_read_property(struct pt_local_report_reader *r)
{
    struct pt_found_property property = {.number = pt_local_report_number(r)};
    property.name = pt_local_report_text(r);
    return property;
}

struct pt_found_head pt_found_read_head(struct pt_local_report_reader *r)
{
    struct pt_found_head head = {.check = (enum pt_found_check)number_below(r, PT_FOUND_CHECKS),
                                 .block_thread_name = ""};
    head.how = (enum pt_found_how)number_below(r, PT_FOUND_PREDICTED + 1);
    head.key = pt_local_report_number(r);
    head.note = pt_local_report_text(r);
    head.object = pt_local_report_text(r);
    head.address = pt_local_report_number(r);
    head.size = pt_local_report_number(r);
    head.property_count = (uint32_t)number_below(r, PT_FOUND_PROPERTIES + 1);
    head.properties = *r;
    for (uint32_t i = 0; i < head.property_count; i++)
        (void)pt_found_read_property(r);
    head.block_size = pt_local_report_number(r);
    if (!head.block_size)
        return head;
    head.block_start = pt_local_report_number(r);
    head.block_thread = pt_local_report_number(r);
    head.block_thread_name = pt_local_report_text(r);
    return head;
}

uint64_t pt_found_read_stack(struct pt_local_report_reader *r)
{
    uint64_t count = pt_local_report_number(r);
    if (count == PT_FOUND_LOST || count <= PT_FOUND_FRAMES + 1)
        return count;
    r->bad = true;
    return 0;
}

struct pt_found_frame pt_found_read_frame(struct pt_local_report_reader *r)
{
    struct pt_found_frame frame = {.function = pt_local_report_text(r)};
    frame.file = pt_local_report_text(r);
    frame.line = pt_local_report_number(r);
    return frame;
}

uint32_t pt_found_read_sides(struct pt_local_report_reader *r)
{
    return (uint32_t)number_below(r, PT_FOUND_SIDES + 1);
}

uint32_t pt_found_read_locks(struct pt_local_report_reader *r)
{
    return (uint32_t)number_below(r, PT_FOUND_LOCKS + 1);
}

struct pt_found_side pt_found_read_side(struct pt_local_report_reader *r)
{
    struct pt_found_side side = {.thread = pt_local_report_number(r)};
    side.thread_name = pt_local_report_text(r);
    side.kind = (uint32_t)number_below(r, PT_KIND_COUNT);
    side.flags = (uint32_t)pt_local_report_number(r);
    side.address = pt_local_report_number(r);
    side.size = pt_local_report_number(r);
    side.variable = pt_local_report_text(r);
    return side;
}

struct pt_found_lock pt_found_read_lock(struct pt_local_report_reader *r, struct pt_found_frame *ret_at)
{
    struct pt_found_lock lock = {.name = pt_local_report_text(r)};
    lock.address = pt_local_report_number(r);
    *ret_at = pt_found_read_frame(r);
    return lock;
}

void pt_found_skip_stack(struct pt_local_report_reader *r)
{
    uint64_t count = pt_found_read_stack(r);
    for (uint64_t i = 0; i < count && count != PT_FOUND_LOST && !r->bad; i++)
        (void)pt_found_read_frame(r);
}

void pt_found_skip_locks(struct pt_local_report_reader *r)
{
    struct pt_found_frame at;
    for (uint32_t left = pt_found_read_locks(r); left && !r->bad; left--)
        (void)pt_found_read_lock(r, &at);
}

bool pt_found_is_whole(const char *bytes, size_t len)
{
    struct pt_local_report_reader r = {bytes, len, false};
    if (pt_found_read_head(&r).block_size)
        pt_found_skip_stack(&r);
    for (uint32_t left = pt_found_read_sides(&r); left && !r.bad; left--) {
        (void)pt_found_read_side(&r);
        pt_found_skip_stack(&r);
        pt_found_skip_locks(&r);
        pt_found_skip_stack(&r);
    }
    return !r.bad && r.left == 0;
}
