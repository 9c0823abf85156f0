/* The constants that tell the runtime where an access stands (core/site.h): one per distinct place, texts shared. */
#include "instrument/module.h"

#include <string.h>

static LLVMValueRef add_constant(struct pt_module *m, LLVMValueRef value, const char *name)
{
    LLVMValueRef global = LLVMAddGlobal(m->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return global;
}

LLVMValueRef pt_text_constant(struct pt_module *m, const char *text, size_t len)
{
    uint32_t known = m->strings.count, id = pt_strtab_intern(&m->strings, text, len);
    if (id == known) {
        LLVMValueRef value = LLVMConstStringInContext(m->context, text, (unsigned)len, false);
        LLVMValueRef global = add_constant(m, value, ".portent.text");
        LLVMSetAlignment(global, 1);
        PT_GROW(m->string_values, m->string_cap, id + 1);
        m->string_values[id] = LLVMConstBitCast(global, m->byte_pointer);
    }
    return m->string_values[id];
}

static const char *file_of(LLVMMetadataRef scope, unsigned *ret_len)
{
    LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
    *ret_len = 0;
    return file ? LLVMDIFileGetFilename(file, ret_len) : NULL;
}

/* Is it from a header of the C++ library, as both GCC's and LLVM's are installed, or one of those in which
 * _FORTIFY_SOURCE has glibc wrap its functions? */
bool pt_is_library_scope(LLVMMetadataRef scope)
{
    static const char *const parts[] = {"/include/c++/", "/bits/gthr", "/bits/string_fortified.h",
                                        "/bits/strings_fortified.h", "/bits/stdio2.h"};
    unsigned len;
    const char *file = file_of(scope, &len);
    for (size_t i = 0; file && i < sizeof parts / sizeof *parts; i++)
        if (memmem(file, len, parts[i], strlen(parts[i])))
            return true;
    return false;
}

/* Code of these libraries that was inlined stands where it is used. */
static LLVMMetadataRef without_library(LLVMMetadataRef location)
{
    LLVMMetadataRef outer;
    while (location && (outer = LLVMDILocationGetInlinedAt(location)) != NULL &&
           pt_is_library_scope(LLVMDILocationGetScope(location)))
        location = outer;
    return location;
}

bool pt_is_opted_out(struct pt_module *m, LLVMValueRef inst)
{
    if (m->phase != PT_PHASE_AFTER || (!m->left_alone && m->opted_out.count == 0))
        return false;
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
    LLVMMetadataRef scope = location ? pt_function_scope(m, LLVMDILocationGetScope(location)) : NULL;
    if (!scope)
        return m->left_alone;
    return pt_map64_get(&m->opted_out, (uint64_t)(uintptr_t)scope) != PT_NONE;
}

static LLVMValueRef site_at(struct pt_module *m, LLVMMetadataRef location, LLVMValueRef inst, const char *function,
                            const char *variable);

/* The site of the call that was inlined, a constant; null: none was. The place of the body in it is not the library's.
 */
static LLVMValueRef caller_of(struct pt_module *m, LLVMMetadataRef location, const char *function)
{
    LLVMMetadataRef outer = location ? LLVMDILocationGetInlinedAt(location) : NULL;
    return outer ? site_at(m, without_library(outer), NULL, function, "") : LLVMConstNull(m->byte_pointer);
}

/* `function` is the one whose code this is; what was inlined into it has its own name. */
static LLVMValueRef site_at(struct pt_module *m, LLVMMetadataRef location, LLVMValueRef inst, const char *function,
                            const char *variable)
{
    struct pt_place at = {.line = location ? LLVMDILocationGetLine(location) : 0,
                          .column = location ? LLVMDILocationGetColumn(location) : 0};
    at.file = location ? file_of(LLVMDILocationGetScope(location), &at.len) : NULL;
    if (inst && at.line == 0)
        pt_noted_place(m, inst, &at);
    if (!at.file)
        at.file = "";
    LLVMValueRef caller = caller_of(m, location, function);
    struct pt_buf inlined, key;
    pt_buf_init(&inlined);
    pt_buf_init(&key);
    if (!LLVMIsNull(caller) && pt_name_scope(m, LLVMDILocationGetScope(location), &inlined))
        function = inlined.text;
    const struct {
        LLVMValueRef caller;
        unsigned line, column;
    } where = {caller, at.line, at.column};
    pt_buf_add(&key, (const char *)&where, sizeof where);
    pt_buf_add(&key, at.file, at.len);
    pt_buf_add(&key, "", 1);
    pt_buf_add(&key, function, strlen(function) + 1);
    pt_buf_add(&key, variable, strlen(variable));
    uint32_t known = m->sites.count, id = pt_strtab_intern(&m->sites, key.text, key.len);
    if (id == known) {
        LLVMValueRef fields[] = {pt_text_constant(m, at.file, at.len),
                                 pt_text_constant(m, function, strlen(function)),
                                 pt_text_constant(m, variable, strlen(variable)),
                                 LLVMConstInt(m->i32, at.line, false),
                                 LLVMConstInt(m->i32, at.column, false),
                                 caller};
        LLVMValueRef value = LLVMConstStructInContext(m->context, fields, 6, false);
        PT_GROW(m->site_values, m->site_cap, id + 1);
        m->site_values[id] = LLVMConstBitCast(add_constant(m, value, ".portent.site"), m->byte_pointer);
    }
    pt_buf_release(&inlined);
    pt_buf_release(&key);
    return m->site_values[id];
}

LLVMValueRef pt_site_of_function(struct pt_module *m, LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    LLVMMetadataRef location =
        LLVMDIBuilderCreateDebugLocation(m->context, LLVMDISubprogramGetLine(subprogram), 0, subprogram, NULL);
    struct pt_buf name;
    pt_buf_init(&name);
    pt_name_function(m, function, &name);
    LLVMValueRef site = site_at(m, location, NULL, name.text, "");
    pt_buf_release(&name);
    return site;
}

LLVMValueRef pt_site_of(struct pt_module *m, LLVMValueRef inst, const char *function, const char *variable)
{
    return site_at(m, without_library(LLVMInstructionGetDebugLoc(inst)), inst, function, variable);
}
