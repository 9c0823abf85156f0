/*
 * The memory file between us and a monitored program: laying out its configuration, making and mapping it, leaving it.
 * The file is sealed against shrinking, so that no program can kill us by truncating it; numbers in it that the
 * program may change are read atomically and never used as an index unchecked. Address space is taken for all rings at
 * once, memory only for the pages that threads write.
 */
#include "trace/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "trace/channel_impl.h"
#include "trace/format.h"
#include "trace/oprule.h"

enum { PAGE = 4096 };

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Appends a string and returns its offset. */
static uint32_t put_string(struct pt_buf *buf, const char *text)
{
    uint32_t offset = (uint32_t)buf->len;
    pt_buf_add(buf, text, strlen(text) + 1);
    return offset;
}

static void pad(struct pt_buf *buf, size_t to)
{
    while (buf->len % to)
        pt_buf_add(buf, "", 1);
}

/* A module's name is put down once. */
static void place_functions(const struct pt_channel_setup *setup, struct pt_buf *buf, struct pt_function *functions)
{
    const char *module = NULL;
    uint32_t at = 0;
    for (uint32_t i = 0; i < setup->function_count; i++) {
        const struct pt_channel_name *f = &setup->functions[i];
        if (f->module != module) {
            module = f->module;
            at = module ? put_string(buf, module) : 0;
        }
        functions[i] = (struct pt_function){f->offset, at, put_string(buf, f->name)};
    }
}

static void put_libraries(const struct pt_channel_setup *setup, struct pt_buf *buf, struct pt_config *config)
{
    config->libraries = (uint32_t)buf->len;
    for (uint32_t i = 0; i < setup->library_count; i++) {
        struct pt_library library = {.needed = setup->libraries[i].needed, .id_bytes = setup->libraries[i].id_bytes};
        memcpy(library.id, setup->libraries[i].id, library.id_bytes);
        pt_buf_add(buf, (const char *)&library, sizeof library);
    }
}

static void name_libraries(const struct pt_channel_setup *setup, struct pt_buf *buf, uint32_t at)
{
    for (uint32_t i = 0; i < setup->library_count; i++, at += (uint32_t)sizeof(struct pt_library)) {
        uint32_t module = put_string(buf, setup->libraries[i].module);
        memcpy(buf->text + at + offsetof(struct pt_library, module), &module, sizeof module);
    }
}

static void put_races(const struct pt_channel_setup *setup, struct pt_buf *buf, struct pt_config *config)
{
    const struct pt_race_property none = {0};
    const struct pt_race_place nowhere = {0};
    config->race_properties = (uint32_t)buf->len;
    for (uint32_t i = 0; i < setup->race_count; i++)
        pt_buf_add(buf, (const char *)&none, sizeof none);
    config->race_places = (uint32_t)buf->len;
    for (uint32_t i = 0; i < setup->race_place_count; i++)
        pt_buf_add(buf, (const char *)&nowhere, sizeof nowhere);
}

static void fill_races(const struct pt_channel_setup *setup, struct pt_buf *buf, const struct pt_config *config)
{
    for (uint32_t i = 0; i < setup->race_count; i++) {
        const struct pt_channel_race *race = &setup->races[i];
        struct pt_race_property property = {.name = put_string(buf, race->name),
                                            .thread = race->thread ? put_string(buf, race->thread) : 0,
                                            .everywhere = race->everywhere};
        memcpy(buf->text + config->race_properties + i * sizeof property, &property, sizeof property);
    }
    for (uint32_t i = 0; i < setup->race_place_count; i++) {
        const struct pt_channel_race_place *from = &setup->race_places[i];
        struct pt_race_place place = {.offset = from->offset,
                                      .module = from->module ? put_string(buf, from->module) : 0,
                                      .name = put_string(buf, from->name),
                                      .size = from->size,
                                      .property = from->property};
        memcpy(buf->text + config->race_places + i * sizeof place, &place, sizeof place);
    }
}

