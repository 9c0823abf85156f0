/*
 * What is kept of an access beside its clock, as small numbers: its place, the calls it was in, the locks it was made
 * with. Equal ones have one number; nothing is ever freed.
 *
 * Guarantee: a number means the same for ever; where there is no more room, or where stacks have the MiB that
 * history_size gives them, it is UINT32_MAX, and the report says that the stack is lost. Cost: hashing what is noted,
 * and a look-up without a lock; a lock for what is new.
 */
#include <emmintrin.h>
#include <string.h>

#include "core/hash.h"
#include "runtime/race/impl.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

enum { BUCKET_BITS = 20, FRAMES = PT_FOUND_FRAMES };
/* Locks with their places have numbers of their own, as long as these are few: what is locked is mostly one or two of
 * them, and a set of two is then its two numbers. Sets of a thousand locks would be half a million texts. */
enum { HELD_BITS = 15, SLOT_BITS = 17, MOST_HELD = (1 << HELD_BITS) - 1 };
#define IS_PAIR (UINT32_C(1) << 31)
#define ROOM    ((size_t)1 << 30)

/* Interned words: the sites of a stack, the outermost first, or addresses and sites of locks. */
struct text {
    uint64_t hash;
    uint32_t next; /* in its bucket */
    uint16_t count;
    uint16_t lost; /* a stack: there were other calls */
    uint64_t words[];
};

const struct pt_site *_Atomic *pt_race_places;
/* What slots call places, and the places that they call so. Given out once, in the order in which they are asked for.
 */
static struct {
    _Atomic uint16_t *of;
    uint32_t place[PT_RACE_CODES];
    struct pt_spin lock;
    uint32_t used;
} codes = {.lock = PT_SPIN(PT_RANK_CLOCK), .used = 1};
enum { NO_CODE = UINT16_MAX };
static _Atomic uint32_t *buckets;
static char *room;
static struct {
    struct pt_spin lock;
    size_t used;
    size_t stacks; /* bytes that stacks may still have */
} texts = {.lock = PT_SPIN(PT_RANK_SITE)};

static struct {
    struct pt_race_lock_held *at;
    _Atomic uint16_t *slots; /* hashed; 0: none */
    struct pt_spin lock;
    uint32_t used;
} held = {.lock = PT_SPIN(PT_RANK_CLOCK), .used = 1}; /* taken while an object is locked */

static void reset_texts(void)
{
    int64_t most = (int64_t)(ROOM >> 20), wanted = pt_options.history_size;
    texts.used = 8; /* 0 is none */
    texts.stacks = wanted <= 0 ? 0 : (size_t)(wanted < most ? wanted : most) << 20;
}

bool pt_race_note_start(void)
{
    pt_race_places = pt_sys_reserve_table(sizeof *pt_race_places << PT_RACE_PLACE_BITS);
    buckets = pt_sys_reserve_table(sizeof *buckets << BUCKET_BITS);
    room = pt_sys_reserve_table(ROOM);
    held.at = pt_sys_reserve_table(sizeof *held.at << HELD_BITS);
    held.slots = pt_sys_reserve_table(sizeof *held.slots << SLOT_BITS);
    codes.of = pt_sys_reserve_table(sizeof *codes.of << PT_RACE_PLACE_BITS);
    reset_texts();
    return pt_race_places && codes.of && buckets && room && held.at && held.slots;
}

void pt_race_note_restart(void)
{
    pt_sys_empty(pt_race_places, sizeof *pt_race_places << PT_RACE_PLACE_BITS);
    pt_sys_empty(buckets, sizeof *buckets << BUCKET_BITS);
    pt_sys_empty(room, ROOM);
    pt_sys_empty(held.slots, sizeof *held.slots << SLOT_BITS);
    pt_sys_empty(codes.of, sizeof *codes.of << PT_RACE_PLACE_BITS);
    pt_spin_reset(&texts.lock);
    pt_spin_reset(&held.lock);
    pt_spin_reset(&codes.lock);
    held.used = codes.used = 1;
    reset_texts();
}

uint32_t pt_race_place_search(const struct pt_site *site)
{
    uint32_t at = pt_race_place_home(site);
    for (uint32_t tries = 0; tries >> PT_RACE_PLACE_BITS == 0;
         tries++, at = (at + 1) & ((1u << PT_RACE_PLACE_BITS) - 1)) {
        const struct pt_site *there = atomic_load_explicit(&pt_race_places[at], memory_order_relaxed);
        if (there == site || (!there && atomic_compare_exchange_strong(&pt_race_places[at], &there, site)) ||
            there == site)
            return at;
    }
    pt_runtime_stop("the program has more places in its source than races can be told apart by");
    return 0;
}

