/*
 * From raw graphs to the program: which bytes are variables, and which steps are left.
 *
 * Variables. The accesses of an object cut its bytes into pieces no access divides; a piece is a variable if two
 * threads touch it and one writes it. Pieces that exactly the same steps touch in the same way are one variable (found
 * by a 128-bit sum over those steps). Everything else cannot order threads, so leaving it out changes no answer.
 *
 * Steps. Those without an effect on other threads disappear: a kept node takes over what can be reached from it
 * silently. Causality is untouched, since such a step consumes only its own thread's token. Last, nodes with the same
 * future are merged (Moore's refinement), because unfoldings grow with every copy.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cfront/graph.h"

enum { MAX_ESCAPED = 64 };

struct sum { /* of the steps that touch a piece */
    uint64_t a, b;
};

struct piece {
    uint32_t object;
    int64_t from, to;
    struct sum users;
    uint32_t thread; /* PT_NONE: nobody */
    bool several, written;
    uint32_t var; /* PT_NONE: none */
};

struct label { /* of a step that is left: everything but its nodes */
    uint8_t kind;
    uint32_t object, thread;
    LLVMValueRef inst;
    uint32_t *reads, *writes;
    uint32_t read_count, write_count;
};

struct reducer {
    struct pt_cf_graph *g;
    struct pt_cf *cf;
    struct piece *pieces;
    size_t piece_count, piece_cap;
    uint32_t *first_piece; /* by object; [object + 1] is the end */
    struct label *labels;
    size_t label_count, label_cap;
    struct pt_strtab label_keys;
    uint32_t *lock_ids, *block_ids; /* in the program; PT_NONE: not there */
    bool *joined;                   /* by thread */
    struct piece anything;          /* users of everything that escaped */
    bool merged;                    /* what escaped is one variable */
    uint32_t *escaped_vars;         /* what such a step touches */
    uint32_t escaped_var_count;
    LLVMValueRef locals_of; /* the function whose locals have names at hand */
};

/* ---- pieces */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_object(const void *a, const void *b)
{
    const struct pt_cf_access *x = *(struct pt_cf_access *const *)a, *y = *(struct pt_cf_access *const *)b;
    return (x->object > y->object) - (x->object < y->object);
}

static void cut_object(struct reducer *r, struct pt_cf_access **accesses, size_t count)
{
    int64_t *ends = pt_xcalloc(2 * count + 1, sizeof *ends);
    for (size_t i = 0; i < count; i++) {
        ends[2 * i] = accesses[i]->from;
        ends[2 * i + 1] = accesses[i]->to;
    }
    qsort(ends, 2 * count, sizeof *ends, by_number);
    for (size_t i = 1; i < 2 * count; i++) {
        struct piece piece = {.object = accesses[0]->object, .from = ends[i - 1], .to = ends[i], .thread = PT_NONE};
        if (ends[i] != ends[i - 1])
            PT_PUSH(r->pieces, r->piece_count, r->piece_cap, piece);
    }
    free(ends);
}

static void cut_objects(struct reducer *r)
{
    struct pt_cf_graph *g = r->g;
    size_t objects = r->cf->object_count, count = 0;
    struct pt_cf_access **sorted = pt_xcalloc(g->access_count + objects, sizeof *sorted);
    struct pt_cf_access *whole = pt_xcalloc(objects, sizeof *whole); /* by whoever touches everything that escaped */
    for (size_t i = 0; i < g->access_count; i++)
        if (g->accesses[i].object != PT_CF_ANYTHING)
            sorted[count++] = &g->accesses[i];
    for (uint32_t i = 1; i < objects; i++) {
        whole[i] = (struct pt_cf_access){i, 0, r->cf->objects[i].size, true};
        if (r->cf->objects[i].escaped && g->shared[i] && whole[i].to > 0)
            sorted[count++] = &whole[i];
    }
    qsort(sorted, count, sizeof *sorted, by_object);
    r->first_piece = pt_xcalloc(objects + 2, sizeof *r->first_piece);
    uint32_t object = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && sorted[end]->object == sorted[i]->object)
            end++;
        for (; object <= sorted[i]->object; object++)
            r->first_piece[object] = (uint32_t)r->piece_count;
        cut_object(r, sorted + i, end - i);
        i = end;
    }
    for (; object <= objects; object++)
        r->first_piece[object] = (uint32_t)r->piece_count;
    free(whole);
    free(sorted);
}