/* The tables stand first, with room for what is only known once the strings behind them are placed. */
void pt_channel_configure(const struct pt_channel_setup *setup, struct pt_buf *buf)
{
    struct pt_config config = {.watch_count = setup->var_count,
                               .event_count = setup->event_count,
                               .keep = setup->keep,
                               .start_count = setup->start_count,
                               .function_count = setup->function_count,
                               .library_count = setup->library_count,
                               .checks = setup->checks,
                               .race_property_count = setup->race_count,
                               .race_place_count = setup->race_place_count};
    struct pt_start *starts = pt_xcalloc((size_t)setup->start_count + 1, sizeof *starts);
    struct pt_watch *watches = pt_xcalloc((size_t)setup->var_count + 1, sizeof *watches);
    uint32_t *events = pt_xcalloc((size_t)setup->event_count + 1, sizeof *events);
    struct pt_function *functions = pt_xcalloc((size_t)setup->function_count + 1, sizeof *functions);
    pt_buf_add(buf, (const char *)&config, sizeof config);
    pad(buf, _Alignof(struct pt_watch));
    config.watches = (uint32_t)buf->len;
    pt_buf_add(buf, (const char *)watches, setup->var_count * sizeof *watches);
    config.starts = (uint32_t)buf->len;
    pt_buf_add(buf, (const char *)starts, setup->start_count * sizeof *starts);
    config.functions = (uint32_t)buf->len;
    pt_buf_add(buf, (const char *)functions, setup->function_count * sizeof *functions);
    put_libraries(setup, buf, &config);
    put_races(setup, buf, &config);
    config.mttl = (uint32_t)buf->len;
    config.mttl_bytes = setup->block ? setup->block->bytes : 0;
    if (setup->block)
        pt_buf_add(buf, (const char *)setup->block, config.mttl_bytes);
    config.events = (uint32_t)buf->len;
    pt_buf_add(buf, (const char *)events, setup->event_count * sizeof *events);
    for (uint32_t i = 0; i < setup->var_count; i++) {
        const struct pt_channel_var *var = &setup->vars[i];
        watches[i] = (struct pt_watch){.offset = var->offset,
                                       .module = var->module ? put_string(buf, var->module) : 0,
                                       .name = put_string(buf, var->name),
                                       .size = var->size,
                                       .type = var->type,
                                       .bit_offset = var->bit_offset,
                                       .bit_size = var->bit_size,
                                       .quiet = var->quiet,
                                       .local = var->local,
                                       .link_count = var->link_count};
        memcpy(watches[i].after, var->after, sizeof var->after);
    }
    for (uint32_t i = 0; i < setup->event_count; i++)
        events[i] = put_string(buf, setup->events[i]);
    for (uint32_t i = 0; i < setup->start_count; i++)
        starts[i] = (struct pt_start){setup->starts[i].offset,
                                      setup->starts[i].module ? put_string(buf, setup->starts[i].module) : 0, 0};
    place_functions(setup, buf, functions);
    name_libraries(setup, buf, config.libraries);
    fill_races(setup, buf, &config);
    config.options = put_string(buf, setup->options ? setup->options : "");
    config.suppressions = put_string(buf, setup->suppressions ? setup->suppressions : "");
    memcpy(buf->text, &config, sizeof config);
    memcpy(buf->text + config.watches, watches, setup->var_count * sizeof *watches);
    memcpy(buf->text + config.starts, starts, setup->start_count * sizeof *starts);
    memcpy(buf->text + config.events, events, setup->event_count * sizeof *events);
    memcpy(buf->text + config.functions, functions, setup->function_count * sizeof *functions);
    pad(buf, 8);
    free(functions);
    free(watches);
    free(starts);
    free(events);
}

