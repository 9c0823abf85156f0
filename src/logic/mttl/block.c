/* The tables of a block: growing them without repetitions, and packing them behind each other. */
#include <stdlib.h>
#include <string.h>

#include "logic/mttl/build.h"

void pt_mttl_tables_init(struct pt_mttl_tables *t)
{
    *t = (struct pt_mttl_tables){0};
    pt_buf_init(&t->strings);
    pt_strtab_init(&t->string_ids);
    pt_strtab_init(&t->unit_ids);
    pt_strtab_init(&t->thread_ids);
    pt_strtab_init(&t->var_ids);
    pt_strtab_init(&t->event_ids);
    pt_strtab_init(&t->block_ids);
    (void)pt_mttl_add_string(t, "", 0);
}

void pt_mttl_tables_release(struct pt_mttl_tables *t)
{
    void *tables[] = {t->string_offsets, t->unit_indexes, t->threads, t->vars,     t->events,
                      t->blocks,         t->properties,   t->units,   t->ops,      t->loops,
                      t->lookups,        t->atoms,        t->insns,   t->operands, t->constants};
    pt_buf_release(&t->strings);
    pt_strtab_release(&t->string_ids);
    pt_strtab_release(&t->unit_ids);
    pt_strtab_release(&t->thread_ids);
    pt_strtab_release(&t->var_ids);
    pt_strtab_release(&t->event_ids);
    pt_strtab_release(&t->block_ids);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        free(tables[i]);
}

uint32_t pt_mttl_add_string(struct pt_mttl_tables *t, const char *text, size_t len)
{
    uint32_t before = t->string_ids.count, id = pt_strtab_intern(&t->string_ids, text, len);
    if (id == before) {
        PT_GROW(t->string_offsets, t->string_cap, t->string_ids.count);
        t->string_offsets[id] = (uint32_t)t->strings.len;
        pt_buf_add(&t->strings, text, len);
        pt_buf_add(&t->strings, "", 1);
    }
    return t->string_offsets[id];
}

static struct pt_mttl_name make_name(struct pt_mttl_tables *t, const char *name, const char *target, const char *path)
{
    return (struct pt_mttl_name){.name = pt_mttl_add_string(t, name, strlen(name)),
                                 .target = pt_mttl_add_string(t, target, strlen(target)),
                                 .path = pt_mttl_add_string(t, path, strlen(path))};
}

uint32_t pt_mttl_add_thread(struct pt_mttl_tables *t, const char *name, const char *target)
{
    uint32_t id = pt_strtab_intern(&t->thread_ids, target, strlen(target));
    if (id == t->thread_count)
        PT_PUSH(t->threads, t->thread_count, t->thread_cap, make_name(t, name, target, target));
    return id;
}

uint32_t pt_mttl_add_var(struct pt_mttl_tables *t, const struct pt_varref *var, uint32_t use)
{
    uint32_t id = pt_strtab_intern(&t->var_ids, var->target, strlen(var->target));
    if (id == t->var_count)
        PT_PUSH(t->vars, t->var_count, t->var_cap, make_name(t, var->name, var->target, var->path));
    t->vars[id].uses |= use;
    return id;
}

uint32_t pt_mttl_add_event(struct pt_mttl_tables *t, const char *name)
{
    uint32_t id = pt_strtab_intern(&t->event_ids, name, strlen(name));
    if (id == t->event_count)
        PT_PUSH(t->events, t->event_count, t->event_cap, make_name(t, name, name, name));
    return id;
}

uint32_t pt_mttl_add_block(struct pt_mttl_tables *t, const char *name)
{
    uint32_t id = pt_strtab_intern(&t->block_ids, name, strlen(name));
    if (id == t->block_count)
        PT_PUSH(t->blocks, t->block_count, t->block_cap, make_name(t, name, name, name));
    return id;
}

uint32_t pt_mttl_add_constant(struct pt_mttl_tables *t, struct pt_value value)
{
    struct pt_mttl_constant c = {.kind = value.kind, .len = value.len, .bits = value.u};
    if (value.kind == PT_VALUE_STRING)
        c.bits = pt_mttl_add_string(t, value.s, value.len);
    PT_PUSH(t->constants, t->constant_count, t->constant_cap, c);
    return t->constant_count - 1;
}

struct part {
    struct pt_mttl_table *table;
    const void *items;
    size_t count, size;
};

struct pt_mttl *pt_mttl_tables_pack(const struct pt_mttl_tables *t)
{
    struct pt_mttl head = {.magic = PT_MTTL_MAGIC, .version = PT_MTTL_VERSION, .flags = t->flags};
    /* What needs an alignment of 8 comes first, the strings last. */
    struct part parts[] = {
        {&head.constants, t->constants, t->constant_count, sizeof *t->constants},
        {&head.threads, t->threads, t->thread_count, sizeof *t->threads},
        {&head.vars, t->vars, t->var_count, sizeof *t->vars},
        {&head.events, t->events, t->event_count, sizeof *t->events},
        {&head.blocks, t->blocks, t->block_count, sizeof *t->blocks},
        {&head.properties, t->properties, t->property_count, sizeof *t->properties},
        {&head.units, t->units, t->unit_count, sizeof *t->units},
        {&head.ops, t->ops, t->op_count, sizeof *t->ops},
        {&head.loops, t->loops, t->loop_count, sizeof *t->loops},
        {&head.lookups, t->lookups, t->lookup_count, sizeof *t->lookups},
        {&head.atoms, t->atoms, t->atom_count, sizeof *t->atoms},
        {&head.insns, t->insns, t->insn_count, sizeof *t->insns},
        {&head.operands, t->operands, t->operand_count, sizeof *t->operands},
        {&head.strings, t->strings.text, t->strings.len, 1},
    };
    size_t bytes = sizeof head;
    memcpy(head.past, t->past, sizeof head.past);
    memcpy(head.exports, t->exports, sizeof head.exports);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].table = (struct pt_mttl_table){(uint32_t)bytes, (uint32_t)parts[i].count};
        bytes += parts[i].count * parts[i].size;
        if (bytes > UINT32_MAX - 8)
            return NULL;
    }
    head.bytes = (uint32_t)(bytes + 7) & ~7U;
    struct pt_mttl *m = pt_xcalloc(1, head.bytes);
    *m = head;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count)
            memcpy((char *)m + parts[i].table->offset, parts[i].items, parts[i].count * parts[i].size);
    return m;
}