const struct pt_site *pt_race_site_at(uint32_t place)
{
    return atomic_load_explicit(&pt_race_places[place], memory_order_relaxed);
}

uint32_t pt_race_code_of(uint32_t place)
{
    /* acquire: partner of the release below */
    uint32_t code = atomic_load_explicit(&codes.of[place], memory_order_acquire);
    if (__builtin_expect(!code, 0)) {
        pt_spin_lock(&codes.lock);
        code = atomic_load_explicit(&codes.of[place], memory_order_relaxed);
        if (!code) {
            code = codes.used < PT_RACE_CODES ? codes.used++ : NO_CODE;
            if (code != NO_CODE)
                codes.place[code] = place;
            atomic_store_explicit(&codes.of[place], (uint16_t)code, memory_order_release);
        }
        pt_spin_unlock(&codes.lock);
    }
    return code == NO_CODE ? 0 : code;
}

uint32_t pt_race_place_at(uint32_t code)
{
    return codes.place[code];
}

static struct text *text_at(uint32_t id)
{
    return (struct text *)(void *)(room + (size_t)id * 8);
}

static uint32_t look_up(uint32_t first, const struct text *wanted)
{
    for (uint32_t id = first; id; id = text_at(id)->next) {
        const struct text *text = text_at(id);
        if (text->hash == wanted->hash && text->count == wanted->count && text->lost == wanted->lost &&
            memcmp(text->words, wanted->words, wanted->count * sizeof *text->words) == 0)
            return id;
    }
    return 0;
}

/* Takes from `allowance` what is new, unless that is NULL. UINT32_MAX: there is no more room. */
static uint32_t intern(struct text *text, size_t *allowance)
{
    uint64_t hash = text->count;
    for (uint16_t i = 0; i < text->count; i++)
        hash = pt_mix64(hash + text->words[i]);
    text->hash = hash;
    _Atomic uint32_t *bucket = &buckets[hash >> (64 - BUCKET_BITS)];
    /* acquire: partner of the release below */
    uint32_t id = look_up(atomic_load_explicit(bucket, memory_order_acquire), text);
    if (id)
        return id;
    size_t bytes = sizeof *text + text->count * sizeof *text->words;
    pt_spin_lock(&texts.lock);
    uint32_t first = atomic_load_explicit(bucket, memory_order_relaxed);
    id = look_up(first, text);
    if (!id && (ROOM - texts.used < bytes || (allowance && *allowance < bytes))) {
        id = UINT32_MAX;
    } else if (!id) {
        if (allowance)
            *allowance -= bytes;
        id = (uint32_t)(texts.used / 8);
        texts.used += bytes;
        text->next = first;
        memcpy(text_at(id), text, bytes);
        atomic_store_explicit(bucket, id, memory_order_release);
    }
    pt_spin_unlock(&texts.lock);
    return id;
}

uint32_t pt_race_stack_now(void)
{
    struct {
        struct text text;
        uint64_t words[FRAMES];
    } now;
    const struct pt_calls *calls = &__portent_calls;
    uint32_t depth = calls->depth, count = depth < FRAMES ? depth : FRAMES;
    if (!depth)
        return 0;
    now.text = (struct text){.count = (uint16_t)count, .lost = depth > count};
    for (uint32_t i = 0; i < count; i++)
        now.words[i] = (uintptr_t)calls->frames[(depth - count + i) % PT_CALLS];
    return intern(&now.text, &texts.stacks);
}

/* Whether these are the calls of the text with that number. */
static bool is_stack(uint32_t stack, const struct pt_site *const *frames, uint32_t count)
{
    const uint64_t *words = text_at(stack)->words;
    if (count & 1 && words[count - 1] != (uintptr_t)frames[count - 1])
        return false;
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        __m128i one = _mm_loadu_si128((const __m128i *)(const void *)&words[i]),
                other = _mm_loadu_si128((const __m128i *)(const void *)&frames[i]);
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(one, other)) != 0xffff)
            return false;
    }
    return true;
}