/* The pieces an access covers. */
static void covered(struct reducer *r, const struct pt_cf_access *access, uint32_t *ret_first, uint32_t *ret_end)
{
    uint32_t first = r->first_piece[access->object], end = r->first_piece[access->object + 1];
    while (first < end && r->pieces[first].from < access->from)
        first++;
    *ret_first = first;
    while (first < end && r->pieces[first].to <= access->to)
        first++;
    *ret_end = first;
}

static void use_piece(struct piece *piece, uint64_t step, uint32_t thread, bool write)
{
    uint64_t user = 2 * step + write;
    piece->users.a += pt_mix64(user + 1);
    piece->users.b += pt_mix64(~user);
    piece->several |= piece->thread != PT_NONE && piece->thread != thread;
    piece->thread = thread;
    piece->written |= write;
}

static void use_pieces(struct reducer *r)
{
    struct pt_cf_graph *g = r->g;
    uint64_t step = 0;
    r->anything.thread = PT_NONE;
    for (uint32_t t = 0; t < r->cf->thread_count; t++) {
        for (size_t e = 0; e < g->threads[t].edge_count; e++, step++) {
            const struct pt_cf_edge *edge = &g->threads[t].edges[e];
            for (size_t a = 0; a < edge->access_count; a++) {
                const struct pt_cf_access *access = &g->accesses[edge->access_start + a];
                uint32_t first = 0, end = 0;
                if (access->object == PT_CF_ANYTHING)
                    use_piece(&r->anything, step, t, access->write);
                else
                    covered(r, access, &first, &end);
                for (; first < end; first++)
                    use_piece(&r->pieces[first], step, t, access->write);
            }
        }
    }
    for (size_t i = 0; i < r->piece_count && r->anything.thread != PT_NONE; i++) {
        struct piece *piece = &r->pieces[i];
        if (!r->cf->objects[piece->object].escaped)
            continue;
        piece->users.a += r->anything.users.a;
        piece->users.b += r->anything.users.b;
        piece->several |= r->anything.several || (piece->thread != PT_NONE && piece->thread != r->anything.thread);
        piece->written |= r->anything.written;
    }
}

/* ---- names */

static void name_bytes(struct reducer *r, uint32_t object, int64_t from, int64_t to, struct pt_buf *name)
{
    const struct pt_cf_object *o = &r->cf->objects[object];
    name->len = 0;
    bool whole = from == 0 && to == o->size;
    if (LLVMIsAAllocaInst(o->value)) {
        LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(o->value));
        if (r->locals_of != function)
            pt_find_locals(&r->cf->names, function);
        r->locals_of = function;
    }
    if (LLVMIsACallInst(o->value)) {
        struct pt_source_place place = pt_cf_place(r->cf, o->value);
        pt_buf_printf(name, "heap:%u", place.line);
        if (!whole && from != 0)
            pt_buf_printf(name, "+%lld", (long long)from);
    } else {
        pt_name_object(&r->cf->names, o->value, whole ? 0 : from, whole ? UINT64_MAX : (uint64_t)(to - from), name);
    }
    if (name->len == 0)
        pt_buf_puts(name, "memory");
    char *inside = strstr(name->text, ".__"); /* the insides of a mutex are nobody's business */
    if (inside)
        *inside = '\0';
    name->len = strlen(name->text);
}