static enum pt_status map_file(struct pt_channel_reader *r, struct pt_err *err)
{
    /* Not close-on-exec: the program inherits it. Sealed: a program that shrank it could kill us by SIGBUS. */
    r->fd = memfd_create("portent", MFD_ALLOW_SEALING);
    if (r->fd < 0 || ftruncate(r->fd, (off_t)r->map_bytes) != 0 ||
        fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return pt_err_set(err, PT_EIO, "cannot make shared memory: %s", strerror(errno));
    void *map = mmap(NULL, r->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, r->fd, 0);
    if (map == MAP_FAILED)
        return pt_err_set(err, PT_EIO, "cannot map %llu MiB of shared memory: %s",
                          (unsigned long long)(r->map_bytes >> 20), strerror(errno));
    r->map = map;
    return PT_OK;
}

static void init_reader(struct pt_channel_reader *r, const struct pt_channel_setup *setup)
{
    r->expected = 1;
    r->counted_before = setup->counted_before;
    r->rings = pt_xcalloc(r->ring_max, sizeof *r->rings);
    r->heap = pt_xcalloc(r->ring_max, sizeof *r->heap);
    r->record = pt_xmalloc(r->ring_bytes);
    r->behind = pt_xcalloc(r->ring_max, sizeof *r->behind);
    r->vars = pt_xcalloc((size_t)setup->var_count + 1, sizeof *r->vars);
    r->var_count = setup->var_count;
    for (uint32_t i = 0; i < setup->var_count; i++) {
        const struct pt_channel_var *var = &setup->vars[i];
        uint32_t name = pt_strtab_intern(&r->names->space[PT_SPACE_VAR], var->name, strlen(var->name));
        r->vars[i] = (struct watched){name, var->size, var->bit_offset, var->bit_size, var->type};
    }
    r->user_events = pt_xcalloc((size_t)setup->event_count + 1, sizeof *r->user_events);
    r->user_event_count = setup->event_count;
    for (uint32_t i = 0; i < setup->event_count; i++)
        r->user_events[i] =
            pt_strtab_intern(&r->names->space[PT_SPACE_EVENT], setup->events[i], strlen(setup->events[i]));
    pt_map64_init(&r->objects);
    pt_map64_init(&r->sites);
    pt_map64_init(&r->text_of);
    chan_init_stacks(r);
    r->in_full = setup->keep & PT_KEEP_ALL;
    r->clockless = setup->keep & PT_KEEP_ALL && !(setup->keep & PT_KEEP_CLOCKS);
    r->places = pt_places_new(r->names);
    pt_strtab_init(&r->texts);
    pt_strtab_init(&r->thread_functions);
}

/* Names come from property files, where anything may stand in quotes; a trace cannot hold all of it. */
static enum pt_status check_names(const struct pt_channel_setup *setup, struct pt_err *err)
{
    size_t at;
    for (uint32_t i = 0; i < setup->var_count + setup->event_count; i++) {
        bool var = i < setup->var_count;
        const char *name = var ? setup->vars[i].name : setup->events[i - setup->var_count];
        const char *problem = pt_name_problem(var ? PT_SPACE_VAR : PT_SPACE_EVENT, name, strlen(name), &at);
        if (problem)
            return pt_err_set(err, PT_EINPUT, "'%s' cannot be a name: %s", name, problem);
    }
    return PT_OK;
}

/* As many rings as are wanted, or as the limits on files and address space leave: of address space a small part, since
 * the program has the file mapped beside all else. */
static uint32_t rings_within(const struct pt_channel_setup *setup, uint64_t offset)
{
    enum { PART = 16 };
    uint64_t ring = sizeof(struct pt_ring) + setup->ring_bytes, most = setup->ring_max;
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        uint64_t left = limit.rlim_cur > offset ? (limit.rlim_cur - offset) / ring : 0;
        most = left < most ? left : most;
    }
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / PART / ring < most)
        most = limit.rlim_cur / PART / ring;
    return most ? (uint32_t)most : 1;
}

enum pt_status pt_channel_create(const struct pt_channel_setup *setup, struct pt_names *names,
                                 struct pt_channel_reader **ret_reader, struct pt_err *err)
{
    enum pt_status status = check_names(setup, err);
    if (status != PT_OK)
        return status;
    struct pt_buf config;
    pt_buf_init(&config);
    pt_channel_configure(setup, &config);
    struct pt_channel head = {.magic = PT_CHANNEL_MAGIC,
                              .version = PT_CHANNEL_VERSION,
                              .on_full = setup->on_full,
                              .config_offset = round_up(sizeof head, 64),
                              .config_bytes = config.len,
                              .ring_bytes = setup->ring_bytes,
                              .next_number = 1};
    uint64_t end = head.config_offset + config.len;
    if (setup->gate) {
        head.gate_offset = round_up(end, 64);
        head.gate_bytes = chan_gate_bytes(setup->gate);
        end = head.gate_offset + head.gate_bytes;
    }
    head.bits_offset = round_up(end, 64);
    end = head.bits_offset + (setup->ring_max + UINT64_C(63)) / 64 * sizeof(struct pt_ring_bits);
    head.rings_offset = round_up(end, PAGE);
    head.ring_max = rings_within(setup, head.rings_offset);
    head.total_bytes = head.rings_offset + head.ring_max * (sizeof(struct pt_ring) + setup->ring_bytes);
    struct pt_channel_reader *r = pt_xcalloc(1, sizeof *r);
    pt_source_init(&r->source, &pt_format_channel, "the program", names);
    r->names = names;
    r->ring_bytes = setup->ring_bytes;
    r->ring_max = head.ring_max;
    r->rings_offset = head.rings_offset;
    r->map_bytes = head.total_bytes;
    status = map_file(r, err);
    if (status == PT_OK) {
        memcpy((void *)r->map, &head, sizeof head);
        memcpy((char *)r->map + head.config_offset, config.text, config.len);
        if (setup->gate)
            chan_gate_write(r, setup->gate, (struct pt_gate *)((char *)r->map + head.gate_offset));
        r->bits = (struct pt_ring_bits *)((char *)r->map + head.bits_offset);
        init_reader(r, setup);
        *ret_reader = r;
    } else {
        pt_channel_free(r);
    }
    pt_buf_release(&config);
    return status;
}

