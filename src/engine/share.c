/*
 * Levels divided among processes; see share.h.
 *
 * Of levels that are not sorted: the owner of a cut is a sum over the dividing threads modulo the size of the group. A
 * run of counts of a thread (its *stretch*) adds the same to the sum, so that most steps stay with the owner; it is
 * short enough that the cuts of a middle level fall on every process several times. Where one thread has too few counts
 * for that, more divide, each with a multiplier prime to the size, which spreads the owners of neighbouring cuts. One
 * thread at least does not divide, since the counts of all of them have the same sum in every cut of a level.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/share.h"

/* How often the counts of a level fall on each process; where there are fewer, one more thread divides. */
enum { SPREAD = 3 };

static uint64_t field_events(const struct pt_lattice *l, uint32_t field)
{
    const struct lat_field *f = &l->layout->fields[field];
    return l->columns[f->column].arrived - f->base;
}

/* How many events of another field event `index` of a field, from 0, needs. */
static uint32_t needed_of(const struct pt_lattice *l, uint32_t field, uint32_t index, uint32_t other)
{
    const struct lat_layout *layout = l->layout;
    return lat_field_count_in(&layout->fields[other], layout->fields[field].need + (size_t)index * layout->words);
}

/*
 * How many counts of the field cuts of the middle level have: a cut with count c has at least what event c needs, and
 * at most what does not need event c + 1. Cost: events times fields.
 */
static uint64_t counts_in_the_middle(const struct pt_lattice *l, uint32_t field)
{
    uint32_t fields = l->layout->field_count;
    uint64_t events = field_events(l, field), total = 0, range = 0;
    uint64_t *excluded = pt_xcalloc(events + 2, sizeof *excluded); /* at c: events that need more than c */
    for (uint32_t g = 0; g < fields; g++) {
        total += field_events(l, g);
        for (uint32_t k = 0; k < field_events(l, g); k++)
            excluded[needed_of(l, g, k, field)]++;
    }
    for (uint64_t c = events + 1; c-- > 0;)
        excluded[c] += excluded[c + 1];
    for (uint64_t c = 0; c <= events; c++) {
        uint64_t least = 0;
        for (uint32_t g = 0; c && g < fields; g++)
            least += needed_of(l, field, (uint32_t)c - 1, g);
        uint64_t most = total - excluded[c + 1] - (c < events);
        range += least + (c > 0) <= total / 2 && total / 2 <= most;
    }
    free(excluded);
    return range ? range : 1;
}

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The k-th multiplier, from 0: near a golden section of the size, and of that again. */
static uint32_t multiplier(uint32_t size, uint32_t k)
{
    double at = size;
    for (uint32_t i = 0; i < k; i++)
        at *= 0.618034;
    uint32_t m = k ? (uint32_t)at : 1;
    m = m ? m : 1;
    while (greatest_divisor(m, size) != 1)
        m++;
    return m;
}

/* `range`: how many of its counts a level has. The first stretch is half as long: early levels have most cuts at small
 * counts, late ones at great ones. */
static void divide_by(struct pt_lattice *l, uint32_t field, uint64_t range)
{
    struct lat_share *share = l->share;
    uint32_t size = share->group->size, m = multiplier(size, share->dividing_count);
    uint64_t events = field_events(l, field), times = (uint64_t)SPREAD * size, stretch = (range + times / 2) / times;
    stretch = stretch ? stretch : 1;
    struct lat_dividing *d = &share->dividing[share->dividing_count++];
    d->field = field;
    d->events = events;
    d->owner = pt_xmalloc((events + 1) * sizeof *d->owner);
    d->away = pt_xcalloc(events + 1, sizeof *d->away);
    for (uint64_t k = 0; k <= events; k++) {
        d->owner[k] = (uint32_t)((k + stretch / 2) / stretch % size * m % size);
        if (k)
            d->away[k - 1] = d->owner[k] != d->owner[k - 1];
    }
    l->layout->fields[field].away = d->away;
}

