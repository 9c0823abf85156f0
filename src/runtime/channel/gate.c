/*
 * The gate: before a relevant event a thread waits until the schedule's next entry is its own; when the event has its
 * number it counts the schedule on. Only the thread whose turn it is gets through, and only it counts, so performing
 * and counting need no lock. A thread whose event is not the one that the schedule has opens the gate: the run goes
 * another way than the predicted one, and goes on freely. The observer sees the events and says what differed.
 *
 * Relevant events alone do not make a run: what a thread reads between two of its events decides what the second one
 * will be. Each entry therefore says from which turn on everything has happened that its event causally follows. A
 * thread that is about to read a watched variable, or to take a lock, waits for the turn that its next entry needs:
 * not for long (SOFT_NS for each entry), since the others may be waiting for something that it does only later. And the
 * other way round: an event may causally follow another thread's event because of what that thread read after it. So
 * before a thread takes its turn it lets the author of its event's latest cause come to rest: at the gate, in a lock,
 * at its end; for SETTLE_NS at most. The guarantee is that of the order of relevant events; that the values come out
 * right is likely, and checked by the observer.
 *
 * A whole schedule leaves less to chance: a thread also waits for its turn before it takes a lock, and before it reads
 * a variable that the schedule has. What it has no entry for any more comes after the predicted run: a lock, or a
 * write, waits until that is played. A lock that is taken, or a read, out of turn (a condition variable gives its mutex
 * back to whom it likes) is noted as done, and the schedule goes on without it. A read waits for `read_ns` at most,
 * since one access may touch several variables of which the schedule names one.
 *
 * Waiting is done outside the runtime (nothing locked, not busy), so handlers of signals run meanwhile. It ends when
 * the observer opens the gate or is gone.
 */
#include "runtime/channel/gate.h"

#include "runtime/channel/gate_impl.h"
#include "runtime/channel/self.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/delay.h"
#include "runtime/sys/sys.h"

enum {
    SOFT_NS = 100 * 1000 * 1000,
    SOFT_SLICE_NS = 5 * 1000 * 1000,
    SETTLE_NS = 20 * 1000 * 1000,
    SETTLE_SLICE_NS = 50 * 1000,
};

static const uint64_t read_ns = 2000 * 1000 * 1000;

struct pt_gate *pt_gate;

/* Memory that is known by the place of an access alone: every access is looked at. */
static bool has_places(void)
{
    for (uint32_t i = pt_gate->count - pt_gate->meets; i < pt_gate->count; i++)
        if (pt_gate_entries(pt_gate)[i].kind >= PT_GATE_AT_READ)
            return true;
    return false;
}

void pt_gate_start(void)
{
    if (pt_channel->gate_offset)
        pt_gate = (void *)((char *)pt_channel + pt_channel->gate_offset);
    pt_shadow_gated = pt_gate != NULL || pt_delay_on;
    atomic_store_explicit(&pt_shadow_steps, pt_gate && has_places(), memory_order_relaxed);
}

void pt_gate_stop(void)
{
    pt_gate = NULL;
    pt_shadow_gated = pt_delay_on;
    atomic_store_explicit(&pt_shadow_steps, false, memory_order_relaxed);
}

struct pt_gate_thread *pt_gate_slot(const struct pt_thread *self)
{
    if (pt_thread_number(self) >= PT_GATE_THREADS)
        return NULL;
    struct pt_gate_thread *slot = &pt_gate_threads(pt_gate)[pt_thread_number(self)];
    if (__builtin_expect(!atomic_load_explicit(&slot->tid, memory_order_relaxed), 0))
        atomic_store_explicit(&slot->tid, pt_sys_thread(), memory_order_relaxed);
    return slot;
}

static void open_gate(void)
{
    /* release: partner of the acquire in pt_gate_is_open */
    atomic_store_explicit(&pt_gate->open, 1, memory_order_release);
    pt_sys_wake_all(&pt_gate->turn);
}

bool pt_gate_is_open(void)
{
    if (atomic_load_explicit(&pt_gate->open, memory_order_acquire))
        return true;
    if (!atomic_load_explicit(&pt_channel->observer_gone, memory_order_relaxed))
        return false;
    open_gate();
    return true;
}

