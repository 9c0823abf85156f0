/*
 * Abstract values and memory.
 *
 * A value is nothing yet, one number, or a set of objects with a common offset; joins only go up, and sets grow at most
 * to all objects, so every fixpoint over them ends. An object's contents are kept per (offset, size) stored to, plus a
 * smear for stores at unknown offsets; a load joins what overlaps it. Nothing is ever overwritten: that keeps contents
 * true at every moment of every thread.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/abstract.h"

enum { MAX_INITIAL_CELLS = 4096 };

struct pt_cf_val pt_cf_int(int64_t number)
{
    return (struct pt_cf_val){.kind = PT_CF_INT, .number = number};
}

struct pt_cf_val pt_cf_number(void)
{
    return (struct pt_cf_val){.kind = PT_CF_REF};
}

struct pt_cf_val pt_cf_ref(struct pt_cf *cf, uint32_t object)
{
    uint32_t set = pt_strtab_intern(&cf->sets, (const char *)&object, sizeof object);
    return (struct pt_cf_val){.kind = PT_CF_REF, .set = set};
}

struct pt_cf_val pt_cf_anything(struct pt_cf *cf)
{
    return pt_cf_blur(pt_cf_ref(cf, PT_CF_ANYTHING));
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static int64_t modulo(int64_t number, int64_t stride)
{
    int64_t rest = number % stride;
    return rest < 0 ? rest + stride : rest;
}

struct pt_cf_val pt_cf_move(struct pt_cf_val pointer, int64_t count, int64_t step)
{
    int64_t way;
    if (pointer.kind != PT_CF_REF || pointer.set == 0)
        return pointer;
    if (step == INT64_MIN || (count != INT64_MIN && (__builtin_mul_overflow(count, step, &way) ||
                                                     __builtin_add_overflow(pointer.number, way, &pointer.number))))
        return pt_cf_blur(pointer);
    if (count == INT64_MIN)
        pointer.stride = gcd(pointer.stride, step);
    if (pointer.stride != 0)
        pointer.number = modulo(pointer.number, pointer.stride);
    return pointer;
}

const uint32_t *pt_cf_targets(const struct pt_cf *cf, struct pt_cf_val val, uint32_t *ret_count)
{
    if (val.kind != PT_CF_REF) {
        *ret_count = 0;
        return NULL;
    }
    *ret_count = pt_strtab_len(&cf->sets, val.set) / sizeof(uint32_t);
    return (const void *)pt_strtab_text(&cf->sets, val.set); /* arenas align to 16 bytes */
}

/* What anything may be covers all others, once these count as escaped: sets stay small where little is known. */
static uint32_t unite(struct pt_cf *cf, struct pt_cf_val a, struct pt_cf_val b)
{
    uint32_t na, nb, n = 0;
    const uint32_t *x = pt_cf_targets(cf, a, &na), *y = pt_cf_targets(cf, b, &nb), *x_end = x + na, *y_end = y + nb;
    if (*x == PT_CF_ANYTHING || *y == PT_CF_ANYTHING) {
        pt_cf_escape(cf, a);
        pt_cf_escape(cf, b);
        return *x == PT_CF_ANYTHING ? a.set : b.set;
    }
    uint32_t *both = pt_xmalloc(((size_t)na + nb) * sizeof *both);
    while (x < x_end || y < y_end) {
        if (y == y_end || (x < x_end && *x < *y)) {
            both[n++] = *x++;
        } else {
            x += x < x_end && *x == *y;
            both[n++] = *y++;
        }
    }
    uint32_t set = pt_strtab_intern(&cf->sets, (const char *)both, n * sizeof *both);
    free(both);
    return set;
}

/* Of two sets that are not empty. */
static uint32_t union_of(struct pt_cf *cf, struct pt_cf_val a, struct pt_cf_val b)
{
    uint64_t key = a.set < b.set ? (uint64_t)a.set << 32 | b.set : (uint64_t)b.set << 32 | a.set;
    uint32_t known = pt_map64_get(&cf->unions, key);
    if (known != PT_NONE)
        return known;
    uint32_t set = unite(cf, a, b);
    *pt_map64_at(&cf->unions, key) = set;
    return set;
}

struct pt_cf_val pt_cf_join(struct pt_cf *cf, struct pt_cf_val a, struct pt_cf_val b)
{
    if (a.kind == PT_CF_BOTTOM)
        return b;
    if (b.kind == PT_CF_BOTTOM)
        return a;
    if (a.kind == PT_CF_INT && b.kind == PT_CF_INT)
        return a.number == b.number ? a : pt_cf_number();
    if (a.kind == PT_CF_INT) /* null, or a mark like -1: no pointer */
        return b;
    if (b.kind == PT_CF_INT)
        return a;
    if (a.set == 0 || b.set == 0)
        return a.set == 0 ? b : a;
    int64_t apart;
    if (__builtin_sub_overflow(a.number, b.number, &apart) || apart == INT64_MIN)
        apart = 1;
    struct pt_cf_val joined = {.kind = PT_CF_REF, .number = a.number, .stride = gcd(gcd(a.stride, b.stride), apart)};
    if (joined.stride != 0)
        joined.number = modulo(a.number, joined.stride);
    joined.set = a.set == b.set ? a.set : union_of(cf, a, b);
    return joined;
}

