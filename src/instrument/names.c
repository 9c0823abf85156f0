/*
 * The name of what an access touches, read back from its address and the debug information: a global (`tank.level`,
 * `ns::x`, `f::counter` for a function's static), a local that escapes, or a path through pointers held in named
 * variables
 * (`queue->head->next`). LLVM's C API has few accessors for debug information, so fields are read as metadata operands:
 * by number where the number has not changed from LLVM 14 to 22, by kind where it has.
 *
 * A name is a help for the reader of a report, never an identity: where anything is unclear the name ends early or is
 * empty.
 */
#include "instrument/module.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {                    /* operands of debug information nodes */
       OPERAND_SCOPE = 1, /* types, subprograms, namespaces, blocks */
       OPERAND_NAME = 2,  /* types, subprograms, namespaces */
       OPERAND_REST = 3,  /* types: from here on, the numbers depend on the version */
       OPERAND_VAR_SCOPE = 0,
       OPERAND_VAR_NAME = 1,
       OPERAND_VAR_TYPE = 3,
};

#define MAX_DEPTH 8 /* of pointers, scopes and nested types in one name */
#define MAX_NAME  200

static bool is_kind(LLVMMetadataRef node, LLVMMetadataKind kind)
{
    return node && LLVMGetMetadataKind(node) == kind;
}

static bool is_type(LLVMMetadataRef node)
{
    return is_kind(node, LLVMDIBasicTypeMetadataKind) || is_kind(node, LLVMDIDerivedTypeMetadataKind) ||
           is_kind(node, LLVMDICompositeTypeMetadataKind) || is_kind(node, LLVMDISubroutineTypeMetadataKind);
}

static bool is_list(LLVMMetadataRef node)
{
    return is_kind(node, LLVMMDTupleMetadataKind);
}

/* The first operand from `from` on that `accept` takes (NULL: that one); NULL when there is none. */
static LLVMMetadataRef find_operand(struct pt_module *m, LLVMMetadataRef node, unsigned from,
                                    bool (*accept)(LLVMMetadataRef))
{
    LLVMValueRef value = node ? LLVMMetadataAsValue(m->context, node) : NULL;
    if (!value || !LLVMIsAMDNode(value))
        return NULL;
    unsigned count = LLVMGetMDNodeNumOperands(value);
    LLVMValueRef *operands = pt_xmalloc((count + 1) * sizeof *operands);
    LLVMGetMDNodeOperands(value, operands);
    LLVMMetadataRef found = NULL;
    for (unsigned i = from; i < count && !found; i++) {
        LLVMMetadataRef candidate = operands[i] ? LLVMValueAsMetadata(operands[i]) : NULL;
        if (!accept || accept(candidate))
            found = candidate;
        if (!accept)
            break;
    }
    free(operands);
    return found;
}

static LLVMMetadataRef operand(struct pt_module *m, LLVMMetadataRef node, unsigned index)
{
    return find_operand(m, node, index, NULL);
}

/* What a typedef, qualifier, pointer, member or array is made of. */
static LLVMMetadataRef base_type(struct pt_module *m, LLVMMetadataRef type)
{
    return find_operand(m, type, OPERAND_REST, is_type);
}

/* Members of a class, dimensions of an array. */
static LLVMMetadataRef elements_of(struct pt_module *m, LLVMMetadataRef type)
{
    return find_operand(m, type, OPERAND_REST, is_list);
}

/* Appends a string operand; false when there is none. */
static bool add_text(struct pt_module *m, LLVMMetadataRef node, unsigned index, struct pt_buf *to)
{
    LLVMMetadataRef text = operand(m, node, index);
    if (!is_kind(text, LLVMMDStringMetadataKind))
        return false;
    unsigned len = 0;
    const char *chars = LLVMGetMDString(LLVMMetadataAsValue(m->context, text), &len);
    if (!chars || len == 0 || len > MAX_NAME)
        return false;
    pt_buf_add(to, chars, len);
    return true;
}