/* Who the thread is; waits until the observer has said so. */
static uint32_t role_of(const struct pt_thread *self)
{
    struct pt_gate_thread *slot = pt_gate_slot(self);
    while (slot && !pt_gate_is_open()) {
        /* acquire: partner of the observer's release */
        uint32_t role = atomic_load_explicit(&slot->role, memory_order_acquire);
        if (role >= PT_GATE_ROLE)
            atomic_store_explicit(&pt_gate_actors(pt_gate)[role - PT_GATE_ROLE].number, pt_thread_number(self) + 1,
                                  memory_order_relaxed);
        if (role != PT_GATE_UNKNOWN)
            return role;
        pt_sys_wait(&slot->role, PT_GATE_UNKNOWN, GATE_SLICE_NS);
    }
    return PT_GATE_NO_ROLE;
}

static bool is_turn_of(const struct pt_thread *self, uint32_t role, uint32_t turn)
{
    if (turn >= pt_gate->from)
        return pt_gate_entries(pt_gate)[turn - pt_gate->from].role + PT_GATE_ROLE == role;
    return role < PT_GATE_ROLE || self->shadow.clock.events < pt_gate_actors(pt_gate)[role - PT_GATE_ROLE].before;
}

bool pt_gate_is_played(uint32_t turn)
{
    return turn >= pt_gate->from + pt_gate->count;
}

uint32_t pt_gate_say(struct pt_gate_thread *slot, uint32_t doing)
{
    /* release: partner of the acquire in settle; what was done before is seen by whoever waited for it */
    return slot ? atomic_exchange_explicit(&slot->doing, doing, memory_order_release) : PT_GATE_RUNS;
}

/* Before the entry at this turn: its latest cause's author comes to rest. */
static void settle(uint32_t turn)
{
    const struct pt_gate_entry *entries = pt_gate_entries(pt_gate);
    uint32_t needs = turn < pt_gate->from ? 0 : entries[turn - pt_gate->from].needs;
    if (needs <= pt_gate->from)
        return;
    struct pt_gate_actor *author = &pt_gate_actors(pt_gate)[entries[needs - pt_gate->from - 1].role];
    uint32_t number = atomic_load_explicit(&author->number, memory_order_relaxed);
    struct pt_gate_thread *thread = number && number <= PT_GATE_THREADS ? &pt_gate_threads(pt_gate)[number - 1] : NULL;
    for (uint32_t waited = 0; thread && waited < SETTLE_NS && !pt_gate_is_open(); waited += SETTLE_SLICE_NS) {
        /* acquire: partner of the release in say */
        uint32_t doing = atomic_load_explicit(&thread->doing, memory_order_acquire);
        if (doing != PT_GATE_RUNS && doing != PT_GATE_SLEEPS)
            return;
        pt_sys_sleep(SETTLE_SLICE_NS);
    }
}

void pt_gate_wait_turn(struct pt_thread *self, uint64_t limit)
{
    struct pt_gate_thread *slot = pt_gate_slot(self);
    uint32_t before = pt_gate_say(slot, PT_GATE_WAITS_TURN), role = role_of(self);
    for (uint64_t waited = 0; waited < limit && !pt_gate_is_open(); waited += GATE_SLICE_NS) {
        /* acquire: partner of the release in pt_gate_count; what was done in earlier turns is seen */
        uint32_t turn = atomic_load_explicit(&pt_gate->turn, memory_order_acquire);
        if (pt_gate_is_played(turn)) {
            pt_gate_wait_floor(self);
            break;
        }
        if (is_turn_of(self, role, turn)) {
            settle(turn);
            break;
        }
        pt_sys_wait(&pt_gate->turn, turn, GATE_SLICE_NS);
    }
    pt_gate_say(slot, before);
}

void pt_gate_wait_user(struct pt_thread *self)
{
    pt_gate_flush(self);
    if (!pt_gate_wait_floor(self))
        pt_gate_wait_turn(self, UINT64_MAX);
}

/* --- whole schedules --- */

uint32_t pt_gate_next_entry(struct pt_thread *self)
{
    const struct pt_gate_entry *entries = pt_gate_entries(pt_gate);
    uint32_t role = role_of(self), at = self->channel->gate_next;
    while (at < pt_gate->count &&
           (entries[at].role + PT_GATE_ROLE != role || atomic_load_explicit(&entries[at].done, memory_order_relaxed)))
        at++;
    self->channel->gate_next = at;
    return at;
}