static int by_users(const void *a, const void *b)
{
    const struct piece *x = *(struct piece *const *)a, *y = *(struct piece *const *)b;
    if (x->users.a != y->users.a)
        return x->users.a < y->users.a ? -1 : 1;
    if (x->users.b != y->users.b)
        return x->users.b < y->users.b ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_address(const void *a, const void *b)
{
    const struct piece *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

/*
 * A step through a pointer to anything touches all that escaped. Where that is much, it all becomes one variable: that
 * only adds order, so no violation is lost.
 */
static void merge_escaped(struct reducer *r, struct piece **kept, size_t count)
{
    size_t escaped = 0;
    for (size_t i = 0; i < count; i++)
        escaped += r->cf->objects[kept[i]->object].escaped;
    if (escaped <= MAX_ESCAPED || r->anything.thread == PT_NONE)
        return;
    for (size_t i = 0; i < count; i++)
        if (r->cf->objects[kept[i]->object].escaped)
            kept[i]->users = r->anything.users;
    r->merged = true;
}

/* One variable for each group of pieces with the same users, in the order of their first pieces. */
static void make_variables(struct reducer *r)
{
    struct piece **kept = pt_xcalloc(r->piece_count + 1, sizeof *kept), **firsts;
    size_t count = 0, groups = 0;
    for (size_t i = 0; i < r->piece_count; i++) {
        r->pieces[i].var = PT_NONE;
        if (r->pieces[i].several && r->pieces[i].written)
            kept[count++] = &r->pieces[i];
    }
    merge_escaped(r, kept, count);
    qsort(kept, count, sizeof *kept, by_users);
    firsts = pt_xcalloc(count + 1, sizeof *firsts);
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && kept[i]->users.a == kept[i - 1]->users.a && kept[i]->users.b == kept[i - 1]->users.b;
        if (!same)
            firsts[groups++] = kept[i];
        kept[i]->thread = (uint32_t)(firsts[groups - 1] - r->pieces); /* from here on: the group's first piece */
    }
    qsort(firsts, groups, sizeof *firsts, by_address);
    struct pt_buf name;
    pt_buf_init(&name);
    for (size_t i = 0; i < groups; i++) {
        name_bytes(r, firsts[i]->object, firsts[i]->from, firsts[i]->to, &name);
        bool all = r->merged && r->cf->objects[firsts[i]->object].escaped;
        firsts[i]->var = pt_program_add_var(r->cf->program, all ? "(memory behind pointers)" : name.text);
    }
    r->escaped_vars = pt_xcalloc(count + 1, sizeof *r->escaped_vars);
    for (size_t i = 0; i < count; i++) {
        kept[i]->var = r->pieces[kept[i]->thread].var;
        if (r->cf->objects[kept[i]->object].escaped)
            r->escaped_vars[r->escaped_var_count++] = kept[i]->var;
    }
    if (r->escaped_var_count)
        r->escaped_var_count = pt_sort_distinct(r->escaped_vars, r->escaped_var_count);
    pt_buf_release(&name);
    free(kept);
    free(firsts);
}

static void make_locks(struct reducer *r)
{
    struct pt_buf name;
    pt_buf_init(&name);
    r->lock_ids = pt_xcalloc(r->g->lock_count + 1, sizeof *r->lock_ids);
    for (size_t i = 0; i < r->g->lock_count; i++) {
        const struct pt_cf_lock *lock = &r->g->locks[i];
        r->lock_ids[i] = PT_NONE;
        if (!lock->shared)
            continue;
        name_bytes(r, lock->object, lock->offset, lock->offset + 1, &name);
        r->lock_ids[i] = pt_program_add_lock(r->cf->program, name.text);
    }
    pt_buf_release(&name);
}

static void make_threads(struct reducer *r)
{
    struct pt_cf *cf = r->cf;
    struct pt_buf name;
    pt_buf_init(&name);
    for (uint32_t t = 0; t < cf->thread_count; t++) {
        LLVMValueRef function = cf->contexts[cf->threads[t].root].function;
        unsigned same = 1;
        for (uint32_t k = 1; k < t; k++)
            same += cf->contexts[cf->threads[k].root].function == function;
        name.len = 0;
        pt_name_function(&cf->names, function, &name);
        if (same > 1)
            pt_buf_printf(&name, "#%u", same);
        LLVMValueRef where = t == 0 ? LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)) : cf->threads[t].call;
        pt_program_add_thread(cf->program, name.text, pt_cf_place(cf, where));
        cf->program->threads[t].spawned = t != 0;
    }
    pt_buf_release(&name);
}

struct begin {
    uint32_t block;
    uint32_t thread;
    struct pt_source_place place;
};

static int by_place(const void *a, const void *b)
{
    const struct begin *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    int files = strcmp(x->place.file ? x->place.file : "", y->place.file ? y->place.file : "");
    if (files != 0)
        return files;
    if (x->place.line != y->place.line)
        return x->place.line < y->place.line ? -1 : 1;
    return (x->place.column > y->place.column) - (x->place.column < y->place.column);
}

static void make_blocks(struct reducer *r)
{
    size_t count = r->g->block_count;
    struct begin *begins = pt_xcalloc(count + 1, sizeof *begins);
    r->block_ids = pt_xcalloc(count + 1, sizeof *r->block_ids);
    for (uint32_t i = 0; i < count; i++)
        begins[i] = (struct begin){i, r->g->blocks[i].thread, pt_cf_place(r->cf, r->g->blocks[i].inst)};
    qsort(begins, count, sizeof *begins, by_place);
    for (size_t i = 0; i < count; i++)
        r->block_ids[begins[i].block] =
            pt_program_add_block(r->cf->program, begins[i].thread, r->g->blocks[begins[i].block].name, begins[i].place);
    free(begins);
}