/* Appends `outer::inner::` for the scope of a variable or function. */
static void add_scope(struct pt_module *m, LLVMMetadataRef scope, unsigned depth, struct pt_buf *to)
{
    if (!scope || depth == MAX_DEPTH)
        return;
    LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
    bool named = kind == LLVMDINamespaceMetadataKind || kind == LLVMDISubprogramMetadataKind ||
                 kind == LLVMDICompositeTypeMetadataKind;
    if (!named && kind != LLVMDILexicalBlockMetadataKind && kind != LLVMDILexicalBlockFileMetadataKind)
        return; /* the file */
    add_scope(m, operand(m, scope, OPERAND_SCOPE), depth + 1, to);
    if (named && add_text(m, scope, OPERAND_NAME, to)) /* an anonymous namespace has no name */
        pt_buf_puts(to, "::");
}

LLVMMetadataRef pt_function_scope(struct pt_module *m, LLVMMetadataRef scope)
{
    for (unsigned i = 0; i < 64 && scope && !is_kind(scope, LLVMDISubprogramMetadataKind); i++)
        scope = operand(m, scope, OPERAND_SCOPE); /* a block in it */
    return is_kind(scope, LLVMDISubprogramMetadataKind) ? scope : NULL;
}

bool pt_name_scope(struct pt_module *m, LLVMMetadataRef scope, struct pt_buf *name)
{
    scope = pt_function_scope(m, scope);
    if (!scope)
        return false;
    add_scope(m, operand(m, scope, OPERAND_SCOPE), 0, name);
    return add_text(m, scope, OPERAND_NAME, name);
}

void pt_name_function(struct pt_module *m, LLVMValueRef function, struct pt_buf *name)
{
    size_t len;
    if (!pt_name_scope(m, LLVMGetSubprogram(function), name))
        pt_buf_puts(name, LLVMGetValueName2(function, &len));
}

/* Typedefs, const, volatile and _Atomic have no size of their own; pointers, members and references do. */
static LLVMMetadataRef bare_type(struct pt_module *m, LLVMMetadataRef type)
{
    for (unsigned i = 0; i < 32 && is_kind(type, LLVMDIDerivedTypeMetadataKind) && LLVMDITypeGetSizeInBits(type) == 0;
         i++)
        type = base_type(m, type);
    return type;
}

static bool is_subroutine(LLVMMetadataRef node)
{
    return is_kind(node, LLVMDISubroutineTypeMetadataKind);
}

static bool is_enumeration(struct pt_module *m, LLVMMetadataRef type)
{
    return is_kind(type, LLVMDICompositeTypeMetadataKind) &&
           is_kind(operand(m, elements_of(m, type), 0), LLVMDIEnumeratorMetadataKind);
}

static char parameter_kind(struct pt_module *m, LLVMMetadataRef type, LLVMTypeRef passed)
{
    size_t len = 0;
    LLVMMetadataRef bare = bare_type(m, type);
    if (LLVMGetTypeKind(passed) == LLVMPointerTypeKind)
        return is_kind(bare, LLVMDIDerivedTypeMetadataKind) ? 'p' : '-'; /* or a structure that is passed by address */
    bool number = is_kind(bare, LLVMDIBasicTypeMetadataKind) || is_enumeration(m, bare);
    if (!number || LLVMGetTypeKind(passed) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(passed) > 64)
        return '-';
    const char *name = LLVMDITypeGetName(bare, &len);
    bool plain = is_kind(bare, LLVMDIBasicTypeMetadataKind) && name;
    bool is_unsigned =
        LLVMGetIntTypeWidth(passed) == 1 ||
        (plain && ((len >= 8 && memcmp(name, "unsigned", 8) == 0) || (len == 4 && memcmp(name, "bool", 4) == 0) ||
                   (len == 5 && memcmp(name, "_Bool", 5) == 0) ||
                   (len == 8 && (memcmp(name, "char16_t", 8) == 0 || memcmp(name, "char32_t", 8) == 0)) ||
                   (len == 7 && memcmp(name, "char8_t", 7) == 0)));
    return is_unsigned ? 'u' : 'i';
}

