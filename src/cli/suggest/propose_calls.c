/*
 * Functions: what is called before what, what comes in turn, and what is not called any more after something was
 * closed. Only where more than one thread does it: what one thread does by itself no other order changes.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/suggest/propose.h"

static const char *function_name(const struct pt_proposals *p, uint32_t number)
{
    return pt_strtab_text(&p->f->function_names, number);
}

static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

/* A variable that the first writes and the second reads, PT_NONE: none. */
static uint32_t handed_over(const struct pt_suggest_function *from, const struct pt_suggest_function *to)
{
    for (uint32_t i = 0; i < from->write_count; i++)
        for (uint32_t k = 0; k < to->read_count; k++)
            if (from->writes[i] == to->reads[k])
                return from->writes[i];
    return PT_NONE;
}

static void propose_order(struct pt_proposals *p, uint32_t first, uint32_t then)
{
    static const char *const makes[] = {"init", "load", "open", "setup", "start", "create", "config", NULL};
    const struct pt_suggest_function *a = &p->f->functions[first], *b = &p->f->functions[then];
    uint32_t by = handed_over(a, b);
    bool word = has_word(function_name(p, first), makes);
    if (!(b->after >> first & 1) || a->calls != a->runs || a->runs < b->runs || a->starts || b->starts ||
        !(b->threads & ~a->threads) || (by == PT_NONE && !word))
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "use ");
    pt_proposals_name(p, &text, function_name(p, then), "after", function_name(p, first));
    pt_buf_printf(&text, " = init_before_use(init = return(%s), use = call(%s)); // ", function_name(p, first),
                  function_name(p, then));
    if (by != PT_NONE && pt_suggest_is_nameable(pt_proposals_var(p, by)))
        pt_buf_printf(&text, "%s writes %s, ", function_name(p, first), pt_proposals_var(p, by));
    pt_buf_printf(&text, "all %" PRIu64 " calls of %s came later", b->calls, function_name(p, then));
    /* Before there are threads it is true in every order. */
    pt_proposals_add(p, !a->crowded ? 45 : (by != PT_NONE ? 80 : 50) + (word ? 15 : 0), &text);
}

/* Something that both touch, PT_NONE: none. */
static uint32_t shared_by(const struct pt_suggest_function *a, const struct pt_suggest_function *b)
{
    uint32_t by = handed_over(a, b);
    for (uint32_t i = 0; i < a->write_count && by == PT_NONE; i++)
        for (uint32_t k = 0; k < b->write_count; k++)
            if (a->writes[i] == b->writes[k])
                return a->writes[i];
    return by;
}

/* A function that was called once, before what uses something, and makes what that uses; PT_NONE: none. */
static uint32_t opener_of(const struct pt_proposals *p, uint32_t use, uint32_t close)
{
    const struct pt_suggest_function *b = &p->f->functions[use];
    for (uint32_t i = 0; i < p->f->function_count; i++) {
        const struct pt_suggest_function *a = &p->f->functions[i];
        if (i != use && i != close && b->after >> i & 1 && a->calls == a->runs && a->runs == b->runs && !a->starts &&
            shared_by(a, b) != PT_NONE && pt_suggest_is_nameable(function_name(p, i)))
            return i;
    }
    return PT_NONE;
}

/* Called once in a run, while other threads were there, and what uses the same was not called any more. */
static void propose_close(struct pt_proposals *p, uint32_t close, uint32_t use)
{
    static const char *const ends[] = {"close", "stop",   "shut", "destroy", "free", "fini",  "end",
                                       "exit",  "cancel", "term", "clean",   "quit", "leave", NULL};
    const struct pt_suggest_function *a = &p->f->functions[close], *b = &p->f->functions[use];
    uint32_t by = shared_by(a, b);
    bool word = has_word(function_name(p, close), ends);
    if (b->behind >> close & 1 || a->calls != a->runs || a->runs != b->runs || a->starts || b->starts || !a->crowded ||
        a->parent == use || !(b->threads & ~a->threads) || by == PT_NONE)
        return;
    struct pt_buf text;
    uint32_t open = opener_of(p, use, close);
    pt_buf_init(&text);
    pt_buf_puts(&text, open == PT_NONE ? "property " : "use ");
    pt_proposals_name(p, &text, function_name(p, use), "not_after", function_name(p, close));
    if (open == PT_NONE)
        pt_buf_printf(&text, ": always (call(%s) -> !once call(%s)); // ", function_name(p, use),
                      function_name(p, close));
    else
        pt_buf_printf(&text, " = no_use_after_close(open = return(%s), close = call(%s), use = call(%s)); // ",
                      function_name(p, open), function_name(p, close), function_name(p, use));
    if (pt_suggest_is_nameable(pt_proposals_var(p, by)))
        pt_buf_printf(&text, "both use %s, ", pt_proposals_var(p, by));
    pt_buf_printf(&text, "all %" PRIu64 " calls of %s came before", b->calls, function_name(p, use));
    pt_proposals_add(p, word ? 96 : 66, &text);
}

/* No thread began what another one had begun and not ended, though they took turns: one at a time. */
static void propose_section(struct pt_proposals *p, uint32_t begin, uint32_t end)
{
    const struct pt_suggest_function *a = &p->f->functions[begin];
    if (a->overlaps >> end & 1 || a->handed < 2 * (uint64_t)p->f->runs)
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "use ");
    pt_proposals_name(p, &text, function_name(p, begin), "one_at_a_time", "");
    pt_buf_printf(&text,
                  " = paired(begin = return(%s), end = call(%s)); // no two threads between them, though they took "
                  "turns %" PRIu64 " times",
                  function_name(p, begin), function_name(p, end), a->handed);
    pt_proposals_add(p, 78, &text);
}

static void propose_pair(struct pt_proposals *p, uint32_t begin, uint32_t end)
{
    static const char *const begins[] = {"lock", "begin", "open", "acquire", "start", "enter", "push", "get", NULL};
    const struct pt_suggest_function *a = &p->f->functions[begin], *b = &p->f->functions[end];
    bool pairs = !(a->unpaired >> end & 1) && a->pairs[end] == a->calls && a->calls == b->calls && a->calls > a->runs;
    if (!pairs || a->mixed || b->mixed || a->parent != b->parent || a->starts || b->starts)
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "use ");
    pt_proposals_name(p, &text, function_name(p, begin), "paired", "");
    pt_buf_printf(&text, " = paired_in_thread(begin = call(%s), end = call(%s)); // %" PRIu64 " times, by %u thread%s",
                  function_name(p, begin), function_name(p, end), a->calls, pt_proposals_threads(a->threads),
                  pt_proposals_threads(a->threads) == 1 ? "" : "s");
    pt_proposals_add(p, 70 + (has_word(function_name(p, begin), begins) ? 15 : 0), &text);
    propose_section(p, begin, end);
}

void pt_propose_calls(struct pt_proposals *p)
{
    for (uint32_t a = 0; a < p->f->function_count; a++)
        for (uint32_t b = 0; b < p->f->function_count; b++)
            if (a != b && pt_suggest_is_nameable(function_name(p, a)) && pt_suggest_is_nameable(function_name(p, b))) {
                propose_order(p, a, b);
                propose_close(p, a, b);
                propose_pair(p, a, b);
            }
}