void pt_gate_mark_done(uint32_t at)
{
    struct pt_gate_entry *entries = pt_gate_entries(pt_gate);
    /* seq_cst, as all of these: of two threads that note entries next to each other, one sees that both are done */
    atomic_store(&entries[at].done, 1);
    uint32_t turn = atomic_load(&pt_gate->turn);
    bool moved = false;
    while (!pt_gate_is_played(turn) && atomic_load(&entries[turn].done)) {
        if (pt_gate_is_played(turn + 1))
            pt_gate_take_floor();
        if (!atomic_compare_exchange_strong(&pt_gate->turn, &turn, turn + 1))
            continue;
        turn++;
        moved = true;
    }
    if (moved)
        pt_sys_wake_all(&pt_gate->turn);
}

/* Before a lock is taken. What the recorded run did not do here is not waited for. */
static void wait_to_lock(struct pt_thread *self)
{
    if (pt_gate->bare)
        return;
    uint32_t at = pt_gate_next_entry(self);
    if (at == pt_gate->count || pt_gate_entries(pt_gate)[at].kind == PT_GATE_LOCK)
        pt_gate_wait_turn(self, UINT64_MAX);
}

static void wait_to_read(struct pt_thread *self)
{
    uint32_t at = pt_gate_next_entry(self);
    if (at < pt_gate->count && pt_gate_entries(pt_gate)[at].kind == PT_GATE_READ)
        pt_gate_wait_turn(self, read_ns);
}

static void note_locked(struct pt_thread *self)
{
    uint32_t at = pt_gate_is_open() ? pt_gate->count : pt_gate_next_entry(self);
    if (at < pt_gate->count && pt_gate_entries(pt_gate)[at].kind == PT_GATE_LOCK)
        pt_gate_mark_done(at);
}

void pt_gate_note_read(struct pt_thread *self, uint32_t object)
{
    uint32_t at = !pt_gate->whole || pt_gate_is_open() ? pt_gate->count : pt_gate_next_entry(self);
    const struct pt_gate_entry *entry = &pt_gate_entries(pt_gate)[at];
    if (at == pt_gate->count || entry->kind != PT_GATE_READ || entry->object != object)
        return;
    if (at != atomic_load(&pt_gate->turn))
        atomic_fetch_add(&pt_gate->strays, 1);
    pt_gate_mark_done(at);
}

/* --- schedules of relevant events --- */

/* The turn that the thread's next entry needs, 0: it has none, or has waited long enough for it. */
static uint32_t needed_turn(struct pt_thread *self, uint32_t turn)
{
    const struct pt_gate_entry *entries = pt_gate_entries(pt_gate);
    uint32_t role = role_of(self), at = self->channel->gate_next;
    bool begun = turn >= pt_gate->from;
    if (role < PT_GATE_ROLE || (!begun && is_turn_of(self, role, turn)))
        return 0;
    if (begun && at < turn - pt_gate->from)
        at = turn - pt_gate->from;
    while (at < pt_gate->count && entries[at].role + PT_GATE_ROLE != role)
        at++;
    if (at != self->channel->gate_next) {
        self->channel->gate_next = at;
        self->channel->gate_waited = 0;
    }
    return at < pt_gate->count && self->channel->gate_waited < SOFT_NS ? entries[at].needs : 0;
}

static void wait_for_causes(struct pt_thread *self)
{
    while (!pt_gate_is_open()) {
        uint32_t turn = atomic_load_explicit(&pt_gate->turn, memory_order_acquire);
        if (pt_gate_wait_floor(self) || turn >= needed_turn(self, turn))
            return;
        uint32_t before = pt_gate_say(pt_gate_slot(self), PT_GATE_WAITS_TURN);
        pt_sys_wait(&pt_gate->turn, turn, SOFT_SLICE_NS);
        pt_gate_say(pt_gate_slot(self), before);
        self->channel->gate_waited += SOFT_SLICE_NS;
    }
}

void pt_gate_before_access(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                           const struct pt_site *site)
{
    struct pt_thread *thread = pt_thread_of(self);
    struct gate_event event = {write ? PT_GATE_AT_WRITE : PT_GATE_AT_READ, address, size, site};
    pt_gate_flush(thread);
    if (pt_gate_wait_floor(thread) || pt_gate_is_open() || pt_gate_meet(thread, &event) ||
        !pt_slow_is_watched(self, address, size))
        return;
    if (write)
        pt_gate_wait_user(thread);
    else if (pt_gate->whole)
        wait_to_read(thread);
    else
        wait_for_causes(thread);
}

static bool is_entry(const struct pt_thread *self, uint32_t at, enum pt_gate_kind kind, uint32_t object)
{
    const struct pt_gate_entry *entry = &pt_gate_entries(pt_gate)[at];
    const struct pt_config *config = pt_runtime_config();
    bool same = entry->object == PT_GATE_ANY_OBJECT ? object >= config->watch_count : object == entry->object;
    return entry->role + PT_GATE_ROLE == role_of(self) && entry->kind == kind && same;
}