/* A structure by value may be passed as several parameters, or as none: then it is not known which are whose. */
unsigned pt_parameter_kinds(struct pt_module *m, LLVMValueRef function, char *kinds, unsigned most)
{
    unsigned sret = LLVMGetEnumAttributeKindForName("sret", 4), first = 0, count = LLVMCountParams(function);
    LLVMMetadataRef type = find_operand(m, LLVMGetSubprogram(function), OPERAND_REST, is_subroutine);
    LLVMMetadataRef list = find_operand(m, type, 0, is_list);
    LLVMValueRef types = list ? LLVMMetadataAsValue(m->context, list) : NULL;
    unsigned known = types ? LLVMGetMDNodeNumOperands(types) : 0;
    kinds[0] = '\0';
    if (count && LLVMGetEnumAttributeAtIndex(function, 1, sret))
        first++;
    if (known < 2 || known - 1 != count - first)
        return first;
    unsigned at = 1;
    LLVMMetadataRef this = operand(m, list, at);
    if (this && is_type(this) && LLVMDITypeGetFlags(this) & LLVMDIFlagArtificial) {
        at++;
        first++;
    }
    unsigned kept = 0;
    for (; at < known && kept < most; at++, kept++) {
        LLVMMetadataRef of = operand(m, list, at);
        kinds[kept] = of && is_type(of) ? parameter_kind(m, of, LLVMTypeOf(LLVMGetParam(function, first + kept))) : '-';
    }
    kinds[kept] = '\0';
    return first;
}

/* What a pointer (or reference) type points to; NULL for other types. Members look alike, but are never a variable's
 * type. */
static LLVMMetadataRef pointee(struct pt_module *m, LLVMMetadataRef type)
{
    type = bare_type(m, type);
    return is_kind(type, LLVMDIDerivedTypeMetadataKind) ? base_type(m, type) : NULL;
}

/* The member of a structure that holds byte `offset`; NULL when none or when only bit-fields do. */
static LLVMMetadataRef member_at(struct pt_module *m, LLVMMetadataRef elements, uint64_t offset)
{
    LLVMValueRef list = elements ? LLVMMetadataAsValue(m->context, elements) : NULL;
    if (!list || !LLVMIsAMDNode(list))
        return NULL;
    unsigned count = LLVMGetMDNodeNumOperands(list);
    LLVMValueRef *members = pt_xmalloc((count + 1) * sizeof *members);
    LLVMGetMDNodeOperands(list, members);
    LLVMMetadataRef found = NULL;
    for (unsigned i = 0; i < count && !found; i++) {
        LLVMMetadataRef member = members[i] ? LLVMValueAsMetadata(members[i]) : NULL;
        if (!is_kind(member, LLVMDIDerivedTypeMetadataKind))
            continue;
        LLVMDIFlags flags = LLVMDITypeGetFlags(member);
        uint64_t start = LLVMDITypeGetOffsetInBits(member) / 8, bits = LLVMDITypeGetSizeInBits(member);
        if (!(flags & (LLVMDIFlagStaticMember | LLVMDIFlagBitField)) && offset >= start &&
            offset - start < (bits + 7) / 8)
            found = member;
    }
    free(members);
    return found;
}

static bool is_array(struct pt_module *m, LLVMMetadataRef type, unsigned *ret_dimensions)
{
    LLVMMetadataRef elements = elements_of(m, type);
    LLVMValueRef list = elements ? LLVMMetadataAsValue(m->context, elements) : NULL;
    if (!list || !LLVMIsAMDNode(list))
        return false;
    *ret_dimensions = LLVMGetMDNodeNumOperands(list);
    return is_kind(operand(m, elements, 0), LLVMDISubrangeMetadataKind);
}

/* std::atomic<T> and what it inherits from read as T. */
static bool is_atomic_class(LLVMMetadataRef type)
{
    size_t len = 0;
    const char *name = LLVMDITypeGetName(type, &len);
    return name &&
           ((len > 7 && memcmp(name, "atomic<", 7) == 0) || (len > 14 && memcmp(name, "__atomic_base<", 14) == 0));
}

struct place { /* what a name so far denotes */
    LLVMMetadataRef type;
    const char *separator; /* before a member: "." or "->" */
    struct pt_way way;     /* from there to the access */
    uint64_t size;         /* of the access; 0: a scalar */
};

/* Is the index of elements of this size known? */
static bool is_exact(const struct pt_way *way, uint64_t step)
{
    return way->unknown_max == 0 || step < way->unknown_min || step > way->unknown_max;
}

