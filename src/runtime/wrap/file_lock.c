/*
 * Locks on files that keep the threads of a process apart: those of flock, and those of an open file description (OFD).
 * Who gives one up comes before who takes it by another descriptor of that file, unless both read. Not so by the same
 * descriptor, which has the lock already; and those of fcntl's F_SETLK and of lockf are the process's, and keep none of
 * its threads out: they order nothing.
 *
 * Guarantee: what the functions do and return is the real ones'. Of HOLDERS descriptors with a lock at a time, and as
 * many files as then have room, no order is missing. Too much of it there is between parts of a file that do not
 * overlap, between copies of a descriptor (dup), and after a closed one. Cost: a load and a branch without an observer;
 * with one, a look at HOLDERS entries, and an event for each other descriptor of the file that has had the lock.
 */
#include "runtime/wrap/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "runtime/sys/spin.h"
#include "runtime/sys/sys.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/turn.h"

enum { HOLDERS = 256, CLOSED = -1 };
enum sort { FLOCK, OFD };
enum mode { NONE, SHARED, ALONE };

struct key {
    dev_t device;
    ino_t file;
    enum sort sort;
    int fd; /* CLOSED: all that there were */
};
struct holder {
    bool used;
    struct key key;
    enum mode mode, most;   /* in which it has the lock, or NONE; the most that it had */
    uint64_t alone, shared; /* stand for what was given up */
};
static struct {
    struct pt_spin lock;
    _Atomic uint32_t count;
    uint32_t next; /* to make room */
    struct holder holders[HOLDERS];
} table = {.lock = PT_SPIN(PT_RANK_DESCRIPTOR)};

/* NULL: the table is not for the caller. */
static struct pt_thread *lock(void)
{
    struct pt_thread *self = pt_is_active() ? pt_thread_self() : NULL;
    if (!self || self->shadow.busy)
        return NULL;
    pt_thread_enter(self);
    pt_spin_lock(&table.lock);
    return self;
}

static void unlock(struct pt_thread *self)
{
    pt_spin_unlock(&table.lock);
    pt_thread_leave(self);
}

static bool is_file(const struct holder *holder, struct key key)
{
    return holder->used && holder->key.device == key.device && holder->key.file == key.file &&
           holder->key.sort == key.sort;
}

/* Files of which nobody has a descriptor make room. NULL: there is none. */
static struct holder *find(struct key key)
{
    struct holder *free = NULL;
    for (uint32_t i = 0; i < HOLDERS; i++) {
        struct holder *holder = &table.holders[i];
        if (is_file(holder, key) && holder->key.fd == key.fd)
            return holder;
        if (!holder->used && !free)
            free = holder;
    }
    for (uint32_t i = 0; i < HOLDERS && !free; i++) {
        struct holder *holder = &table.holders[table.next++ % HOLDERS];
        free = holder->key.fd == CLOSED ? holder : NULL;
    }
    if (!free)
        return NULL;
    if (!free->used)
        atomic_fetch_add_explicit(&table.count, 1, memory_order_relaxed);
    free->used = true;
    free->key = key;
    free->mode = free->most = NONE;
    return free;
}

static const void *object_of(const struct holder *holder)
{
    return holder->mode == ALONE ? &holder->alone : &holder->shared;
}

/* ---- what happens ---- */

/* What it has is given up, if anything, or exchanged. */
static void gives_up(struct key key, bool all)
{
    struct pt_thread *self = lock();
    struct holder *holder = self ? find(key) : NULL;
    const void *object = holder && holder->mode ? object_of(holder) : NULL;
    if (holder && all)
        holder->mode = NONE;
    if (self)
        unlock(self);
    if (object)
        pt_wrap_sync_kernel(object, PT_KIND_NOTIFY, NULL);
}