struct pt_cf_val pt_cf_blur(struct pt_cf_val val)
{
    if (val.kind == PT_CF_INT)
        return pt_cf_number();
    if (val.kind == PT_CF_REF && val.set != 0) {
        val.number = 0;
        val.stride = 1;
    }
    return val;
}

static bool same(struct pt_cf_val a, struct pt_cf_val b)
{
    return a.kind == b.kind && a.set == b.set && a.number == b.number && a.stride == b.stride;
}

void pt_cf_widen(struct pt_cf *cf, struct pt_cf_val *to, struct pt_cf_val val)
{
    struct pt_cf_val joined = pt_cf_join(cf, *to, val);
    if (!same(joined, *to)) {
        *to = joined;
        cf->changed = true;
    }
}

void pt_cf_escape(struct pt_cf *cf, struct pt_cf_val val)
{
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(cf, val, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (targets[i] == PT_CF_ANYTHING || cf->objects[targets[i]].escaped)
            continue;
        cf->objects[targets[i]].escaped = true;
        cf->changed = true;
    }
}

/* Fills the cells of a global from its initialiser. */
static void add_initial(struct pt_cf *cf, uint32_t object, LLVMValueRef constant, int64_t offset)
{
    LLVMTypeRef type = LLVMTypeOf(constant);
    struct pt_cf_object *o = &cf->objects[object];
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (LLVMIsNull(constant))
        return;
    if (o->cell_count >= MAX_INITIAL_CELLS) {
        o->zero = false; /* numbers beyond are unknown; pointers must not be lost */
        if (kind != LLVMArrayTypeKind && kind != LLVMStructTypeKind)
            o->smear = pt_cf_join(cf, o->smear, pt_cf_blur(pt_cf_eval(cf, PT_NONE, constant)));
        else
            for (int i = 0; i < LLVMGetNumOperands(constant); i++)
                add_initial(cf, object, LLVMGetOperand(constant, (unsigned)i), 0);
        return;
    }
    if (LLVMIsAConstantStruct(constant) || LLVMIsAConstantArray(constant)) {
        for (int i = 0; i < LLVMGetNumOperands(constant); i++) {
            int64_t at = kind == LLVMStructTypeKind
                             ? (int64_t)LLVMOffsetOfElement(cf->names.layout, type, (unsigned)i)
                             : i * (int64_t)LLVMABISizeOfType(cf->names.layout, LLVMGetElementType(type));
            add_initial(cf, object, LLVMGetOperand(constant, (unsigned)i), offset + at);
        }
        return;
    }
    if (kind == LLVMArrayTypeKind || kind == LLVMVectorTypeKind || kind == LLVMStructTypeKind) {
        o->zero = false; /* an array of plain numbers: nobody needs them */
        return;
    }
    struct pt_cf_cell cell = {.offset = offset, .size = LLVMStoreSizeOfType(cf->names.layout, type), .initial = true};
    cell.val = pt_cf_eval(cf, PT_NONE, constant); /* may make objects, and move this one */
    o = &cf->objects[object];
    PT_PUSH(o->cells, o->cell_count, o->cell_cap, cell);
}

static int64_t size_of(struct pt_cf *cf, LLVMValueRef value)
{
    uint64_t count = 1;
    LLVMTypeRef type = NULL;
    if (value && LLVMIsAGlobalVariable(value))
        type = LLVMGlobalGetValueType(value);
    if (value && LLVMIsAAllocaInst(value)) {
        LLVMValueRef number = LLVMGetOperand(value, 0);
        type = LLVMIsAConstantInt(number) ? LLVMGetAllocatedType(value) : NULL;
        count = type ? LLVMConstIntGetZExtValue(number) : 0;
    }
    uint64_t size;
    if (!type || !LLVMTypeIsSized(type) ||
        __builtin_mul_overflow(LLVMABISizeOfType(cf->names.layout, type), count, &size) || size > INT64_MAX)
        return INT64_MAX;
    return (int64_t)size;
}

uint32_t pt_cf_object(struct pt_cf *cf, enum pt_cf_object_kind kind, LLVMValueRef value, uint32_t context)
{
    struct {
        uint64_t value;
        uint32_t context, kind;
    } key = {pt_key(value), context, kind};
    uint32_t before = cf->object_keys.count, id = pt_strtab_intern(&cf->object_keys, (const char *)&key, sizeof key);
    if (id < before)
        return id;
    struct pt_cf_object object = {.kind = kind, .value = value, .context = context, .size = size_of(cf, value)};
    object.summary = context != PT_NONE && kind == PT_CF_DATA && cf->contexts[context].repeated;
    PT_PUSH(cf->objects, cf->object_count, cf->object_cap, object);
    if (kind == PT_CF_DATA && value && LLVMIsAGlobalVariable(value) && LLVMGetInitializer(value)) {
        cf->objects[id].zero = true;
        add_initial(cf, id, LLVMGetInitializer(value), 0);
    }
    return id;
}