/* The threads with the widest levels. */
static void choose_dividing(struct pt_lattice *l)
{
    struct lat_share *share = l->share;
    uint32_t fields = l->layout->field_count;
    uint64_t *range = pt_xcalloc((size_t)fields + 1, sizeof *range);
    double sums = 1;
    for (uint32_t f = 0; f < fields; f++)
        range[f] = counts_in_the_middle(l, f);
    share->dividing = pt_xcalloc((size_t)fields + 1, sizeof *share->dividing);
    while (share->dividing_count + 1 < fields && sums < (double)SPREAD * share->group->size) {
        uint32_t best = 0;
        for (uint32_t f = 1; f < fields; f++)
            if (range[f] > range[best])
                best = f;
        sums *= (double)range[best];
        divide_by(l, best, range[best]);
        range[best] = 0;
    }
    free(range);
}

static uint32_t owner_of(const struct pt_lattice *l, const uint64_t *key)
{
    const struct lat_share *share = l->share;
    uint32_t sum = 0;
    for (uint32_t d = 0; d < share->dividing_count; d++)
        sum += share->dividing[d].owner[lat_field_count_in(&l->layout->fields[share->dividing[d].field], key)];
    return sum % share->group->size;
}

void lat_share_start(struct pt_lattice *l)
{
    const struct pt_group *group = l->options->group;
    struct lat_share *share = l->share = pt_xaligned(LAT_CACHE_LINE, sizeof *share);
    share->group = group;
    if (!l->current->sorted)
        choose_dividing(l);
    share->staged = pt_xaligned(LAT_CACHE_LINE, group->size * sizeof *share->staged);
    share->out = pt_xcalloc(group->size, sizeof *share->out);
    share->in = pt_xcalloc(group->size, sizeof *share->in);
    share->letters = pt_xcalloc(group->size, sizeof *share->letters);
    share->sets = pt_xcalloc(group->size, sizeof *share->sets);
    share->kinds = l->current->sorted ? 1 : l->current->part_count;
    share->received = pt_xaligned(LAT_CACHE_LINE, (size_t)group->size * share->kinds * sizeof *share->received);
    share->first = pt_xcalloc((size_t)share->kinds + 1, sizeof *share->first);
    share->key = pt_xcalloc(l->layout->words, sizeof *share->key);
    share->bounds = pt_xcalloc((size_t)group->size + 1, sizeof *share->bounds);
    share->cuts_of = pt_xcalloc(group->size, sizeof *share->cuts_of);
    share->last_letter = share->last_set = PT_NONE;
    l->history.budget /= group->size;
    if (owner_of(l, l->current->parts[0].keys) != group->rank)
        l->current->parts[0].count = 0;
}

void lat_share_stop(struct pt_lattice *l)
{
    struct lat_share *share = l->share;
    if (!share)
        return;
    l->peak = pt_group_greatest(share->group, l->peak);
    uint32_t size = share->group->size;
    for (uint32_t d = 0; d < share->dividing_count; d++) {
        l->layout->fields[share->dividing[d].field].away = NULL;
        free(share->dividing[d].owner);
        free(share->dividing[d].away);
    }
    for (uint32_t p = 0; p < size; p++) {
        lat_part_release(l, &share->staged[p]);
        free(share->letters[p].to);
        free(share->sets[p].to);
    }
    lat_part_release(l, &share->united);
    atomic_fetch_sub(&l->bytes, share->counted);
    pt_group_bytes_release(share->out, size);
    pt_group_bytes_release(share->in, size);
    free(share->dividing);
    free(share->staged);
    free(share->letters);
    free(share->sets);
    free(share->received);
    free(share->first);
    free(share->sent_letters);
    free(share->sent_sets);
    free(share->words.data);
    free(share->key);
    free(share->bounds);
    free(share->cuts_of);
    free(share);
    l->share = NULL;
}

/* ---- what is sent ---- */