/* ---- labels */

static void collect_vars(struct reducer *r, const struct pt_cf_edge *edge, struct label *label)
{
    size_t read_cap = 0, write_cap = 0;
    for (size_t a = 0; a < edge->access_count; a++) {
        const struct pt_cf_access *access = &r->g->accesses[edge->access_start + a];
        uint32_t first = 0, end = 0;
        bool all = access->object == PT_CF_ANYTHING;
        if (!all)
            covered(r, access, &first, &end);
        for (uint32_t i = 0; i < (all ? r->escaped_var_count : end - first); i++) {
            uint32_t var = all ? r->escaped_vars[i] : r->pieces[first + i].var;
            if (var == PT_NONE)
                continue;
            if (access->write)
                PT_PUSH(label->writes, label->write_count, write_cap, var);
            else
                PT_PUSH(label->reads, label->read_count, read_cap, var);
        }
    }
    if (label->read_count)
        label->read_count = pt_sort_distinct(label->reads, label->read_count);
    if (label->write_count)
        label->write_count = pt_sort_distinct(label->writes, label->write_count);
}

static uint32_t intern_label(struct reducer *r, struct label *label)
{
    struct pt_buf key;
    pt_buf_init(&key);
    uint64_t head[3] = {label->kind | (uint64_t)label->thread << 8, label->object, pt_key(label->inst)};
    pt_buf_add(&key, (const char *)head, sizeof head);
    pt_buf_add(&key, (const char *)&label->read_count, sizeof label->read_count);
    if (label->read_count)
        pt_buf_add(&key, (const char *)label->reads, label->read_count * sizeof *label->reads);
    if (label->write_count)
        pt_buf_add(&key, (const char *)label->writes, label->write_count * sizeof *label->writes);
    uint32_t before = r->label_keys.count, id = pt_strtab_intern(&r->label_keys, key.text, key.len);
    pt_buf_release(&key);
    if (id == before) {
        PT_PUSH(r->labels, r->label_count, r->label_cap, *label);
    } else {
        free(label->reads);
        free(label->writes);
    }
    return id;
}

static void add_names(struct reducer *r, const uint32_t *vars, uint32_t count, struct pt_buf *to)
{
    for (uint32_t i = 0; i < count && i < 4; i++)
        pt_buf_printf(to, "%s%.80s", i ? ", " : " ", r->cf->program->vars[vars[i]]);
    if (count > 4)
        pt_buf_printf(to, " and %u more", count - 4);
}

static void note_vagueness(struct reducer *r, const struct pt_cf_edge *edge, const struct label *label)
{
    struct pt_buf what;
    pt_buf_init(&what);
    add_names(r, label->reads, label->read_count, &what);
    if (label->read_count && label->write_count)
        pt_buf_puts(&what, ",");
    add_names(r, label->writes, label->write_count, &what);
    const char *name = pt_cf_classify(edge->inst).name;
    if (edge->unknown && !*name)
        pt_cf_note(r->cf, edge->inst, "what is called through this pointer is not known: taken to write all of%.200s",
                   what.text);
    else if (edge->unknown)
        pt_cf_note(r->cf, edge->inst, "what '%.60s' does is not known: taken to write all of%.200s", name, what.text);
    else
        pt_cf_note(r->cf, edge->inst, "which part of memory this is cannot be told: taken as all of%.200s", what.text);
    pt_buf_release(&what);
}

/* The label of a step; PT_NONE when the step is silent. */
static uint32_t label_of(struct reducer *r, uint32_t thread, const struct pt_cf_edge *edge)
{
    struct label label = {.kind = edge->kind, .object = PT_NONE, .inst = edge->inst, .thread = thread};
    switch (edge->kind) {
    case PT_STEP_PLAIN:
        collect_vars(r, edge, &label);
        if (label.read_count + label.write_count == 0)
            return PT_NONE;
        if (edge->vague)
            note_vagueness(r, edge, &label);
        break;
    case PT_STEP_ACQUIRE:
    case PT_STEP_RELEASE:
        label.object = r->lock_ids[edge->object];
        if (label.object == PT_NONE)
            return PT_NONE;
        break;
    case PT_STEP_BEGIN:
    case PT_STEP_END:
        label.object = r->block_ids[edge->object];
        break;
    default:
        label.object = edge->object;
    }
    return intern_label(r, &label);
}

/* ---- steps */