/* Appends members and indices until a scalar is reached; returns its type (NULL when the way was lost). */
static LLVMMetadataRef add_path(struct pt_module *m, struct place at, struct pt_buf *name)
{
    for (unsigned depth = 0; depth < MAX_DEPTH * 2; depth++) {
        LLVMMetadataRef type = bare_type(m, at.type);
        if (!is_kind(type, LLVMDICompositeTypeMetadataKind) || is_atomic_class(type))
            return type;
        uint64_t bytes = LLVMDITypeGetSizeInBits(type) / 8;
        if (at.size && at.size >= bytes)
            return type; /* all of it, or more */
        unsigned dimensions = 0;
        if (is_array(m, type, &dimensions)) {
            LLVMMetadataRef element = base_type(m, type), bare = bare_type(m, element);
            uint64_t step = bare ? LLVMDITypeGetSizeInBits(bare) / 8 : 0;
            if (step == 0)
                return NULL;
            bool exact = dimensions == 1 && is_exact(&at.way, step);
            if (exact)
                pt_buf_printf(name, "[%llu]", (unsigned long long)at.way.offset / step);
            for (unsigned i = 0; i < dimensions && i < MAX_DEPTH && !exact; i++)
                pt_buf_puts(name, "[]");
            at.way.offset %= (int64_t)step;
            at.type = element;
            at.separator = ".";
            continue;
        }
        LLVMMetadataRef member = member_at(m, elements_of(m, type), (uint64_t)at.way.offset);
        if (!member)
            return NULL;
        size_t len = 0;
        const char *text = LLVMDITypeGetName(member, &len);
        if (text && len > 0 && len <= MAX_NAME) { /* base classes and anonymous unions have no name */
            pt_buf_puts(name, at.separator);
            pt_buf_add(name, text, len);
            at.separator = ".";
        }
        at.way.offset -= (int64_t)(LLVMDITypeGetOffsetInBits(member) / 8);
        at.type = base_type(m, member);
    }
    return NULL;
}

/* The debug variable of a global; NULL when it has none. */
static LLVMMetadataRef global_variable(struct pt_module *m, LLVMValueRef global)
{
    size_t count = 0;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
    LLVMMetadataRef variable = NULL;
    for (unsigned i = 0; i < count && !variable; i++)
        if (LLVMValueMetadataEntriesGetKind(entries, i) == m->kind_dbg)
            variable = LLVMDIGlobalVariableExpressionGetVariable(LLVMValueMetadataEntriesGetMetadata(entries, i));
    LLVMDisposeValueMetadataEntries(entries);
    return variable;
}

static const struct pt_noted_local *local_variable(struct pt_module *m, LLVMValueRef value)
{
    uint32_t index = pt_map64_get(&m->local_variables, pt_key(value));
    return index == PT_NONE ? NULL : &m->debug_variables[index];
}