/* A message: for each part with records (of sorted levels there is one) this, and the records column-wise, so that a
 * part can be laid over them where they are; then words (share_words.c), and the number of their bytes. */
struct section {
    uint32_t part, count;
};

/* Cut `key`, which step `index` of a field led to from cut i, for its owner. */
static void stage(struct pt_lattice *l, const struct lat_part *from, uint32_t i, const struct lat_field *field,
                  uint32_t index, bool later)
{
    struct lat_worker *w = &l->workers[0];
    struct lat_share *share = l->share;
    uint32_t words = l->layout->words;
    uint64_t *key = w->key;
    memcpy(key, from->keys + (size_t)i * words, words * sizeof *key);
    key[field->word] += (uint64_t)1 << field->shift;
    struct lat_part *to = &share->staged[owner_of(l, key)];
    uint32_t at = to->count++;
    if (at == to->cap)
        lat_part_reserve(l, to, words, to->count);
    memcpy(to->keys + (size_t)at * words, key, words * sizeof *key);
    to->runs[at] = from->runs[i];
    to->letters[at] = 0;
    to->sets[at] = PT_SET_EMPTY;
    if (l->counting)
        return;
    pt_letter letter = lat_cut_letter(l, w, key, from->letters[i], field, index);
    pt_set set = from->sets[i];
    if (!later)
        set = pt_sets_step(l->sets, &w->cache, set, lat_event_letter(l, w, key, letter, field->user_event[index]));
    to->letters[at] = letter;
    to->sets[at] = set;
    lat_words_tell(l, letter, set);
}

/* The field's steps from a part. */
static void stage_field(struct pt_lattice *l, const struct lat_part *from, uint32_t f, bool later)
{
    const struct lat_field *field = &l->layout->fields[f];
    const bool *away = field->away;
    uint32_t words = l->layout->words;
    for (uint32_t i = 0; i < from->count; i++) {
        const uint64_t *key = from->keys + (size_t)i * words;
        uint32_t index = lat_field_count_in(field, key);
        if (!away[index] || index >= field->limit)
            continue;
        const uint64_t *need = field->need + (size_t)index * words;
        if (l->by_needs ? pt_packed_enabled(key, l->layout->guard, need, words) : lat_enabled(l, key, f, index))
            stage(l, from, i, field, index, later);
    }
}

static void add_column(struct pt_group_bytes *out, const void *column, size_t bytes)
{
    memcpy(pt_group_bytes_add(out, bytes), column, bytes);
}

static void send_staged(struct pt_lattice *l, uint32_t part)
{
    struct lat_share *share = l->share;
    for (uint32_t p = 0; p < share->group->size; p++) {
        struct lat_part *staged = &share->staged[p];
        if (!staged->count)
            continue;
        const struct section section = {part, staged->count};
        add_column(&share->out[p], &section, sizeof section);
        add_column(&share->out[p], staged->keys, (size_t)staged->count * l->layout->words * sizeof *staged->keys);
        add_column(&share->out[p], staged->runs, staged->count * sizeof *staged->runs);
        add_column(&share->out[p], staged->letters, staged->count * sizeof *staged->letters);
        add_column(&share->out[p], staged->sets, staged->count * sizeof *staged->sets);
        staged->count = 0;
    }
}

/* Whether some step of the field that splits leaves from a part, whose counts are equal modulo the number of parts. */
static bool leaves(const struct lat_dividing *d, uint32_t part, uint32_t part_count)
{
    for (uint64_t k = part; k < d->events; k += part_count)
        if (d->away[k])
            return true;
    return false;
}

/* All that leave `from`, in the order of the parts that they lead to. */
static void send_steps(struct pt_lattice *l, const struct lat_level *from)
{
    const struct lat_share *share = l->share;
    bool later = lat_steps_later(l);
    for (uint32_t part = 0; part < from->part_count; part++) {
        for (uint32_t d = 0; d < share->dividing_count; d++) {
            uint32_t field = share->dividing[d].field, before = (part - 1) & (from->part_count - 1);
            bool splits = field == l->layout->split;
            if (!splits || leaves(&share->dividing[d], before, from->part_count))
                stage_field(l, &from->parts[splits ? before : part], field, later);
        }
        send_staged(l, part);
    }
}