void pt_gate_count(struct pt_thread *self, bool user, uint32_t object)
{
    enum pt_gate_kind kind = user ? PT_GATE_USER : PT_GATE_WRITE;
    uint32_t turn = atomic_load_explicit(&pt_gate->turn, memory_order_relaxed);
    do {
        if (pt_gate_is_open() || pt_gate_is_played(turn))
            return;
        if (turn >= pt_gate->from && !is_entry(self, turn - pt_gate->from, kind, object)) {
            open_gate();
            return;
        }
        if (pt_gate->whole) {
            pt_gate_mark_done(turn);
            return;
        }
        if (pt_gate_is_played(turn + 1))
            pt_gate_take_floor();
        /* release: partner of the acquire in pt_gate_wait_user. It fails only before the schedule, where several
         * threads count. */
    } while (!atomic_compare_exchange_weak_explicit(&pt_gate->turn, &turn, turn + 1, memory_order_release,
                                                    memory_order_relaxed));
    pt_sys_wake_all(&pt_gate->turn);
}

/* --- what the observer needs to say why it did not go on --- */

void pt_gate_note_lock(const void *object, int kind)
{
    struct pt_thread *self = pt_thread_now();
    struct pt_gate_thread *slot = self ? pt_gate_slot(self) : NULL;
    if (self)
        pt_gate_flush(self);
    bool taken = pt_op_locks(pt_kind_op((unsigned)kind)), given = pt_op_unlocks(pt_kind_op((unsigned)kind));
    if (self && taken && pt_gate->whole && !self->shadow.busy)
        note_locked(self);
    if (self && given)
        pt_gate_note_given(self, (uintptr_t)object);
    for (unsigned i = 0; slot && (taken || given) && i < PT_GATE_LOCKS; i++) {
        uint64_t lock = atomic_load_explicit(&slot->locks[i], memory_order_relaxed);
        if (lock != (taken ? 0 : (uintptr_t)object))
            continue;
        atomic_store_explicit(&slot->locks[i], taken ? (uintptr_t)object : 0, memory_order_relaxed);
        return;
    }
}

void pt_gate_note_wait(const void *object, enum pt_gate_doing doing, const struct pt_site *site)
{
    struct pt_thread *self = pt_thread_now();
    struct gate_event event = {PT_GATE_AT_LOCK, (uintptr_t)object, 1, site};
    if (!self || self->shadow.busy)
        return;
    pt_gate_flush(self);
    bool stops = doing == PT_GATE_WAITS_LOCK || doing == PT_GATE_WAITS_OTHER;
    if (stops && pt_gate_wait_floor(self))
        ;
    else if (doing == PT_GATE_WAITS_LOCK && pt_gate_meet(self, &event))
        ;
    else if (doing == PT_GATE_WAITS_LOCK && pt_gate->whole)
        wait_to_lock(self);
    else if (doing == PT_GATE_WAITS_LOCK)
        wait_for_causes(self);
    struct pt_gate_thread *slot = pt_gate_slot(self);
    if (slot)
        atomic_store_explicit(&slot->object, (uintptr_t)object, memory_order_relaxed);
    pt_gate_say(slot, doing);
}

static size_t add_text(char *to, size_t at, const char *text)
{
    while (*text && at + 1 < PT_GATE_SAID)
        to[at++] = *text++;
    return at;
}

void pt_gate_note_failure(const char *assertion, const char *file, unsigned line)
{
    char digits[12];
    unsigned first = sizeof digits - 1;
    uint32_t nothing = 0;
    /* only the first one counts, and its author is the only one who writes */
    if (!atomic_compare_exchange_strong(&pt_gate->said_len, &nothing, 1))
        return;
    digits[first] = 0;
    do {
        digits[--first] = (char)('0' + line % 10);
    } while (line /= 10);
    size_t len = add_text(pt_gate->said, 0, file);
    len = add_text(pt_gate->said, len, ":");
    len = add_text(pt_gate->said, len, digits + first);
    len = add_text(pt_gate->said, len, ": ");
    len = add_text(pt_gate->said, len, assertion);
    atomic_store(&pt_gate->said_len, (uint32_t)len);
}

void pt_gate_note_end(struct pt_thread *self)
{
    pt_gate_flush(self);
    pt_gate_say(pt_gate_slot(self), PT_GATE_ENDED);
}
