/*
 * Whole files for commands: property files, results, monitor modules, and files that appear under their name only when
 * they are whole (written beside it and renamed). A file that is too large or a module that cannot be loaded is an
 * error with a reason, never a crash: a shared library is checked for truncation before dlopen. Memory holds one file
 * at a time.
 */
#include "cli/common/file.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/common/pattern.h"
#include "cli/common/whatis.h"
#include "portent-monitor.h"
#include "report/result.h"
#include "trace/format.h"

/* Property and HOA files are written by people or small tools; more than this is a device or a mistake. */
static const size_t max_file = (size_t)64 << 20;
/* Traces up to this size are read again to show one of their lines: that takes about a second. */
static const off_t max_trace_read_again = (off_t)1 << 30;

enum pt_status pt_file_read(const char *path, char **ret_text, size_t *ret_len, struct pt_err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        (void)pt_err_at(err, PT_EIO, path, 0, 0, "cannot open '%s': %s", path, strerror(errno));
        return PT_EIO;
    }
    char *text = NULL;
    size_t len = 0, cap = 0, n;
    do {
        PT_GROW(text, cap, len + 4096);
        n = fread(text + len, 1, cap - len - 1, file);
        len += n;
    } while (n > 0 && len <= max_file);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed || len > max_file) {
        free(text);
        if (failed)
            (void)pt_err_at(err, PT_EIO, path, 0, 0, "cannot read '%s': %s", path, strerror(failed));
        else
            (void)pt_err_at(err, PT_EIO, path, 0, 0, "'%s' is larger than %zu MiB", path, max_file >> 20);
        return PT_EIO;
    }
    text[len] = '\0';
    *ret_text = text;
    *ret_len = len;
    return PT_OK;
}

static enum pt_status fetch(void *context, const char *path, char **ret_text, size_t *ret_len, struct pt_err *err)
{
    (void)context;
    if (strncmp(path, PT_FETCH_PATTERN, sizeof PT_FETCH_PATTERN - 1) == 0)
        return pt_pattern_fetch(path + sizeof PT_FETCH_PATTERN - 1, ret_text, ret_len, err);
    return pt_file_read(path, ret_text, ret_len, err);
}

enum pt_status pt_file_result(const char *path, struct pt_loaded **ret_loaded, struct pt_err *err)
{
    char *text;
    size_t len;
    enum pt_status status = pt_file_read(path, &text, &len, err);
    if (status != PT_OK)
        return status;
    status = pt_result_read(path, text, len, ret_loaded, err);
    free(text);
    if (status != PT_OK)
        pt_whatis_mend(path, PT_FILE_RESULT, err);
    return status;
}

enum pt_status pt_file_properties(struct pt_properties *props, const char *path, struct pt_err *err)
{
    char *text;
    size_t len;
    enum pt_status status = pt_file_read(path, &text, &len, err);
    if (status != PT_OK)
        return status;
    status = pt_properties_add(props, path, text, len, fetch, NULL, err);
    free(text);
    if (status != PT_OK)
        pt_whatis_mend(path, PT_FILE_PROPERTIES, err);
    return status;
}

/*
 * Whether the file holds all that its ELF program headers promise. dlopen of one that was cut short ends in SIGBUS,
 * which nobody can tell from a crash of ours.
 */
static bool is_whole_elf(const char *path)
{
    Elf64_Ehdr header;
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file)
        return true; /* dlopen will say why */
    bool whole = fstat(fileno(file), &info) == 0 && fread(&header, sizeof header, 1, file) == 1;
    if (whole && (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr))) {
        fclose(file);
        return true; /* another kind of file: dlopen refuses it cleanly */
    }
    for (uint32_t i = 0; whole && i < header.e_phnum; i++) {
        Elf64_Phdr part;
        whole = fseek(file, (long)(header.e_phoff + i * sizeof part), SEEK_SET) == 0 &&
                fread(&part, sizeof part, 1, file) == 1 &&
                (part.p_type != PT_LOAD || part.p_offset + part.p_filesz <= (uint64_t)info.st_size);
    }
    fclose(file);
    return whole;
}