/* ---- what is received ---- */

/* The part that lies over a section; *at is moved behind it. */
static struct lat_part part_over(const struct pt_lattice *l, unsigned char **at, uint32_t *ret_part)
{
    struct section section;
    memcpy(&section, *at, sizeof section);
    struct lat_part part = {.count = section.count, .words = l->layout->words};
    part.keys = (uint64_t *)(void *)(*at + sizeof section);
    part.runs = part.keys + (size_t)part.count * part.words;
    part.letters = (pt_letter *)(part.runs + part.count);
    part.sets = part.letters + part.count;
    *at = (unsigned char *)(part.sets + part.count);
    *ret_part = section.part;
    return part;
}

static void translate(struct pt_lattice *l, uint32_t p, struct lat_part *part)
{
    const struct lat_words *letters = &l->share->letters[p], *sets = &l->share->sets[p];
    for (uint32_t i = 0; i < part->count && !l->counting; i++) {
        part->letters[i] = lat_words_ours(letters, part->letters[i]);
        part->sets[i] = lat_words_ours(sets, part->sets[i] & ~PT_SET_FLAGS) | (part->sets[i] & PT_SET_FLAGS);
    }
}

/* Where the sections of a message end, and words begin. */
static unsigned char *words_of(const struct pt_group_bytes *message, size_t *ret_len)
{
    uint64_t len;
    unsigned char *end = message->data + message->len - sizeof len;
    memcpy(&len, end, sizeof len);
    *ret_len = len;
    return end - len;
}

/* Sections are put where their parts want them: counted first. */
static void receive(struct pt_lattice *l)
{
    struct lat_share *share = l->share;
    uint32_t number;
    size_t words;
    memset(share->first, 0, ((size_t)share->kinds + 1) * sizeof *share->first);
    for (uint32_t p = 0; p < share->group->size; p++) {
        unsigned char *at = share->in[p].data, *end = words_of(&share->in[p], &words);
        lat_words_learn(l, p, end, words);
        while (at < end) {
            part_over(l, &at, &number);
            share->first[number]++;
        }
    }
    for (uint32_t part = 1; part <= share->kinds; part++) /* the ends, which become beginnings below */
        share->first[part] += share->first[part - 1];
    for (uint32_t p = share->group->size; p-- > 0;) {
        unsigned char *at = share->in[p].data, *end = words_of(&share->in[p], &words);
        while (at < end) {
            struct lat_part part = part_over(l, &at, &number);
            translate(l, p, &part);
            share->received[--share->first[number]] = part;
        }
    }
}

static void add_words(struct lat_share *share)
{
    const uint64_t len = share->words.len;
    for (uint32_t p = 0; p < share->group->size; p++) {
        if (len)
            add_column(&share->out[p], share->words.data, len);
        add_column(&share->out[p], &len, sizeof len);
    }
    share->words.len = 0;
}

static void count_bytes(struct pt_lattice *l)
{
    struct lat_share *share = l->share;
    size_t bytes = 0;
    for (uint32_t p = 0; p < share->group->size; p++)
        bytes += share->out[p].cap + share->in[p].cap;
    atomic_fetch_add(&l->bytes, bytes - share->counted);
    share->counted = bytes;
}

void lat_share_begin(struct pt_lattice *l, struct lat_level *from)
{
    struct lat_share *share = l->share;
    for (uint32_t p = 0; p < share->group->size; p++)
        share->out[p].len = 0;
    if (from->sorted) {
        lat_share_stage(l, from);
        send_staged(l, 0);
    } else {
        send_steps(l, from);
    }
    add_words(share);
    share->group->exchange(share->group->context, share->out, share->in);
    receive(l);
    if (from->sorted)
        lat_share_unite(l, share->received, share->first[share->kinds]);
    count_bytes(l);
}