/* It comes after others of this file have given it up. */
static void has_taken(struct key key, enum mode mode)
{
    const void *objects[2 * HOLDERS];
    uint32_t count = 0;
    struct pt_thread *self = lock();
    struct holder *own = self ? find(key) : NULL;
    if (own && own->mode < mode)
        own->mode = mode;
    if (own && own->most < mode)
        own->most = mode;
    for (uint32_t i = 0; i < HOLDERS && self; i++) {
        const struct holder *other = &table.holders[i];
        if (other == own || !is_file(other, key))
            continue;
        objects[count++] = &other->alone;
        if (mode == ALONE)
            objects[count++] = &other->shared;
    }
    if (self)
        unlock(self);
    for (uint32_t i = 0; i < count; i++)
        pt_wrap_sync_kernel(objects[i], PT_KIND_WAIT, NULL);
}

static bool key_of(int fd, enum sort sort, struct key *ret_key)
{
    struct stat file;
    if (!pt_is_active() || pt_sys_fstat(fd, &file) < 0)
        return false;
    *ret_key = (struct key){file.st_dev, file.st_ino, sort, fd};
    return true;
}

static enum mode mode_of(int type)
{
    return type == F_WRLCK ? ALONE : type == F_RDLCK ? SHARED : NONE;
}

static struct holder *find_open(int fd, enum sort sort)
{
    for (uint32_t i = 0; i < HOLDERS; i++)
        if (table.holders[i].used && table.holders[i].key.fd == fd && table.holders[i].key.sort == sort)
            return &table.holders[i];
    return NULL;
}

/* Closing the last descriptor gives the lock up. Whoever closes one knows what was given up by it, and it goes. */
static void closes(int fd, enum sort sort)
{
    struct pt_thread *self = lock();
    struct holder *found = self ? find_open(fd, sort) : NULL;
    struct holder *closed = NULL;
    enum mode most = found ? found->most : NONE;
    if (found) {
        struct key key = found->key;
        key.fd = CLOSED;
        closed = find(key);
        found->used = false;
        atomic_fetch_sub_explicit(&table.count, 1, memory_order_relaxed);
    }
    if (self)
        unlock(self);
    if (!closed || !most)
        return;
    pt_wrap_sync_kernel(&found->shared, PT_KIND_WAIT, NULL);
    if (most == ALONE)
        pt_wrap_sync_kernel(&found->alone, PT_KIND_WAIT, NULL);
    pt_wrap_sync_kernel(most == ALONE ? &closed->alone : &closed->shared, PT_KIND_NOTIFY, NULL);
}

void pt_file_lock_closes(int fd)
{
    if (!atomic_load_explicit(&table.count, memory_order_relaxed))
        return;
    closes(fd, FLOCK);
    closes(fd, OFD);
}

void pt_file_lock_restart(void)
{
    pt_spin_reset(&table.lock);
}

/* ---- the functions ---- */

PT_WRAP(int, flock, (int fd, int operation))
{
    struct key key;
    enum mode mode = operation & LOCK_EX ? ALONE : operation & LOCK_SH ? SHARED : NONE;
    bool known = key_of(fd, FLOCK, &key);
    if (known)
        gives_up(key, true);
    pt_wrap_blocks(NULL, mode && !(operation & LOCK_NB) ? PT_GATE_WAITS_OTHER : PT_GATE_RUNS);
    pt_turn_away(NULL);
    int result = PT_REAL(flock)(fd, operation);
    pt_turn_back(NULL);
    pt_wrap_blocks(NULL, PT_GATE_RUNS);
    if (known && result == 0 && mode)
        has_taken(key, mode);
    return result;
}

bool pt_file_lock_is(int command)
{
    return command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

int pt_file_lock_control(int fd, int command, void *argument, int (*real)(int fd, int command, ...))
{
    const struct flock *range = argument;
    struct key key;
    bool known = range && key_of(fd, OFD, &key);
    enum mode mode = known ? mode_of(range->l_type) : NONE;
    if (known && !mode)
        gives_up(key, range->l_whence == SEEK_SET && !range->l_start && !range->l_len);
    pt_wrap_blocks(NULL, command == F_OFD_SETLKW ? PT_GATE_WAITS_OTHER : PT_GATE_RUNS);
    pt_turn_away(NULL);
    int result = real(fd, command, argument);
    pt_turn_back(NULL);
    pt_wrap_blocks(NULL, PT_GATE_RUNS);
    if (known && result == 0 && mode)
        has_taken(key, mode);
    return result;
}