uint32_t pt_race_stack_of(struct pt_race_self *self)
{
    const struct pt_calls *calls = &__portent_calls;
    uint32_t depth = calls->depth, count = depth < FRAMES ? depth : FRAMES;
    if (!depth || depth > PT_CALLS) /* beyond that they are not next to each other */
        return pt_race_stack_now();
    uint64_t mixed = (pt_race_calls() ^ pt_race_calls() >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    struct pt_race_stack *stack = &self->stacks[mixed >> (64 - PT_RACE_STACK_BITS)];
    if (stack->depth == depth && is_stack(stack->id, &calls->frames[depth - count], count))
        return stack->id;
    uint32_t id = pt_race_stack_now();
    *stack = (struct pt_race_stack){id == UINT32_MAX ? 0 : depth, id};
    return id;
}

uint32_t pt_race_stack_read(uint32_t stack, const struct pt_site **out, uint32_t most, bool *ret_lost)
{
    *ret_lost = stack == UINT32_MAX;
    if (!stack || *ret_lost)
        return 0;
    const struct text *text = text_at(stack);
    uint32_t count = text->count < most ? text->count : most;
    *ret_lost = text->lost || count < text->count;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (const struct pt_site *)(uintptr_t)text->words[text->count - 1 - i];
    return count;
}

/* The slot of a lock with its place, or the empty one where it would be: there are four times as many as numbers. */
static _Atomic uint16_t *held_slot(const struct pt_race_lock_held *lock)
{
    uint64_t mixed = ((uint64_t)lock->address ^ (uint64_t)(uintptr_t)lock->site << 20) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t slot = (uint32_t)(mixed >> (64 - SLOT_BITS));; slot = (slot + 1) & ((1u << SLOT_BITS) - 1)) {
        /* acquire: partner of the release that puts it there */
        uint16_t id = atomic_load_explicit(&held.slots[slot], memory_order_acquire);
        if (!id || (held.at[id].address == lock->address && held.at[id].site == lock->site))
            return &held.slots[slot];
    }
}

uint32_t pt_race_held_number(const struct pt_race_lock_held *lock)
{
    uint16_t id = atomic_load_explicit(held_slot(lock), memory_order_relaxed);
    if (id)
        return id;
    pt_spin_lock(&held.lock);
    _Atomic uint16_t *slot = held_slot(lock);
    id = atomic_load_explicit(slot, memory_order_relaxed);
    if (!id && held.used <= MOST_HELD) {
        id = (uint16_t)held.used++;
        held.at[id] = *lock;
        atomic_store_explicit(slot, id, memory_order_release);
    }
    pt_spin_unlock(&held.lock);
    return id;
}

/* The set of the one or two locks that are held; 0: it is not that simple. */
static uint32_t pair_now(struct pt_race_self *self)
{
    uint32_t numbers[2] = {0, 0};
    if (self->lock_count > 2)
        return 0;
    for (uint32_t i = 0; i < self->lock_count; i++) {
        struct pt_race_lock_held *lock = &self->locks[i];
        if (!lock->number && (lock->number = pt_race_held_number(lock)) == 0)
            return 0;
        numbers[i] = lock->number;
    }
    return IS_PAIR | numbers[0] << HELD_BITS | numbers[1];
}

uint32_t pt_race_locks_now(struct pt_race_self *self)
{
    struct {
        struct text text;
        uint64_t words[2 * PT_RACE_LOCKS];
    } now;
    if (self->lock_set != UINT32_MAX)
        return self->lock_set;
    self->lock_set = self->lock_count ? pair_now(self) : 0;
    if (self->lock_set || !self->lock_count)
        return self->lock_set;
    now.text = (struct text){.count = (uint16_t)(2 * self->lock_count)};
    for (uint32_t i = 0; i < self->lock_count; i++) {
        now.words[2 * i] = self->locks[i].address;
        now.words[2 * i + 1] = (uintptr_t)self->locks[i].site;
    }
    self->lock_set = intern(&now.text, NULL);
    return self->lock_set;
}

uint32_t pt_race_locks_read(uint32_t set, struct pt_race_lock_held *out, uint32_t most)
{
    if (!set || set == UINT32_MAX)
        return 0;
    if (set & IS_PAIR) {
        uint32_t count = set & MOST_HELD ? 2 : 1;
        const uint32_t id[] = {set >> HELD_BITS & MOST_HELD, set & MOST_HELD};
        for (uint32_t i = 0; i < count && i < most; i++)
            out[i] = held.at[id[i]];
        return count < most ? count : most;
    }
    const struct text *text = text_at(set);
    uint32_t count = text->count / 2u < most ? text->count / 2u : most;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct pt_race_lock_held){(uintptr_t)text->words[2 * i],
                                            (const struct pt_site *)(uintptr_t)text->words[2 * i + 1]};
    return count;
}