/* Appends the name of the memory at `address`; returns its debug type, NULL when unknown (the name may be partial). */
static LLVMMetadataRef add_memory(struct pt_module *m, LLVMValueRef address, uint64_t size, unsigned depth,
                                  struct pt_buf *name)
{
    struct place at = {.separator = ".", .size = size};
    LLVMValueRef base = pt_base_of(m, address, &at.way);
    LLVMMetadataRef variable = NULL;
    const struct pt_noted_local *local;
    if (depth == MAX_DEPTH || at.way.offset < 0)
        return NULL;
    if (LLVMIsAGlobalVariable(base)) {
        variable = global_variable(m, base);
        if (!variable) {
            size_t len;
            pt_buf_puts(name, LLVMGetValueName2(base, &len));
            return NULL;
        }
        add_scope(m, operand(m, variable, OPERAND_VAR_SCOPE), 0, name);
    } else if ((local = local_variable(m, base))) {
        variable = local->variable;
        at.way.offset -= (int64_t)local->added;
        if (at.way.offset < 0)
            return NULL;
    }
    if (variable) {
        if (!add_text(m, variable, OPERAND_VAR_NAME, name))
            return NULL;
        at.type = operand(m, variable, OPERAND_VAR_TYPE);
        if (LLVMIsAGlobalVariable(base) || LLVMIsAAllocaInst(base))
            return add_path(m, at, name);
    } else if (LLVMIsALoadInst(base)) {
        at.type = add_memory(m, LLVMGetOperand(base, 0), 0, depth + 1, name);
    }
    /* Now the name so far is that of a pointer, and the access goes through it. */
    LLVMMetadataRef target = pointee(m, at.type);
    LLVMMetadataRef bare = bare_type(m, target);
    if (!target || !bare) {
        name->len = 0;
        return NULL;
    }
    uint64_t bytes = LLVMDITypeGetSizeInBits(bare) / 8;
    bool exact = is_exact(&at.way, bytes);
    bool indexed = !exact || (bytes && (uint64_t)at.way.offset >= bytes);
    if (indexed && exact)
        pt_buf_printf(name, "[%llu]", (unsigned long long)at.way.offset / bytes);
    else if (indexed)
        pt_buf_puts(name, "[]");
    if (bytes)
        at.way.offset %= (int64_t)bytes;
    at.separator = indexed ? "." : "->";
    at.type = target;
    size_t before = name->len;
    LLVMMetadataRef result = add_path(m, at, name);
    if (name->len == before && !indexed) { /* *p: in front of what was written for p */
        struct pt_buf starred;
        pt_buf_init(&starred);
        pt_buf_printf(&starred, "*%.*s", (int)name->len, name->text ? name->text : "");
        name->len = 0;
        pt_buf_add(name, starred.text, starred.len);
        pt_buf_release(&starred);
    }
    return result;
}

void pt_name_object(struct pt_module *m, LLVMValueRef object, int64_t offset, uint64_t size, struct pt_buf *name)
{
    bool global = LLVMIsAGlobalVariable(object);
    const struct pt_noted_local *local = global ? NULL : local_variable(m, object);
    LLVMMetadataRef variable = global ? global_variable(m, object) : local ? local->variable : NULL;
    name->len = 0;
    if (variable && global)
        add_scope(m, operand(m, variable, OPERAND_VAR_SCOPE), 0, name);
    if (!variable || !add_text(m, variable, OPERAND_VAR_NAME, name)) {
        size_t len;
        pt_buf_puts(name, LLVMGetValueName2(object, &len));
        return;
    }
    struct place at = {.type = operand(m, variable, OPERAND_VAR_TYPE), .separator = ".", .size = size};
    at.way.offset = offset;
    if (offset >= 0)
        add_path(m, at, name);
}

static void name_memory(struct pt_module *m, LLVMValueRef address, uint64_t size, struct pt_buf *name)
{
    name->len = 0;
    if (address)
        add_memory(m, address, size, 0, name);
    if (name->len > MAX_NAME)
        name->len = 0;
    pt_buf_add(name, "", 0);
}

void pt_name_access(struct pt_module *m, const struct pt_hooked_access *access, struct pt_buf *name)
{
    LLVMValueRef size = access->size == PT_NONE ? NULL : LLVMGetOperand(access->inst, access->size);
    uint64_t bytes = size && LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
    bool nameless = access->address == PT_NONE;
    if (access->kind == PT_ACCESS_CALL) {
        bytes = access->row->bytes;
        nameless |= bytes == 0; /* the event is about a thread, not about where its handle is kept */
    }
    name_memory(m, nameless ? NULL : LLVMGetOperand(access->inst, access->address), bytes, name);
}

bool pt_has_other(const struct pt_hooked_access *access)
{
    return access->kind == PT_ACCESS_COPY || access->kind == PT_ACCESS_STRING ||
           (access->kind == PT_ACCESS_CALL && access->row->waits);
}

void pt_name_other(struct pt_module *m, const struct pt_hooked_access *access, struct pt_buf *name)
{
    struct pt_hooked_access source = *access;
    if (access->kind == PT_ACCESS_CALL) {
        unsigned mutex = pt_operand(access->row->mutex);
        name_memory(m, mutex == PT_NONE ? NULL : LLVMGetOperand(access->inst, mutex), sizeof(pthread_mutex_t), name);
        return;
    }
    source.address = pt_operand(access->row->source);
    pt_name_access(m, &source, name);
}

