/*
 * Types are followed as the compiler describes them: typedef, const, volatile, restrict and _Atomic are looked through,
 * members are searched in anonymous members and base classes too, and std::atomic<T> is entered down to its single data
 * member. What is left at the end must be a scalar, or an array of characters, which is a string.
 */
#include "trace/dwarf_path.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "trace/dwarf_type.h"

enum { MAX_DIMENSIONS = 16, MAX_SIZE = 1 << 16 };

struct follow {
    const struct pt_dwarf_index *index;
    const char *name; /* the whole name, for messages */
    struct pt_err *err;
    Dwarf_Die type; /* of what has been reached; has_type: it is not void */
    bool has_type;
    uint64_t offset;
    uint32_t bit_offset, bit_size;
    uint32_t element; /* size() of a vector has been reached: the bytes of an element */
    uint64_t root;    /* the offset of the first pointer that was followed */
    uint64_t atomic;  /* where the atomic structure that was entered last begins, */
    bool in_atomic;   /* if there is one, and no pointer was followed since */
    uint32_t link_count, after[PT_LINKS_MAX];
    /* Of an array that has been reached, and how many of them are indexed already. */
    uint64_t dimensions[MAX_DIMENSIONS]; /* elements, 0: unknown */
    uint32_t dimension_count, indexed;
};