/* Its events are those of threads in full, which are the order. */
struct pt_channel_reader *chan_new_decoder(struct pt_names *names, uint32_t record_bytes)
{
    const struct pt_channel_setup setup = {.keep = PT_KEEP_ALL};
    struct pt_channel_reader *r = pt_xcalloc(1, sizeof *r);
    pt_source_init(&r->source, &pt_format_channel, "the program", names);
    r->fd = -1;
    r->names = names;
    r->ring_bytes = record_bytes;
    init_reader(r, &setup);
    return r;
}

void pt_channel_free(struct pt_channel_reader *r)
{
    pt_source_free(r ? &r->source : NULL);
}

void chan_free(struct pt_channel_reader *r)
{
    if (r->map)
        munmap(r->map, r->map_bytes);
    if (r->fd >= 0)
        close(r->fd);
    for (uint32_t i = 0; i < r->thread_count; i++) {
        free(r->threads[i].own_name);
        free(r->threads[i].uneven);
        free(r->threads[i].gaps);
    }
    if (r->places) {
        pt_map64_release(&r->objects);
        pt_map64_release(&r->sites);
        pt_map64_release(&r->text_of);
        chan_release_locks(r);
        chan_release_stacks(r);
        pt_strtab_release(&r->texts);
        pt_strtab_release(&r->thread_functions);
    }
    free(r->rings);
    free(r->heap);
    free(r->behind);
    free(r->record);
    free(r->vars);
    free(r->user_events);
    free(r->dynamic);
    free(r->threads);
    free(r->thread_of);
    free(r->function_uses);
    free(r->inits);
    free(r->queue);
    free(r->ends);
    pt_places_free(r->places);
    chan_release_clocks(r);
    free(r->foreign);
    free(r);
}

int pt_channel_fd(const struct pt_channel_reader *r)
{
    return r->fd;
}

struct pt_channel *pt_channel_map(struct pt_channel_reader *r)
{
    return r->map;
}

void pt_channel_set_function(struct pt_channel_reader *r, pt_channel_function function, void *context)
{
    r->function = function;
    r->function_context = context;
}

void pt_channel_set_local(struct pt_channel_reader *r, pt_channel_local_function function, void *context)
{
    r->local = function;
    r->local_context = context;
}

void pt_channel_set_found(struct pt_channel_reader *r, pt_channel_found_function function, void *context)
{
    r->found = function;
    r->found_context = context;
}

void pt_channel_set_place(struct pt_channel_reader *r, pt_place_function function, void *context)
{
    pt_places_set_function(r->places, function, context);
}

const char *pt_channel_module(const struct pt_channel_reader *r, uint64_t base)
{
    return pt_places_module(r->places, base);
}

void pt_channel_set_ended(struct pt_channel_reader *r)
{
    r->ended = true;
}

void pt_channel_abandon(struct pt_channel_reader *r)
{
    /* Partner: a thread that waits for room looks at it each time it wakes. */
    atomic_store(&r->map->observer_gone, 1);
    uint32_t used = atomic_load(&r->map->rings_used);
    for (uint32_t i = 0; i < used && i < r->ring_max; i++) {
        struct pt_ring *ring = chan_ring(r, i);
        atomic_fetch_add(&ring->room, 1);
        syscall(SYS_futex, &ring->room, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
}

/* The program may have written anything there: it ends somewhere. */
static const char *why_stopped(const struct pt_channel_reader *r)
{
    if (!atomic_load(&r->map->stopped))
        return NULL;
    return memchr(r->map->why, '\0', sizeof r->map->why) ? r->map->why : "it did not say why";
}

struct pt_channel_losses pt_channel_losses(const struct pt_channel_reader *r)
{
    return (struct pt_channel_losses){.missing = r->missing,
                                      .dropped = atomic_load(&r->map->dropped),
                                      .strangers = atomic_load(&r->map->strangers),
                                      .corrupt = r->corrupt,
                                      .stopped = why_stopped(r),
                                      .unfinished = r->unfinished};
}

uint32_t pt_channel_process(const struct pt_channel_reader *r)
{
    return atomic_load(&r->map->process);
}

uint32_t pt_channel_unobserved(const struct pt_channel_reader *r)
{
    return atomic_load(&r->map->unobserved);
}

uint64_t pt_channel_bad_ends(const struct pt_channel_reader *r)
{
    return atomic_load(&r->map->bad_ends);
}

bool pt_channel_built(const struct pt_channel_reader *r)
{
    return atomic_load(&r->map->built);
}

bool pt_channel_started(const struct pt_channel_reader *r)
{
    return atomic_load(&r->map->program_state) != PT_PROGRAM_STARTING;
}

const struct pt_channel_foreign *pt_channel_foreign(const struct pt_channel_reader *r, uint32_t *ret_count,
                                                    uint64_t *ret_total)
{
    *ret_count = r->foreign_count;
    *ret_total = atomic_load(&r->map->foreign_writes);
    return r->foreign;
}