static const char *name_given_twice(const char *const *names)
{
    for (size_t i = 0; names && names[i]; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return names[i];
    return NULL;
}

static const char *module_fault(const struct portent_monitor *module)
{
    if (!module)
        return "portent_monitor() returned NULL";
    if (module->abi != PORTENT_MONITOR_ABI)
        return "was built for another version of portent-monitor.h";
    if (!module->name || !module->name[0])
        return "has no name";
    if (!module->variables)
        return "has no list of variables (an empty one is just NULL)";
    if (module->state_size < 1 || module->state_size > 1u << 20)
        return "has a state size that is not between 1 byte and 1 MiB";
    if (name_given_twice(module->variables) || name_given_twice(module->events))
        return "lists a variable or an event twice";
    if (!module->init || !module->step || !module->is_bad || !module->hash || !module->equal)
        return "lacks one of init, step, is_bad, hash, equal";
    return NULL;
}

enum pt_status pt_file_module(const char *path, const struct portent_monitor **ret_module, struct pt_err *err)
{
    /* Without a slash dlopen would search the system's libraries and not look here. */
    struct pt_buf local;
    pt_buf_init(&local);
    pt_buf_printf(&local, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (!is_whole_elf(local.text)) {
        pt_buf_release(&local);
        return pt_err_at(err, PT_EINPUT, path, 0, 0, "cannot be loaded: the file is shorter than its headers say");
    }
    void *library = dlopen(local.text, RTLD_NOW | RTLD_LOCAL);
    pt_buf_release(&local);
    if (!library)
        return pt_err_at(err, PT_EINPUT, path, 0, 0, "cannot be loaded: %s", dlerror());

    const struct portent_monitor *(*entry)(void);
    void *symbol = dlsym(library, "portent_monitor");
    const struct portent_monitor *module = NULL;
    const char *fault = "does not export portent_monitor()";
    if (symbol) {
        memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from data to function pointers */
        module = entry();
        fault = module_fault(module);
    }
    if (fault) {
        (void)pt_err_at(err, PT_EINPUT, path, 0, 0, "%s", fault);
        dlclose(library);
        return PT_EINPUT;
    }
    *ret_module = module;
    return PT_OK;
}

bool pt_file_is_json(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false; /* the reader will say why */
    int c = ' ';
    for (int i = 0; i < 4096 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'); i++)
        c = fgetc(file);
    fclose(file);
    return c == '{';
}

enum pt_status pt_file_temporary(const char *path, char **ret_name, struct pt_err *err)
{
    struct pt_buf name;
    pt_buf_init(&name);
    pt_buf_printf(&name, "%s.XXXXXX", path);
    int fd = mkstemp(name.text);
    if (fd < 0) {
        (void)pt_err_at(err, PT_EIO, path, 0, 0, "cannot write: %s", strerror(errno));
        pt_buf_release(&name);
        return PT_EIO;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, 0666 & ~mask); /* at worst the file stays private */
    close(fd);
    *ret_name = pt_buf_take(&name);
    return PT_OK;
}

static bool write_all(const char *path, const struct pt_buf *buf)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool good = buf->len == 0 || fwrite(buf->text, 1, buf->len, file) == buf->len;
    return (fclose(file) == 0) && good;
}

enum pt_status pt_file_write(const char *path, const struct pt_buf *buf, struct pt_err *err)
{
    struct stat info;
    char *temporary = NULL;
    bool special = stat(path, &info) == 0 && !S_ISREG(info.st_mode); /* /dev/null must stay what it is */
    enum pt_status status = special ? PT_OK : pt_file_temporary(path, &temporary, err);
    if (status != PT_OK)
        return status;
    if (!write_all(special ? path : temporary, buf) || (!special && rename(temporary, path) != 0))
        status = pt_err_at(err, PT_EIO, path, 0, 0, "cannot write: %s", strerror(errno));
    if (status != PT_OK && temporary)
        unlink(temporary);
    free(temporary);
    return status;
}

void pt_file_show_line(const char *path, struct pt_err *err)
{
    struct stat info;
    if (err->source[0] || !err->line || stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size > max_trace_read_again || pt_format_of_file(path)->unit != PT_UNIT_LINE)
        return;
    FILE *file = fopen(path, "rb");
    char *line = NULL;
    size_t cap = 0;
    ssize_t len = 0;
    for (uint64_t n = 0; file && len >= 0 && n < err->line; n++)
        len = getline(&line, &cap, file);
    if (file && len > 0) {
        const char *clock = strstr(line, "|c=");
        pt_err_source(err, line, strcspn(line, "\r\n"));
        if (!err->column)
            err->column = clock ? (uint32_t)(clock - line) + 2 : 1;
    }
    free(line);
    if (file)
        fclose(file);
}