static struct pt_cf_val initial_of(const struct pt_cf_object *o)
{
    return o->zero ? pt_cf_int(0) : pt_cf_number();
}

/* Do bytes at `address` and the cell overlap for some index? *ret_same: they start together. */
static bool meets(const struct pt_cf_cell *cell, struct pt_cf_val address, uint64_t size, bool *ret_same)
{
    int64_t stride = gcd(cell->stride, address.stride), ahead = address.number - cell->offset;
    if (stride == 0) {
        *ret_same = ahead == 0;
        return ahead < (int64_t)cell->size && -ahead < (int64_t)size;
    }
    ahead = modulo(ahead, stride);
    *ret_same = ahead == 0;
    return ahead < (int64_t)cell->size || stride - ahead < (int64_t)size;
}

static struct pt_cf_val load_object(struct pt_cf *cf, const struct pt_cf_object *o, struct pt_cf_val address,
                                    uint64_t size)
{
    struct pt_cf_val val = o->smear;
    bool initialised = false, same;
    for (size_t i = 0; i < o->cell_count; i++) {
        const struct pt_cf_cell *cell = &o->cells[i];
        if (!meets(cell, address, size, &same))
            continue;
        same &= cell->size == size;
        initialised |= same && cell->initial && address.stride == 0;
        val = pt_cf_join(cf, val, same ? cell->val : pt_cf_blur(cell->val));
    }
    return initialised ? val : pt_cf_join(cf, val, initial_of(o));
}

struct pt_cf_val pt_cf_load(struct pt_cf *cf, struct pt_cf_val address, uint64_t size)
{
    if (address.kind == PT_CF_BOTTOM)
        return address;
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(cf, address, &count);
    struct pt_cf_val val = {0};
    if (count == 0)
        val = pt_cf_number();
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_cf_object *o = &cf->objects[targets[i]];
        bool wild = targets[i] == PT_CF_ANYTHING || (o->escaped && cf->wild_stores);
        if (wild)
            val = pt_cf_join(cf, val, pt_cf_anything(cf));
        if (targets[i] != PT_CF_ANYTHING)
            val = pt_cf_join(cf, val, load_object(cf, o, address, size));
    }
    return val;
}

static void store_object(struct pt_cf *cf, uint32_t object, struct pt_cf_val address, uint64_t size,
                         struct pt_cf_val val)
{
    struct pt_cf_object *o = &cf->objects[object];
    if (o->escaped)
        pt_cf_escape(cf, val);
    if (address.stride == 1) {
        pt_cf_widen(cf, &o->smear, val);
        return;
    }
    for (size_t i = 0; i < o->cell_count; i++) {
        struct pt_cf_cell *cell = &o->cells[i];
        if (cell->offset == address.number && cell->stride == address.stride && cell->size == size) {
            pt_cf_widen(cf, &cell->val, val);
            return;
        }
    }
    struct pt_cf_cell cell = {.offset = address.number, .stride = address.stride, .size = size, .val = val};
    PT_PUSH(o->cells, o->cell_count, o->cell_cap, cell);
    cf->changed = true;
}

void pt_cf_store(struct pt_cf *cf, struct pt_cf_val address, uint64_t size, struct pt_cf_val val)
{
    if (address.kind == PT_CF_BOTTOM || val.kind == PT_CF_BOTTOM)
        return;
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(cf, address, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (targets[i] != PT_CF_ANYTHING) {
            store_object(cf, targets[i], address, size, val);
        } else {
            pt_cf_escape(cf, val);
            cf->changed |= !cf->wild_stores;
            cf->wild_stores = true;
        }
    }
}

void pt_cf_copy(struct pt_cf *cf, struct pt_cf_val to, struct pt_cf_val from, struct pt_cf_val size)
{
    uint32_t count;
    const uint32_t *sources = pt_cf_targets(cf, from, &count);
    bool exact =
        size.kind == PT_CF_INT && from.stride == 0 && to.stride == 0 && count == 1 && sources[0] != PT_CF_ANYTHING;
    struct pt_cf_val everywhere = pt_cf_blur(to);
    if (!exact) {
        pt_cf_store(cf, everywhere, 0, pt_cf_blur(pt_cf_load(cf, pt_cf_blur(from), 0)));
        return;
    }
    uint32_t source = sources[0];
    pt_cf_store(cf, everywhere, 0, pt_cf_join(cf, pt_cf_blur(cf->objects[source].smear), pt_cf_number()));
    for (size_t i = 0; i < cf->objects[source].cell_count; i++) {
        struct pt_cf_cell cell = cf->objects[source].cells[i];
        if (cell.stride != 0)
            pt_cf_store(cf, everywhere, 0, pt_cf_blur(cell.val));
        if (cell.stride != 0 || cell.offset < from.number ||
            cell.offset + (int64_t)cell.size > from.number + size.number)
            continue;
        pt_cf_store(cf, pt_cf_move(to, 1, cell.offset - from.number), cell.size, cell.val);
    }
}