void lat_share_end(struct pt_lattice *l, const struct lat_level *to)
{
    enum { CUTS, BAD, ERROR, MEMORY, INTERRUPTED, COUNT };
    struct lat_share *share = l->share;
    uint64_t sums[COUNT] = {0};
    pt_set flags = 0;
    for (uint32_t p = 0; p < to->part_count; p++) {
        sums[CUTS] += to->parts[p].count;
        flags |= to->sorted ? to->parts[p].flags : 0;
        for (uint32_t i = 0; !to->sorted && i < to->parts[p].count; i++)
            flags |= to->parts[p].sets[i];
    }
    sums[BAD] = (flags & PT_SET_BAD) != 0;
    sums[ERROR] = (flags & PT_SET_ERROR) != 0;
    sums[MEMORY] = l->out_of_memory;
    sums[INTERRUPTED] = l->options->interrupted && l->options->interrupted(l->options->context);
    share->group->sum(share->group->context, sums, COUNT);
    share->cuts = sums[CUTS];
    share->flags = (sums[BAD] ? PT_SET_BAD : 0) | (sums[ERROR] ? PT_SET_ERROR : 0);
    l->out_of_memory = sums[MEMORY] != 0;
    share->interrupted = sums[INTERRUPTED] != 0;
}

const struct lat_part *lat_share_received(const struct lat_share *share, uint32_t part, uint32_t *ret_count)
{
    *ret_count = share->first[part + 1] - share->first[part];
    return share->received + share->first[part];
}

/* ---- what all agree on ---- */

uint64_t lat_share_sum(const struct pt_lattice *l, uint64_t value)
{
    enum { HALF = 32 };
    uint64_t halves[2] = {value & UINT32_MAX, value >> HALF};
    l->share->group->sum(l->share->group->context, halves, 2);
    uint64_t carry = halves[0] >> HALF, high = halves[1] + carry;
    return high > UINT32_MAX ? UINT64_MAX : high << HALF | (halves[0] & UINT32_MAX);
}

const uint64_t *lat_share_least(struct pt_lattice *l, const uint64_t *key, pt_letter *letter)
{
    struct lat_share *share = l->share;
    size_t bytes = l->layout->words * sizeof *key;
    struct pt_group_bytes mine = {0};
    const uint64_t *least = NULL;
    if (key) {
        add_column(&mine, key, bytes);
        lat_words_put_letter(l, &mine, *letter);
    }
    struct pt_group_bytes *all = pt_group_gather(share->group, mine.data, mine.len);
    for (uint32_t p = 0; p < share->group->size; p++) {
        const uint64_t *other = (const uint64_t *)(const void *)all[p].data;
        if (!all[p].len || (least && lat_cut_compare(l, l->layout, other, least) >= 0))
            continue;
        memcpy(share->key, other, bytes);
        least = share->key;
        lat_words_get_letter(l, all[p].data + bytes, letter);
    }
    pt_group_bytes_release(all, share->group->size);
    free(mine.data);
    return least;
}

bool lat_share_goal(struct pt_lattice *l, pt_mstate **goal, uint32_t *count, pt_letter *letter)
{
    const struct pt_group *group = l->share->group;
    struct pt_group_bytes text = {0};
    if (*goal) {
        lat_words_put_letter(l, &text, *letter);
        lat_words_put_states(l, &text, *goal, *count);
    }
    uint64_t who[2] = {*goal ? group->rank + 1 : 0, text.len}; /* a cut has one owner, so the sums are its own */
    group->sum(group->context, who, 2);
    if (who[0]) {
        uint32_t owner = (uint32_t)who[0] - 1;
        if (owner != group->rank)
            pt_group_bytes_add(&text, who[1]);
        group->spread(group->context, owner, text.data, text.len);
        if (owner != group->rank)
            lat_words_get_states(l, lat_words_get_letter(l, text.data, letter), goal, count);
    }
    free(text.data);
    return who[0] != 0;
}
