/*
 * Files of `portent compile`, checked before they are used.
 *
 * Guarantee: whatever the bytes, nothing outside them is read, and a configuration that passes can be used without
 * further checks. Cost: one pass over its tables, and one over its bytes for their hash.
 */
#include "core/ptc.h"

#include <string.h>

#include "core/hash.h"
#include "core/mttl.h"

static bool table_fits(size_t bytes, uint32_t offset, uint32_t count, size_t size, size_t align)
{
    return offset % align == 0 && offset <= bytes && count <= (bytes - offset) / size;
}

/* The last byte of the configuration is 0, so every string inside ends. */
static bool text_fits(size_t bytes, uint32_t offset)
{
    return offset < bytes;
}

static bool type_is_known(uint32_t type)
{
    return type <= PT_WATCH_CHARS || (type & 0xff) == PT_WATCH_SPAN;
}

static bool watches_fit(const struct pt_config *config, size_t bytes, uint32_t vars)
{
    const struct pt_watch *watches = (const void *)((const char *)config + config->watches);
    for (uint32_t i = 0; i < config->watch_count; i++) {
        const struct pt_watch *w = &watches[i];
        if (!text_fits(bytes, w->module) || !text_fits(bytes, w->name) || !type_is_known(w->type) || w->local > vars ||
            w->size == 0 || w->size > 1 << 20 || (w->bit_size && w->bit_offset / 8 >= w->size))
            return false;
    }
    return true;
}

static bool libraries_fit(const struct pt_config *config, size_t bytes)
{
    const struct pt_library *libraries = (const void *)((const char *)config + config->libraries);
    for (uint32_t i = 0; i < config->library_count; i++)
        if (!text_fits(bytes, libraries[i].module) || libraries[i].id_bytes > PT_ID_MAX)
            return false;
    return true;
}

static bool races_fit(const struct pt_config *config, size_t bytes)
{
    const struct pt_race_property *properties = (const void *)((const char *)config + config->race_properties);
    const struct pt_race_place *places = (const void *)((const char *)config + config->race_places);
    if (config->race_property_count > PT_RACE_PROPERTIES ||
        !table_fits(bytes, config->race_properties, config->race_property_count, sizeof *properties, 4) ||
        !table_fits(bytes, config->race_places, config->race_place_count, sizeof *places, 8))
        return false;
    for (uint32_t i = 0; i < config->race_property_count; i++)
        if (!text_fits(bytes, properties[i].name) || !text_fits(bytes, properties[i].thread))
            return false;
    for (uint32_t i = 0; i < config->race_place_count; i++)
        if (!text_fits(bytes, places[i].module) || !text_fits(bytes, places[i].name) ||
            places[i].property >= config->race_property_count)
            return false;
    return true;
}

bool pt_config_is_sound(const struct pt_config *config, size_t bytes)
{
    if (bytes < sizeof *config || ((const char *)config)[bytes - 1] != 0 ||
        !table_fits(bytes, config->watches, config->watch_count, sizeof(struct pt_watch), 8) ||
        !table_fits(bytes, config->events, config->event_count, sizeof(uint32_t), 4) ||
        !table_fits(bytes, config->starts, config->start_count, sizeof(struct pt_start), 8) ||
        !table_fits(bytes, config->functions, config->function_count, sizeof(struct pt_function), 8) ||
        !table_fits(bytes, config->libraries, config->library_count, sizeof(struct pt_library), 8) ||
        !table_fits(bytes, config->mttl, config->mttl_bytes, 1, 8) || !text_fits(bytes, config->options) ||
        !text_fits(bytes, config->suppressions))
        return false;
    const struct pt_mttl *block = (const void *)((const char *)config + config->mttl);
    if (config->mttl_bytes && !pt_mttl_validate(block, config->mttl_bytes))
        return false;
    const uint32_t *events = (const void *)((const char *)config + config->events);
    for (uint32_t i = 0; i < config->event_count; i++)
        if (!text_fits(bytes, events[i]))
            return false;
    const struct pt_start *starts = (const void *)((const char *)config + config->starts);
    for (uint32_t i = 0; i < config->start_count; i++)
        if (!text_fits(bytes, starts[i].module))
            return false;
    const struct pt_function *functions = (const void *)((const char *)config + config->functions);
    for (uint32_t i = 0; i < config->function_count; i++)
        if (!text_fits(bytes, functions[i].module) || !text_fits(bytes, functions[i].name))
            return false;
    return libraries_fit(config, bytes) && races_fit(config, bytes) &&
           watches_fit(config, bytes, config->mttl_bytes ? block->vars.count : 0);
}

const char *pt_ptc_problem(const void *bytes, size_t len)
{
    const struct pt_ptc *head = bytes;
    if (len < sizeof *head || memcmp(head->magic, PT_PTC_MAGIC, sizeof head->magic) != 0)
        return "it was not made by 'portent compile'";
    if (head->version != PT_PTC_VERSION)
        return "it was made by another version of Portent";
    if (head->config_bytes != len - sizeof *head || head->id_bytes > PT_ID_MAX)
        return "it is not complete";
    const struct pt_config *config = (const void *)(head + 1);
    if (pt_fnv(PT_FNV_NOTHING, config, head->config_bytes) != head->hash ||
        !pt_config_is_sound(config, head->config_bytes) || !(config->mttl_bytes || config->race_property_count))
        return "it is damaged";
    return NULL;
}
