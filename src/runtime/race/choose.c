/*
 * Which plain accesses are looked at: not those of the files and functions that skip_file, only_file and skip_function
 * leave out, and of the others, with sample=N, those in windows (window.c).
 *
 * Sampling looks at what seldom runs first, as LiteRace does (Marino, Musuvathi, Narayanasamy: PLDI 2009): it was
 * seldom tested. Lists leave out plain accesses alone; synchronisation, atomic operations and the end of memory are
 * followed.
 *
 * Guarantee: what is reported is unordered by happens-before. But a read whose write was left out does not learn of it:
 * what else is reported of two threads that have a race which was left out may be ordered by that (SHB). What was left
 * out is in no report, and whoever answers for the run says so. Cost: three loads for an access that a list leaves out.
 */
#include "runtime/race/choose.h"

#include "core/glob.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

enum {
    FIRST_BITS = 10,   /* places that a thread's table has room for at first, twice that */
    NAME_MAX = 1 << 10 /* of a file, with what stands for its folder */
};

bool pt_race_chooses, pt_race_lists;
static struct pt_race_choices none = {.entries = {{.site = NULL}}}; /* of a thread that has not asked yet */
__thread struct pt_race_choices *pt_race_choices = &none;

/* A lifetime is followed from one end to the other: then there are no gaps. */
void pt_race_choose_start(void)
{
    int64_t wanted = pt_race_looks.lives ? 0 : pt_options.sample;
    pt_race_window_start(wanted < 2 ? 0 : wanted > PT_SAMPLE_MAX ? PT_SAMPLE_MAX : (uint32_t)wanted);
    pt_race_lists = pt_options.skip_file.len || pt_options.only_file.len || pt_options.skip_function.len;
    pt_race_chooses = pt_race_samples || pt_race_lists;
}

/* The next pattern of a list with commas; false: there is none. */
static bool next_pattern(struct pt_span *list, struct pt_span *ret_pattern)
{
    while (list->len && *list->at == ',') {
        list->at++;
        list->len--;
    }
    *ret_pattern = (struct pt_span){list->at, 0};
    while (ret_pattern->len < list->len && list->at[ret_pattern->len] != ',')
        ret_pattern->len++;
    list->at += ret_pattern->len;
    list->len -= ret_pattern->len;
    return ret_pattern->len > 0;
}

static bool matches_name(struct pt_span list, const char *name)
{
    for (struct pt_span pattern; next_pattern(&list, &pattern);)
        if (pt_glob_matches(pattern.at, pattern.len, name))
            return true;
    return false;
}

static bool has_slash(struct pt_span pattern)
{
    for (size_t i = 0; i < pattern.len; i++)
        if (pattern.at[i] == '/')
            return true;
    return false;
}

/* As the compiler has them (instrument/choice.c): a pattern without a slash is for the last component. The folder of a
 * relative name is not known here; some folder stands for it, so that a star before a slash finds it. */
static bool matches_file(struct pt_span list, const char *file)
{
    char whole[NAME_MAX] = "./";
    size_t len = 2;
    while (file[0] == '.' && file[1] == '/')
        file += 2;
    const char *last = file;
    for (const char *c = file; *c; c++) {
        last = *c == '/' ? c + 1 : last;
        if (len + 1 < sizeof whole)
            whole[len++] = *c;
    }
    whole[len] = '\0';
    for (struct pt_span pattern; next_pattern(&list, &pattern);)
        if (pt_glob_matches(pattern.at, pattern.len, has_slash(pattern) ? file : last) ||
            (*file != '/' && has_slash(pattern) && pt_glob_matches(pattern.at, pattern.len, whole)))
            return true;
    return false;
}

static bool is_out(const struct pt_site *site)
{
    return (pt_options.only_file.len && !matches_file(pt_options.only_file, site->file)) ||
           matches_file(pt_options.skip_file, site->file) || matches_name(pt_options.skip_function, site->function);
}

/* ---- a thread's table ---- */

/* The entry of this place, or that where it belongs. There is always a free one. */
static struct pt_race_choice *entry_of(struct pt_race_choices *choices, const struct pt_site *site)
{
    size_t at = pt_race_choice_at(choices, site);
    while (choices->entries[at].site && choices->entries[at].site != site)
        at = (at + 1) & choices->mask;
    return &choices->entries[at];
}

/* The old table stays: a signal's handler may have interrupted who looks at it. All that a thread ever had are together
 * as large as the last one. */
static struct pt_race_choices *grow(const struct pt_race_choices *old)
{
    uint32_t count = old ? 2 * (old->mask + 1) : 2 << FIRST_BITS;
    struct pt_race_choices *made = pt_sys_reserve(sizeof *made + (size_t)count * sizeof *made->entries);
    if (!made)
        return NULL;
    made->mask = count - 1;
    for (uint32_t i = 0; old && i <= old->mask; i++)
        if (old->entries[i].site)
            *entry_of(made, old->entries[i].site) = old->entries[i];
    made->count = old ? old->count : 0;
    return made;
}

static bool is_listed(struct pt_race_self *self, const struct pt_site *site)
{
    if (!self->choices || self->choices->count > self->choices->mask / 2) {
        struct pt_race_choices *made = grow(self->choices);
        if (!made)
            return false;
        self->choices = made;
    }
    pt_race_choices = self->choices;
    struct pt_race_choice *choice = entry_of(self->choices, site);
    if (!choice->site) {
        self->choices->count++;
        *choice = (struct pt_race_choice){.site = site, .out = is_out(site)};
    }
    return choice->out;
}

bool pt_race_choose(struct pt_race_self *self, const struct pt_site *site)
{
    if (pt_race_lists && site && is_listed(self, site)) {
        __atomic_store_n(pt_race_often_at(site), PT_RACE_OFTEN, __ATOMIC_RELAXED); /* it opens no window */
        return true;
    }
    return pt_race_samples && !pt_race_window_access(self, site);
}
