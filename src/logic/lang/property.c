/* The set of properties: who owns what, and the ways in. */
#include "logic/lang/property.h"

#include <stdlib.h>
#include <string.h>

#include "logic/lang/parse.h"
#include "base/suggest.h"

struct pt_properties_impl {
    struct pt_arena arena;   /* names, texts, trees, code of all properties */
    struct pt_strtab names;  /* of properties */
    uint32_t *by_name;       /* by id in names: the property's index */
    size_t by_name_cap, cap; /* cap: of items */
    struct pt_strtab declared;
};

struct pt_properties *pt_properties_new(void)
{
    struct pt_properties *props = pt_xcalloc(1, sizeof *props);
    props->impl = pt_xcalloc(1, sizeof *props->impl);
    pt_arena_init(&props->impl->arena);
    pt_strtab_init(&props->impl->names);
    pt_strtab_init(&props->impl->declared);
    return props;
}

void pt_property_release(struct pt_property *property)
{
    pt_fpool_release(&property->pool);
    if (property->eres)
        pt_ere_pool_free(property->eres);
    if (property->automaton)
        pt_automaton_free(property->automaton);
    property->eres = NULL;
    property->automaton = NULL;
}

static void shrink(struct pt_properties *props, uint32_t count)
{
    while (props->count > count)
        pt_property_release(&props->items[--props->count]);
}

void pt_properties_free(struct pt_properties *props)
{
    if (!props)
        return;
    shrink(props, 0);
    pt_arena_release(&props->impl->arena);
    pt_strtab_release(&props->impl->names);
    pt_strtab_release(&props->impl->declared);
    free(props->impl->by_name);
    free(props->impl);
    free(props->items);
    free(props);
}

/* An entry may be left over from a file that was refused, so its property is looked at. */
bool pt_properties_has(const struct pt_properties *props, const char *name)
{
    uint32_t id = pt_strtab_find(&props->impl->names, name, strlen(name));
    if (id == PT_NONE)
        return false;
    uint32_t index = props->impl->by_name[id];
    return index < props->count && strcmp(props->items[index].name, name) == 0;
}

void pt_properties_push(struct pt_properties *props, const struct pt_property *property)
{
    struct pt_properties_impl *impl = props->impl;
    uint32_t id = pt_strtab_intern(&impl->names, property->name, strlen(property->name));
    PT_GROW(impl->by_name, impl->by_name_cap, impl->names.count);
    impl->by_name[id] = props->count;
    PT_PUSH(props->items, props->count, impl->cap, *property);
}

void pt_properties_note(struct pt_properties *props, const char *name)
{
    (void)pt_strtab_intern(&props->impl->declared, name, strlen(name));
}

/* All or nothing: a file with an error adds no property. */
static enum pt_status add(struct pt_properties *props, const char *file, const char *text, size_t len, pt_fetch fetch,
                          void *fetch_context, enum pt_status (*parse)(struct pt_parser *p), struct pt_err *err)
{
    struct pt_parser p;
    struct pt_arena *arena = &props->impl->arena;
    uint32_t before = props->count;
    struct pt_prop_source source = {pt_arena_strndup(arena, file, strlen(file)), text, len};
    pt_parser_init(&p, props, arena, source, err);
    p.fetch = fetch;
    p.fetch_context = fetch_context;
    enum pt_status s = parse(&p);
    if (s != PT_OK)
        shrink(props, before);
    pt_parser_release(&p);
    return s;
}

enum pt_status pt_properties_add(struct pt_properties *props, const char *file, const char *text, size_t len,
                                 pt_fetch fetch, void *fetch_context, struct pt_err *err)
{
    return add(props, file, text, len, fetch, fetch_context, pt_parse_file, err);
}

enum pt_status pt_properties_add_formula(struct pt_properties *props, const char *text, struct pt_err *err)
{
    return add(props, "formula", text, strlen(text), NULL, NULL, pt_parse_single, err);
}

const char *pt_properties_nearest(const struct pt_properties *props, const char *name)
{
    struct pt_suggest search;
    pt_suggest_init(&search, name, strlen(name));
    for (uint32_t id = 0; id < props->impl->declared.count; id++)
        pt_suggest_offer(&search, pt_strtab_text(&props->impl->declared, id));
    return search.best;
}