unsigned pt_kind_of_name(const struct pt_module *m, const struct pt_hooked_access *access, bool other)
{
    bool second = access->kind == PT_ACCESS_LIBRARY_READ && access->other != PT_NONE && access->other < access->address;
    return other || second ? m->kind_other_name : m->kind_name;
}

/* Notes that `variable` lives in (an address) or is (a value, with so much added) the first operand of a debug
 * intrinsic. Not worth noting:
 * variables of a library's inlined functions (std::mutex's `this`), and structures with a pointer in them (a
 * std::lock_guard), which are not what it points to. */
static void note_local(struct pt_module *m, LLVMValueRef value, uint64_t added, LLVMMetadataRef variable)
{
    LLVMMetadataRef type = bare_type(m, operand(m, variable, OPERAND_VAR_TYPE));
    if (pt_is_library_scope(operand(m, variable, OPERAND_VAR_SCOPE)) ||
        (!LLVMIsAAllocaInst(value) && is_kind(type, LLVMDICompositeTypeMetadataKind)))
        return;
    struct pt_noted_local noted = {.variable = variable, .added = added};
    uint32_t *slot = pt_map64_at(&m->local_variables, pt_key(value));
    if (*slot != PT_NONE) { /* a thread's `void *arg` and the typed pointer made of it: the latter tells more */
        if (!pointee(m, operand(m, m->debug_variables[*slot].variable, OPERAND_VAR_TYPE)))
            m->debug_variables[*slot] = noted;
        return;
    }
    *slot = (uint32_t)m->debug_variable_count;
    PT_PUSH(m->debug_variables, m->debug_variable_count, m->debug_variable_cap, noted);
}

/* What a debug expression adds to a value: nothing, or a number, as for the address of a member. False: it is something
 * else, so that the variable has to do with the value, but is not it. */
static bool is_added(struct pt_module *m, LLVMMetadataRef expression, uint64_t *ret_bytes)
{
    static const char add[] = "!DIExpression(DW_OP_plus_uconst, ";
    if (!m->no_expression) { /* uniqued, so that there is one in a context */
        LLVMDIBuilderRef builder = LLVMCreateDIBuilder(m->module);
        m->no_expression = LLVMDIBuilderCreateExpression(builder, NULL, 0);
        LLVMDisposeDIBuilder(builder);
    }
    *ret_bytes = 0;
    if (expression == m->no_expression)
        return true;
    char *text = LLVMPrintValueToString(LLVMMetadataAsValue(m->context, expression)), *end = NULL;
    if (strncmp(text, add, sizeof add - 1) == 0)
        *ret_bytes = strtoull(text + sizeof add - 1, &end, 10);
    bool is = end && (strcmp(end, ")") == 0 || strcmp(end, ", DW_OP_stack_value)") == 0);
    LLVMDisposeMessage(text);
    return is;
}

static void note_intrinsic(struct pt_module *m, LLVMValueRef call)
{
    const char *name = pt_callee_name(call);
    if (strcmp(name, "llvm.dbg.declare") != 0 && strcmp(name, "llvm.dbg.value") != 0)
        return;
    LLVMValueRef where = LLVMGetOperand(call, 0), value = NULL;
    LLVMMetadataRef place = LLVMValueAsMetadata(where), variable = LLVMValueAsMetadata(LLVMGetOperand(call, 1));
    uint64_t added;
    if (!is_kind(place, LLVMLocalAsMetadataMetadataKind) || !is_kind(variable, LLVMDILocalVariableMetadataKind) ||
        !is_added(m, LLVMValueAsMetadata(LLVMGetOperand(call, 2)), &added))
        return;
    LLVMGetMDNodeOperands(where, &value);
    /* dbg.value of an address says what a pointer variable holds, not where the variable lives. */
    if (value && (name[9] == 'd' ? added == 0 : !LLVMIsAAllocaInst(value)))
        note_local(m, value, added, variable);
}