static void describe(struct reducer *r, const struct label *label, struct pt_buf *text)
{
    const struct pt_program *p = r->cf->program;
    const char *name;
    text->len = 0;
    switch (label->kind) {
    case PT_STEP_ACQUIRE:
    case PT_STEP_RELEASE:
        pt_buf_printf(text, "%s(%s)", label->kind == PT_STEP_ACQUIRE ? "lock" : "unlock", p->locks[label->object]);
        return;
    case PT_STEP_BEGIN:
    case PT_STEP_END:
        name = p->blocks[label->object].name;
        pt_buf_printf(text, "%s%s%s", label->kind == PT_STEP_BEGIN ? "begin" : "end", name ? " " : "",
                      name ? name : "");
        return;
    case PT_STEP_SPAWN:
    case PT_STEP_JOIN:
        pt_buf_printf(text, "%s %s", label->kind == PT_STEP_SPAWN ? "start" : "join", p->threads[label->object].name);
        return;
    default:
        break;
    }
    bool update = LLVMIsAAtomicRMWInst(label->inst) || LLVMIsAAtomicCmpXchgInst(label->inst);
    if (LLVMIsACallInst(label->inst))
        pt_buf_printf(text, "%s: ", pt_cf_classify(label->inst).name);
    if (label->read_count) {
        pt_buf_puts(text, "read");
        add_names(r, label->reads, label->read_count, text);
    }
    if (label->write_count) {
        pt_buf_printf(text, "%s%s", label->read_count ? ", " : "", update ? "update" : "write");
        add_names(r, label->writes, label->write_count, text);
    }
}

static void add_step(struct reducer *r, uint32_t thread, const struct pt_cf_link *link)
{
    struct pt_prog_step step = {.thread = thread, .from = link->from, .to = link->to, .object = PT_NONE};
    if (link->label == PT_CF_RETURN) {
        step.kind = PT_STEP_PLAIN;
        step.text = "return";
        step.place = r->cf->program->threads[thread].place;
        pt_program_add_step(r->cf->program, &step, NULL, 0, NULL, 0);
        return;
    }
    const struct label *label = &r->labels[link->label];
    struct pt_buf text;
    pt_buf_init(&text);
    describe(r, label, &text);
    step.kind = label->kind;
    step.object = label->object;
    step.text = text.text;
    step.place = pt_cf_place(r->cf, label->inst);
    pt_program_add_step(r->cf->program, &step, label->reads, label->read_count, label->writes, label->write_count);
    pt_buf_release(&text);
}

static void reduce_thread(struct reducer *r, uint32_t thread)
{
    const struct pt_cf_thread_graph *graph = &r->g->threads[thread];
    struct pt_cf_link *links = pt_xcalloc(graph->edge_count + 1, sizeof *links);
    for (size_t i = 0; i < graph->edge_count; i++)
        links[i] = (struct pt_cf_link){graph->edges[i].from, label_of(r, thread, &graph->edges[i]), graph->edges[i].to};
    struct pt_cf_small small = {0};
    pt_cf_shrink(links, graph->edge_count, graph->node_count, r->joined[thread], &small);
    for (uint32_t i = 0; i < small.node_count; i++)
        pt_program_add_node(r->cf->program, thread);
    r->cf->program->threads[thread].start = small.start;
    r->cf->program->threads[thread].stop = small.stop;
    for (size_t i = 0; i < small.count; i++)
        add_step(r, thread, &small.links[i]);
    free(small.links);
    free(links);
}

void pt_cf_reduce(struct pt_cf_graph *g)
{
    struct reducer r = {.g = g, .cf = g->cf};
    pt_strtab_init(&r.label_keys);
    cut_objects(&r);
    use_pieces(&r);
    make_threads(&r);
    make_variables(&r);
    make_locks(&r);
    make_blocks(&r);
    r.joined = pt_xcalloc(g->cf->thread_count, sizeof *r.joined);
    for (uint32_t t = 0; t < g->cf->thread_count; t++)
        for (size_t e = 0; e < g->threads[t].edge_count; e++)
            if (g->threads[t].edges[e].kind == PT_STEP_JOIN)
                r.joined[g->threads[t].edges[e].object] = true;
    for (uint32_t t = 0; t < g->cf->thread_count; t++)
        reduce_thread(&r, t);
    for (size_t i = 0; i < r.label_count; i++) {
        free(r.labels[i].reads);
        free(r.labels[i].writes);
    }
    free(r.labels);
    pt_strtab_release(&r.label_keys);
    free(r.pieces);
    free(r.first_piece);
    free(r.lock_ids);
    free(r.block_ids);
    free(r.joined);
    free(r.escaped_vars);
}