static void read_dimensions(struct follow *f)
{
    Dwarf_Die child;
    f->dimension_count = f->indexed = 0;
    if (!f->has_type || dwarf_tag(&f->type) != DW_TAG_array_type || dwarf_child(&f->type, &child) != 0)
        return;
    do {
        uint64_t count = 0, upper;
        if (dwarf_tag(&child) != DW_TAG_subrange_type || f->dimension_count == MAX_DIMENSIONS)
            continue;
        if (!pt_dwarf_number_of(&child, DW_AT_count, &count) && pt_dwarf_number_of(&child, DW_AT_upper_bound, &upper))
            count = upper + 1;
        f->dimensions[f->dimension_count++] = count;
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void set_type(struct follow *f, Dwarf_Die *holder)
{
    f->has_type = pt_dwarf_type_of(holder, &f->type) && pt_dwarf_strip(f->index, &f->type);
    read_dimensions(f);
}

/* C's _Atomic structures; std::atomic's are found in enter_atomic. */
static void note_atomic(struct follow *f, Dwarf_Die *holder)
{
    if (f->in_atomic || !pt_dwarf_is_marked_atomic(holder))
        return;
    f->in_atomic = true;
    f->atomic = f->offset;
}

/* Steps from a class into one of its members. */
static bool enter(struct follow *f, Dwarf_Die *member)
{
    uint64_t offset, bits = 0, bit_offset, storage;
    if (!pt_dwarf_member_offset(member, &offset))
        return false;
    f->bit_offset = f->bit_size = 0;
    set_type(f, member);
    if (pt_dwarf_number_of(member, DW_AT_bit_size, &bits) && bits >= 1 && bits <= 64) {
        if (pt_dwarf_number_of(member, DW_AT_data_bit_offset, &bit_offset)) {
            offset += bit_offset / 8;
        } else if (pt_dwarf_number_of(member, DW_AT_bit_offset, &bit_offset)) {
            /* DWARF 2 counts from the most significant bit of the declared type. */
            Dwarf_Word size = 0;
            if (!pt_dwarf_number_of(member, DW_AT_byte_size, &storage))
                storage = f->has_type && dwarf_aggregate_size(&f->type, &size) == 0 ? size : 0;
            bit_offset = storage * 8 - bit_offset - bits;
            offset += bit_offset / 8;
        } else {
            bit_offset = 0;
        }
        f->bit_offset = (uint32_t)(bit_offset % 8);
        f->bit_size = (uint32_t)bits;
    }
    f->offset += offset;
    note_atomic(f, member);
    return true;
}

/* Finds a member by name, and steps into it: one of the class itself (`nameless`: that anonymous members have and base
 * classes). */
static bool enter_member(struct follow *f, const char *name, size_t len, unsigned depth, bool nameless);

/* Those of the class itself hide what base classes have. */
static bool enter_named(struct follow *f, const char *name, size_t len, unsigned depth)
{
    return enter_member(f, name, len, depth, false) || enter_member(f, name, len, depth, true);
}

static bool enter_member(struct follow *f, const char *name, size_t len, unsigned depth, bool nameless)
{
    Dwarf_Die child;
    if (depth > PT_TYPE_DEPTH || !f->has_type || !pt_dwarf_is_class(&f->type) || dwarf_child(&f->type, &child) != 0)
        return false;
    struct follow start = *f;
    do {
        if (!pt_dwarf_is_data_member(&child))
            continue;
        const char *own = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
        if (nameless != !own || (own && (strlen(own) != len || memcmp(own, name, len) != 0)))
            continue;
        if (enter(f, &child) && (own || enter_named(f, name, len, depth + 1)))
            return true;
        *f = start;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* std::atomic<T>, std::atomic_flag and what they are made of: steps into the single data member. */
static bool enter_single(struct follow *f)
{
    Dwarf_Die member;
    return pt_dwarf_single_member(f->index, &f->type, &member) && enter(f, &member);
}

/* A member of the structure that a std::atomic holds: it reads as that structure. */
static bool enter_atomic(struct follow *f, const char *name, size_t len)
{
    struct follow start = *f;
    bool found = false;
    if (!pt_dwarf_is_atomic(&f->type))
        return false;
    for (unsigned depth = 0; !found && depth < PT_TYPE_DEPTH && f->has_type && enter_single(f); depth++)
        found = f->has_type && enter_named(f, name, len, 0);
    if (!found) {
        *f = start;
    } else if (!start.in_atomic) {
        f->in_atomic = true;
        f->atomic = start.offset;
    }
    return found;
}

static void visit_members(const struct pt_dwarf_index *index, Dwarf_Die *type, const struct pt_buf *prefix,
                          pt_debuginfo_visit visit, void *context, unsigned depth)
{
    Dwarf_Die child, inner;
    if (depth > PT_TYPE_DEPTH || !pt_dwarf_is_class(type) || dwarf_child(type, &child) != 0)
        return;
    do {
        if (!pt_dwarf_is_data_member(&child))
            continue;
        const char *own = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
        if (own) {
            struct pt_buf full;
            pt_buf_init(&full);
            pt_buf_printf(&full, "%s%s", prefix->text, own);
            visit(context, full.text);
            pt_buf_release(&full);
        } else if (pt_dwarf_type_of(&child, &inner) && pt_dwarf_strip(index, &inner)) {
            visit_members(index, &inner, prefix, visit, context, depth + 1);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

struct name_list {
    struct pt_buf buf;
    uint32_t count;
};

static void list_name(void *context, const char *name)
{
    enum { MAX_LISTED = 12 };
    struct name_list *list = context;
    if (list->count++ < MAX_LISTED)
        pt_buf_printf(&list->buf, "%s%s", list->count > 1 ? ", " : "", name);
    else if (list->count == MAX_LISTED + 1)
        pt_buf_puts(&list->buf, ", ...");
}

/* What stands before a member's name: `rest` of the name begins there. */
static const char *separator(const char *rest)
{
    return rest[0] == '-' && rest[1] == '>' ? "->" : ".";
}

/* A base class that is declared and nowhere described, as clang leaves those whose constructors it does not compile;
 * NULL: none. */
static const char *unknown_base(const struct pt_dwarf_index *index, Dwarf_Die *type)
{
    Dwarf_Die child, base;
    if (!pt_dwarf_is_class(type) || dwarf_child(type, &child) != 0)
        return NULL;
    do {
        if (dwarf_tag(&child) != DW_TAG_inheritance || !pt_dwarf_type_of(&child, &base))
            continue;
        Dwarf_Die found = base;
        if (!pt_dwarf_strip(index, &found))
            return dwarf_diename(&base);
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

/* What a std::atomic holds, where that is a structure. */
static void enter_value(const struct pt_dwarf_index *index, Dwarf_Die *type)
{
    Dwarf_Die member, inner = *type;
    for (unsigned depth = 0; depth < PT_TYPE_DEPTH && pt_dwarf_is_class(&inner); depth++) {
        *type = inner;
        if (!pt_dwarf_single_member(index, &inner, &member) || !pt_dwarf_type_of(&member, &inner) ||
            !pt_dwarf_strip(index, &inner))
            return;
    }
}

/* An error that lists the members of what was reached, whose name is the first `len` bytes of the whole. */
static enum pt_status members_error(struct follow *f, size_t len, const char *what)
{
    struct name_list list = {.count = 0};
    struct pt_buf prefix;
    Dwarf_Die type = f->type;
    pt_buf_init(&list.buf);
    pt_buf_init(&prefix);
    pt_buf_add(&prefix, f->name, len);
    pt_buf_puts(&prefix, separator(f->name + len));
    if (pt_dwarf_is_atomic(&type))
        enter_value(f->index, &type);
    visit_members(f->index, &type, &prefix, list_name, &list, 0);
    enum pt_status status = pt_err_set(f->err, PT_EINPUT, "'%s' %s%s%s", f->name, what, list.count ? ": " : "",
                                       list.count ? list.buf.text : "");
    const char *base = unknown_base(f->index, &f->type);
    if (base)
        pt_err_hint(f->err,
                    "the debug information has only the name of the base class %s: compile with "
                    "-fstandalone-debug",
                    base);
    pt_buf_release(&list.buf);
    pt_buf_release(&prefix);
    return status;
}

static bool element_type(struct follow *f, Dwarf_Die *ret_type, uint64_t *ret_size)
{
    Dwarf_Word size;
    *ret_type = f->type;
    if (!pt_dwarf_type_of(ret_type, ret_type) || !pt_dwarf_strip(f->index, ret_type) ||
        dwarf_aggregate_size(ret_type, &size) != 0)
        return false;
    *ret_size = size;
    return true;
}

/* std::array is the array inside it. */
static void enter_array(struct follow *f)
{
    static const char *const inside[] = {"_M_elems", "__elems_"}; /* of libstdc++, of libc++ */
    const char *name = f->has_type && pt_dwarf_is_class(&f->type) ? dwarf_diename(&f->type) : NULL;
    bool entered = !name || strncmp(name, "array<", 6) != 0;
    for (size_t i = 0; i < sizeof inside / sizeof *inside && !entered; i++)
        entered = enter_named(f, inside[i], strlen(inside[i]), 0);
}

/* One [index]. */
static enum pt_status take_index(struct follow *f, uint64_t index)
{
    Dwarf_Die element;
    uint64_t size;
    if (f->indexed == f->dimension_count)
        enter_array(f);
    if (f->indexed == f->dimension_count || !element_type(f, &element, &size)) {
        const char *class = f->has_type && pt_dwarf_is_class(&f->type) ? dwarf_diename(&f->type) : NULL;
        (void)pt_err_set(f->err, PT_EINPUT, "'%s' indexes something that is no array and no pointer", f->name);
        if (class && strncmp(class, "vector<", 7) == 0)
            pt_err_hint(f->err, "elements of a std::vector come and go; its size() can be named");
        return PT_EINPUT;
    }
    uint64_t limit = f->dimensions[f->indexed];
    if (limit && index >= limit)
        return pt_err_set(f->err, PT_EINPUT, "'%s' has the index %" PRIu64 ", but there are %" PRIu64 " elements",
                          f->name, index, limit);
    f->indexed++;
    uint64_t step = size;
    for (uint32_t d = f->indexed; d < f->dimension_count; d++) {
        if (__builtin_mul_overflow(step, f->dimensions[d], &step))
            step = 0;
    }
    if (__builtin_mul_overflow(step, index, &step) || step > INT64_MAX)
        return pt_err_set(f->err, PT_EINPUT, "'%s' has an index that is too large", f->name);
    f->offset += step;
    if (f->indexed == f->dimension_count) {
        f->type = element;
        read_dimensions(f);
    }
    return PT_OK;
}

static bool is_pointer(const struct follow *f)
{
    Dwarf_Die type = f->type;
    bool whole = f->has_type && f->indexed == f->dimension_count && !f->bit_size;
    return whole && (dwarf_tag(&type) == DW_TAG_pointer_type || dwarf_tag(&type) == DW_TAG_reference_type);
}

/* What has been reached is a pointer, whose place is known: steps to what it points to. */
static enum pt_status follow_pointer(struct follow *f, size_t len)
{
    if (!is_pointer(f))
        return pt_err_set(f->err, PT_EINPUT, "'%.*s' is no pointer", (int)len, f->name);
    if (f->link_count == PT_LINKS_MAX)
        return pt_err_set(f->err, PT_EINPUT, "'%s' goes through more than %d pointers", f->name, PT_LINKS_MAX);
    if (f->offset > UINT32_MAX && f->link_count)
        return pt_err_set(f->err, PT_EINPUT, "'%s' has an index that is too large", f->name);
    if (f->link_count)
        f->after[f->link_count - 1] = (uint32_t)f->offset;
    else
        f->root = f->offset;
    f->link_count++;
    f->offset = 0;
    f->in_atomic = false;
    Dwarf_Die pointer = f->type;
    set_type(f, &pointer);
    return PT_OK;
}

/* An index of what is no array: p[2] lies two elements behind what p points to. */
static enum pt_status index_pointer(struct follow *f, uint64_t index, size_t len)
{
    Dwarf_Word size;
    enum pt_status status = follow_pointer(f, len);
    if (status == PT_OK && (!f->has_type || dwarf_aggregate_size(&f->type, &size) != 0 ||
                            __builtin_mul_overflow(size, index, &f->offset) || f->offset > UINT32_MAX))
        status = pt_err_set(f->err, PT_EINPUT, "'%s' has an index that is too large, or of nothing", f->name);
    return status;
}

/* --- containers of the C++ library --- */

static bool is_named(Dwarf_Die *type, const char *begin)
{
    const char *name = dwarf_diename(type);
    return name && strncmp(name, begin, strlen(begin)) == 0;
}

/* The pointers to the begin and to the end of the elements, one behind the other, of libstdc++ or of libc++. */
static bool enter_vector(struct follow *f)
{
    static const char *const names[][2] = {{"_M_start", "_M_finish"}, {"__begin_", "__end_"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct follow first = *f, second;
        if (i == 0 && !enter_named(&first, "_M_impl", 7, 0))
            continue;
        second = first;
        Dwarf_Word size;
        Dwarf_Die element;
        if (!enter_named(&first, names[i][0], strlen(names[i][0]), 0) ||
            !enter_named(&second, names[i][1], strlen(names[i][1]), 0) ||
            second.offset != first.offset + sizeof(void *) || !is_pointer(&first))
            continue;
        element = first.type;
        if (!pt_dwarf_type_of(&element, &element) || !pt_dwarf_strip(f->index, &element) ||
            dwarf_aggregate_size(&element, &size) != 0 || size < 1 || size > PT_WATCH_ELEMENT_MAX)
            return false;
        *f = first;
        f->element = (uint32_t)size;
        f->has_type = false;
        return true;
    }
    return false;
}

/* size(): of a vector what lies between its pointers, of a string its length. */
static enum pt_status enter_size(struct follow *f, size_t reached)
{
    bool class = f->has_type && f->indexed == f->dimension_count && pt_dwarf_is_class(&f->type);
    if (class && is_named(&f->type, "vector<") && enter_vector(f))
        return PT_OK;
    if (class && is_named(&f->type, "basic_string<") && enter_named(f, "_M_string_length", 16, 0))
        return PT_OK;
    enum pt_status status = pt_err_set(f->err, PT_EINPUT, "the size() of '%.*s' is not known", (int)reached, f->name);
    pt_err_hint(f->err, "it is of std::vector, but for vector<bool>, and of libstdc++'s std::string");
    return status;
}

/* Follows the path as far as it goes; *ret_rest is what is left of it after an error. '^' is C's `*`, behind what it is
 * about. */
static enum pt_status follow_path(struct follow *f, const char *path, const char **ret_rest)
{
    while (*path) {
        *ret_rest = path;
        size_t reached = (size_t)(path - f->name);
        if (*path == '^' || (path[0] == '-' && path[1] == '>')) {
            enum pt_status status = follow_pointer(f, reached);
            if (status != PT_OK)
                return status;
            path++;
            if (path[-1] == '^')
                continue;
        }
        if (*path == '[') {
            char *end;
            uint64_t index = strtoull(path + 1, &end, 10);
            if (end == path + 1 || *end != ']')
                return pt_err_set(f->err, PT_EINPUT, "'%s' needs a constant index in its brackets", f->name);
            enum pt_status status = is_pointer(f) ? index_pointer(f, index, reached) : take_index(f, index);
            if (status != PT_OK)
                return status;
            path = end + 1;
        } else if (*path == '.' || *path == '>') { /* the end of '->' */
            size_t len = strcspn(path + 1, ".[^-");
            if (len == 6 && memcmp(path + 1, "size()", len) == 0) {
                enum pt_status status = enter_size(f, reached);
                if (status != PT_OK)
                    return status;
            } else if (f->has_type && f->indexed == f->dimension_count && pt_dwarf_is_class(&f->type)) {
                if (!enter_named(f, path + 1, len, 0) && !enter_atomic(f, path + 1, len))
                    return members_error(f, reached, "is not there; the members are");
            } else {
                return pt_err_set(f->err, PT_EINPUT, "'%.*s' has no members", (int)reached, f->name);
            }
            path += 1 + len;
        } else {
            return pt_err_set(f->err, PT_EINPUT, "'%s' cannot be understood from '%s' on", f->name, path);
        }
    }
    *ret_rest = path;
    return PT_OK;
}

static bool scalar_class(struct follow *f, enum pt_watch_type *ret_class)
{
    uint64_t encoding;
    Dwarf_Word size;
    if (dwarf_aggregate_size(&f->type, &size) != 0)
        return false;
    switch (dwarf_tag(&f->type)) {
    case DW_TAG_base_type:
        return pt_dwarf_number_of(&f->type, DW_AT_encoding, &encoding) &&
               pt_dwarf_base_class(encoding, size, ret_class);
    case DW_TAG_enumeration_type:
        *ret_class = pt_dwarf_enum_is_signed(f->index, &f->type) ? PT_WATCH_INT : PT_WATCH_UINT;
        return size <= 8;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_ptr_to_member_type:
        *ret_class = PT_WATCH_UINT;
        return size <= 8;
    case DW_TAG_unspecified_type: /* decltype(nullptr) */
    default:
        return false;
    }
}

/* An array, or what is left of its dimensions: a string if it is one row of characters. */
static enum pt_status finish_array(struct follow *f, struct pt_variable *ret_variable)
{
    Dwarf_Die element;
    uint64_t size, count = f->dimensions[f->dimension_count - 1];
    if (!element_type(f, &element, &size) || !pt_dwarf_is_character(&element) || f->dimension_count - f->indexed != 1)
        return pt_err_set(f->err, PT_EINPUT, "'%s' is an array; name an element of it, such as '%s[0]'", f->name,
                          f->name);
    if (count < 1 || count > MAX_SIZE)
        return pt_err_set(f->err, PT_EINPUT, "'%s' is an array of characters of unknown or too large a size", f->name);
    ret_variable->offset = f->offset;
    ret_variable->size = (uint32_t)count;
    ret_variable->type = PT_WATCH_CHARS;
    ret_variable->bit_offset = ret_variable->bit_size = 0;
    return PT_OK;
}

static enum pt_status finish(struct follow *f, struct pt_variable *ret_variable)
{
    enum pt_watch_type class;
    Dwarf_Word size;
    if (f->element) {
        *ret_variable = (struct pt_variable){.offset = f->offset,
                                             .size = 2 * sizeof(void *),
                                             .type = PT_WATCH_SPAN | f->element << PT_WATCH_ELEMENT,
                                             .bit_offset = 8 * sizeof(void *),
                                             .bit_size = 8 * sizeof(void *)};
        return PT_OK;
    }
    if (f->dimension_count > f->indexed)
        return finish_array(f, ret_variable);
    for (unsigned depth = 0; f->has_type && pt_dwarf_is_class(&f->type); depth++) {
        struct follow before = *f;
        if (depth > PT_TYPE_DEPTH || (depth == 0 && !pt_dwarf_is_atomic(&f->type)) || !enter_single(f))
            return members_error(&before, strlen(f->name), "is a structure; name a member of it");
    }
    if (!f->has_type || !scalar_class(f, &class) || dwarf_aggregate_size(&f->type, &size) != 0)
        return pt_err_set(f->err, PT_EINPUT, "'%s' is of a type that properties cannot use", f->name);
    ret_variable->offset = f->offset;
    ret_variable->type = class;
    ret_variable->bit_offset = f->bit_offset;
    ret_variable->bit_size = f->bit_size;
    ret_variable->size = f->bit_size ? (f->bit_offset + f->bit_size + 7) / 8 : (uint32_t)size;
    return PT_OK;
}

/* Where pointers were followed, the place of a variable is that of the first, and how to go on. */
static void finish_links(struct follow *f, struct pt_variable *ret_variable)
{
    ret_variable->link_count = f->link_count;
    if (!f->link_count)
        return;
    f->after[f->link_count - 1] = (uint32_t)ret_variable->offset;
    memcpy(ret_variable->after, f->after, sizeof f->after);
    ret_variable->offset = f->root;
}

enum pt_status pt_dwarf_path(const struct pt_dwarf_index *index, Dwarf_Die *variable, const char *name,
                             const char *path, struct pt_variable *ret_variable, struct pt_err *err)
{
    struct follow f = {.index = index, .name = name, .err = err};
    const char *rest;
    set_type(&f, variable);
    note_atomic(&f, variable);
    enum pt_status status = follow_path(&f, path, &rest);
    if (status == PT_OK)
        status = finish(&f, ret_variable);
    if (status == PT_OK) {
        ret_variable->in_atomic = f.in_atomic ? 1 + (uint32_t)(ret_variable->offset - f.atomic) : 0;
        finish_links(&f, ret_variable);
    }
    return status;
}

enum pt_status pt_dwarf_extent(const struct pt_dwarf_index *index, Dwarf_Die *variable, const char *name,
                               const char *path, struct pt_variable *ret_variable, struct pt_err *err)
{
    struct follow f = {.index = index, .name = name, .err = err};
    const char *rest;
    Dwarf_Die element;
    Dwarf_Word own = 0;
    uint64_t size = 0;
    set_type(&f, variable);
    enum pt_status status = follow_path(&f, path, &rest);
    if (status == PT_OK && f.link_count)
        status = pt_err_set(err, PT_EINPUT, "'%s' goes through pointers: it is no memory of its own", name);
    if (status != PT_OK)
        return status;
    bool array = f.dimension_count > f.indexed;
    if (array ? element_type(&f, &element, &size) : f.has_type && dwarf_aggregate_size(&f.type, &own) == 0)
        size += own;
    for (uint32_t d = f.indexed; array && d < f.dimension_count; d++)
        if (__builtin_mul_overflow(size, f.dimensions[d], &size))
            size = 0;
    if (f.bit_size)
        size = (f.bit_offset + f.bit_size + 7) / 8;
    if (!size || size > UINT32_MAX)
        return pt_err_set(err, PT_EINPUT, "'%s' is of unknown or too large a size", name);
    *ret_variable = (struct pt_variable){.offset = f.offset,
                                         .size = (uint32_t)size,
                                         .type = PT_WATCH_CHARS,
                                         .bit_offset = f.bit_offset,
                                         .bit_size = f.bit_size};
    return PT_OK;
}

void pt_dwarf_path_near(const struct pt_dwarf_index *index, Dwarf_Die *variable, const char *name, const char *path,
                        pt_debuginfo_visit visit, void *context)
{
    struct pt_err ignored;
    struct follow f = {.index = index, .name = name, .err = &ignored};
    const char *rest;
    struct pt_buf prefix;
    set_type(&f, variable);
    (void)!follow_path(&f, path, &rest);
    pt_buf_init(&prefix);
    pt_buf_add(&prefix, name, (size_t)(rest - name));
    pt_buf_puts(&prefix, separator(rest));
    if (f.has_type)
        visit_members(index, &f.type, &prefix, visit, context, 0);
    pt_buf_release(&prefix);
}
