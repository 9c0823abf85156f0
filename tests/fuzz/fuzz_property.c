/*
 * Property files. An input that is accepted is also evaluated and printed, so that what the parser hands on is as
 * sound as what it reads; an input that is refused must say where. Its text serves as the automaton that it names, too.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "logic/lang/property.h"

struct input {
    const uint8_t *data;
    size_t size;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static enum pt_status fetch(void *context, const char *path, char **ret_text, size_t *ret_len, struct pt_err *err)
{
    static const char automaton[] = "HOA: v1\nStates: 1\nStart: 0\nAP: 2 \"a\" \"b\"\nAcceptance: 0 t\n--BODY--\n"
                                    "State: 0\n[0&1] 0\n--END--\n";
    const struct input *input = context;
    if (path[0] == '/')
        return pt_err_set(err, PT_EIO, "no such file");
    *ret_len = path[0] == 'a' ? sizeof automaton - 1 : input->size;
    *ret_text = pt_xmalloc(*ret_len);
    memcpy(*ret_text, path[0] == 'a' ? (const void *)automaton : (const void *)input->data, *ret_len);
    return PT_OK;
}

static void evaluate(const struct pt_property *property)
{
    struct pt_value *values = pt_xcalloc(property->var_count, sizeof *values);
    for (uint32_t i = 0; i < property->var_count; i++)
        values[i] = pt_value_int(i);
    for (uint32_t i = 0; i < property->atom_count; i++) {
        const struct pt_atom *atom = &property->atoms[i];
        struct pt_value result;
        uint32_t detail;
        require(atom->line > 0 && atom->column > 0 && *atom->text);
        if (atom->event == PT_NONE) {
            if (pt_code_run(&atom->code, values, &result, &detail) == PT_CODE_OK)
                require(result.kind == PT_VALUE_BOOL);
        } else {
            require(atom->event < property->event_count);
        }
    }
    free(values);
}

static void print(const struct pt_property *property, pt_formula f)
{
    const char *names[PT_MAX_ATOMS];
    struct pt_buf buf;
    for (uint32_t i = 0; i < property->atom_count; i++)
        names[i] = property->atoms[i].text;
    require(f < property->pool.count);
    pt_buf_init(&buf);
    if (property->pool.count < 200) /* shared subformulas print as often as they are used */
        pt_formula_print(&property->pool, f, names, &buf);
    pt_buf_release(&buf);
}

static void inspect(const struct pt_property *property)
{
    evaluate(property);
    if (property->kind == PT_KIND_LTL)
        print(property, property->formula);
    for (uint32_t i = 0; property->kind == PT_KIND_ERE && i < property->letter_count; i++)
        print(property, property->letters[i]);
    for (uint32_t i = 0; property->kind == PT_KIND_HOA && i < property->automaton->prop_count; i++)
        print(property, property->bindings[i]);
    require((property->ast != NULL) == (property->kind == PT_KIND_MTTL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct pt_properties *props = pt_properties_new();
    struct pt_err err = {0};
    enum pt_status s = pt_properties_add(props, "dir/f.prop", (const char *)data, size, fetch, &input, &err);
    if (s != PT_OK)
        require(err.status == s && err.line > 0 && err.column > 0 && *err.message && *err.file && props->count == 0);
    char *text = pt_xmalloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    if (pt_properties_add_formula(props, text, &err) != PT_OK)
        require(err.line > 0 && err.column > 0 && *err.message);
    for (uint32_t i = 0; i < props->count; i++)
        inspect(&props->items[i]);
    free(text);
    pt_properties_free(props);
    return 0;
}