#if LLVM_VERSION_MAJOR >= 22
/* What the intrinsics became: records in front of an instruction. (In 19 rewrite.c turns them back.) */
static void note_records(struct pt_module *m, LLVMValueRef inst)
{
    for (LLVMDbgRecordRef record = LLVMGetFirstDbgRecord(inst); record; record = LLVMGetNextDbgRecord(record)) {
        LLVMDbgRecordKind kind = LLVMDbgRecordGetKind(record);
        if (kind != LLVMDbgRecordDeclare && kind != LLVMDbgRecordValue)
            continue;
        LLVMValueRef value = LLVMDbgVariableRecordGetValue(record, 0);
        LLVMMetadataRef variable = LLVMDbgVariableRecordGetVariable(record);
        uint64_t added;
        if (value && variable && !LLVMIsConstant(value) &&
            is_added(m, LLVMDbgVariableRecordGetExpression(record), &added) &&
            (kind == LLVMDbgRecordDeclare ? added == 0 : !LLVMIsAAllocaInst(value)))
            note_local(m, value, added, variable);
    }
}
#else
static void note_records(struct pt_module *m, LLVMValueRef inst)
{
    (void)m, (void)inst;
}
#endif

void pt_find_locals(struct pt_module *m, LLVMValueRef function)
{
    pt_map64_release(&m->local_variables);
    pt_map64_init(&m->local_variables);
    m->debug_variable_count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
            note_records(m, inst);
            if (LLVMGetInstructionOpcode(inst) == LLVMCall)
                note_intrinsic(m, inst);
        }
}

/* With its place, which the optimiser takes from what it moves out of a loop: the file, and a number for line and
 * column. */
static void note(struct pt_module *m, LLVMValueRef inst, unsigned kind, const struct pt_buf *name)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
    LLVMMetadataRef file = location ? LLVMDIScopeGetFile(LLVMDILocationGetScope(location)) : NULL;
    unsigned len = 0;
    const char *path = file ? LLVMDIFileGetFilename(file, &len) : "";
    uint64_t line = location ? LLVMDILocationGetLine(location) : 0;
    uint64_t column = location ? LLVMDILocationGetColumn(location) : 0;
    LLVMMetadataRef noted[] = {LLVMMDStringInContext2(m->context, name->text, name->len),
                               LLVMMDStringInContext2(m->context, path, len),
                               LLVMValueAsMetadata(LLVMConstInt(m->i64, line << 32 | column, false))};
    LLVMSetMetadata(inst, kind, LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, noted, 3)));
}

void pt_note_names(struct pt_module *m, LLVMValueRef function)
{
    struct pt_buf name;
    pt_buf_init(&name);
    pt_find_accesses(m, function);
    pt_find_locals(m, function);
    for (size_t i = 0; i < m->access_count; i++) {
        const struct pt_hooked_access *access = &m->accesses[i];
        pt_name_access(m, access, &name);
        note(m, access->inst, pt_kind_of_name(m, access, false), &name);
        if (pt_has_other(access)) {
            pt_name_other(m, access, &name);
            note(m, access->inst, m->kind_other_name, &name);
        }
    }
    pt_buf_release(&name);
}

enum { NOTED_NAME, NOTED_FILE, NOTED_NUMBER, NOTED };

static bool get_noted(LLVMValueRef inst, unsigned kind, LLVMValueRef ret_noted[NOTED])
{
    LLVMValueRef node = LLVMGetMetadata(inst, kind);
    if (!node || LLVMGetMDNodeNumOperands(node) != NOTED)
        return false;
    LLVMGetMDNodeOperands(node, ret_noted);
    return true;
}

void pt_noted_place(struct pt_module *m, LLVMValueRef inst, struct pt_place *place)
{
    LLVMValueRef noted[NOTED];
    if (!get_noted(inst, m->kind_name, noted))
        return;
    uint64_t number = LLVMConstIntGetZExtValue(noted[NOTED_NUMBER]);
    place->file = LLVMGetMDString(noted[NOTED_FILE], &place->len);
    place->line = (unsigned)(number >> 32);
    place->column = (unsigned)number;
}

bool pt_noted_name(LLVMValueRef inst, unsigned kind, struct pt_buf *name)
{
    LLVMValueRef noted[NOTED];
    unsigned len = 0;
    if (!get_noted(inst, kind, noted))
        return false;
    const char *chars = LLVMGetMDString(noted[NOTED_NAME], &len);
    name->len = 0;
    pt_buf_add(name, chars, len);
    return true;
}
