/*
 * Reads the list of processes (or the one result) of a run, as JSON: what each process was started with, and which
 * property files it is about. A file counts for a process only when every one of its properties that any process knows
 * was judged there: a name that a program does not have must not be judged as if it were 0. Quadratic in the number of
 * processes and properties.
 */
#include "cli/ci/plan.h"

#include <stdlib.h>
#include <string.h>

#include "cli/common/file.h"
#include "report/json_reader.h"

static const char *text_of(const struct pt_json_node *object, const char *key)
{
    const struct pt_json_node *node = pt_json_get(object, key);
    return pt_json_is(node, PT_VALUE_STRING) ? node->value.s : NULL;
}

static uint64_t number_of(const struct pt_json_node *object, const char *key)
{
    const struct pt_json_node *node = pt_json_get(object, key);
    if (pt_json_is(node, PT_VALUE_UINT))
        return node->value.u;
    return pt_json_is(node, PT_VALUE_INT) && node->value.i > 0 ? (uint64_t)node->value.i : 0;
}

/* Does a process's result judge the property of this name and file? */
static bool judges(const struct pt_json_node *result, const char *file, const char *name)
{
    const struct pt_json_node *list = pt_json_get(result, "properties");
    for (size_t i = 0; i < pt_json_count(list); i++) {
        const char *own_file = text_of(pt_json_at(list, i), "file"), *own_name = text_of(pt_json_at(list, i), "name");
        if (own_file && own_name && strcmp(own_file, file) == 0 && strcmp(own_name, name) == 0)
            return true;
    }
    return false;
}

/* Does it judge every property of the file that any of the results does? */
static bool judges_all(const struct pt_json_node *result, const struct pt_json_node *const *results, uint32_t count,
                       const char *file)
{
    for (uint32_t r = 0; r < count; r++) {
        const struct pt_json_node *list = pt_json_get(results[r], "properties");
        for (size_t i = 0; i < pt_json_count(list); i++) {
            const char *own = text_of(pt_json_at(list, i), "file"), *name = text_of(pt_json_at(list, i), "name");
            if (own && name && strcmp(own, file) == 0 && !judges(result, file, name))
                return false;
        }
    }
    return true;
}

static const char *const *find_judged(struct pt_arena *arena, const struct pt_json_node *result,
                                      const struct pt_json_node *const *results, uint32_t count)
{
    const struct pt_json_node *list = pt_json_get(result, "properties");
    const char **files = pt_arena_alloc(arena, (pt_json_count(list) + 1) * sizeof *files);
    uint32_t found = 0;
    for (size_t i = 0; i < pt_json_count(list); i++) {
        const char *file = text_of(pt_json_at(list, i), "file");
        bool seen = !file;
        for (uint32_t k = 0; k < found && !seen; k++)
            seen = strcmp(files[k], file) == 0;
        if (!seen && judges_all(result, results, count, file))
            files[found++] = file;
    }
    files[found] = NULL;
    return files;
}

static const char *const *find_words(struct pt_arena *arena, const struct pt_json_node *result)
{
    const struct pt_json_node *list = pt_json_get(result, "program");
    const char **words = pt_arena_alloc(arena, (pt_json_count(list) + 1) * sizeof *words);
    uint32_t found = 0;
    for (size_t i = 0; i < pt_json_count(list); i++)
        if (pt_json_is(pt_json_at(list, i), PT_VALUE_STRING))
            words[found++] = pt_json_at(list, i)->value.s;
    words[found] = NULL;
    return words;
}

static bool is_same_command(const struct pt_ci_program *a, const struct pt_ci_program *b)
{
    uint32_t i = 0;
    while (a->words[i] && b->words[i] && strcmp(a->words[i], b->words[i]) == 0)
        i++;
    return !a->words[i] && !b->words[i] &&
           (a->folder && b->folder ? strcmp(a->folder, b->folder) == 0 : a->folder == b->folder);
}

/* A command that is not instrumented, and has started nothing that is: `run` says so of each check and property. */
static bool is_unobserved(const struct pt_json_node *result)
{
    const struct pt_json_node *list = pt_json_get(result, "properties");
    for (size_t i = 0; i < pt_json_count(list); i++) {
        const char *message = text_of(pt_json_at(list, i), "message");
        if (!message || strcmp(message, "nothing was observed") != 0)
            return false;
    }
    return pt_json_count(list) > 0;
}

static void read_programs(struct pt_ci_plan *plan, const struct pt_json_node *root)
{
    static const char *const none[] = {NULL};
    const struct pt_json_node *list = pt_json_get(root, "processes");
    plan->several = list != NULL;
    plan->program_status = (int)number_of(root, "program_status");
    plan->count = plan->several ? (uint32_t)pt_json_count(list) : !is_unobserved(root);
    plan->programs = pt_arena_alloc(&plan->arena, ((size_t)plan->count + 1) * sizeof *plan->programs);
    const struct pt_json_node **results = pt_xcalloc((size_t)plan->count + 1, sizeof *results);
    for (uint32_t i = 0; i < plan->count; i++)
        results[i] = plan->several ? pt_json_get(pt_json_at(list, i), "result") : root;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct pt_json_node *process = plan->several ? pt_json_at(list, i) : NULL;
        struct pt_ci_program *program = &plan->programs[i];
        *program = (struct pt_ci_program){.pid = number_of(process, "pid"),
                                          .file = text_of(process, "program"),
                                          .folder = text_of(process, "folder"),
                                          .words = find_words(&plan->arena, results[i]),
                                          .threads = number_of(results[i], "threads"),
                                          .judged = find_judged(&plan->arena, results[i], results, plan->count)};
        for (uint32_t k = 0; k < plan->count; k++)
            if (k != i && plan->several && number_of(pt_json_at(list, k), "pid") == program->pid)
                program->judged = none;
        if (!program->file)
            program->file = program->words[0] ? program->words[0] : "";
        for (uint32_t k = 0; k < i; k++)
            program->again |= is_same_command(program, &plan->programs[k]);
    }
    free(results);
}

enum pt_status pt_ci_plan_read(const char *path, struct pt_ci_plan *ret_plan, struct pt_err *err)
{
    const struct pt_json_node *root;
    char *text;
    size_t len;
    *ret_plan = (struct pt_ci_plan){0};
    pt_arena_init(&ret_plan->arena);
    enum pt_status status = pt_file_read(path, &text, &len, err);
    if (status != PT_OK)
        return status;
    char *kept = pt_arena_strndup(&ret_plan->arena, text, len);
    free(text);
    status = pt_json_read(path, "this is no result", kept, len, &ret_plan->arena, &root, err);
    if (status == PT_OK)
        read_programs(ret_plan, root);
    return status;
}

void pt_ci_plan_release(struct pt_ci_plan *plan)
{
    pt_arena_release(&plan->arena);
}

const struct pt_ci_program *pt_ci_plan_find(const struct pt_ci_plan *plan, uint64_t pid)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->programs[i].pid == pid)
            return &plan->programs[i];
    return NULL;
}

void pt_ci_plan_set_threads(struct pt_ci_plan *plan, const struct pt_ci_program *program, uint64_t threads)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (is_same_command(&plan->programs[i], program))
            plan->programs[i].threads = threads;
}
