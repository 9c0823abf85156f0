/*
 * DT_NEEDED, breadth first, each name looked for where ld.so(8) looks: DT_RPATH (when there is no DT_RUNPATH),
 * LD_LIBRARY_PATH, DT_RUNPATH, the cache, the usual folders. Preloaded libraries and glibc's hardware-specific
 * subfolders are not looked at: an instrumented library in one of them has to be named to the observer.
 *
 * Cost: one look at the dynamic section of each library, and a linear search of the cache for each name.
 */
#include "trace/libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

enum { MAX_LIBRARIES = 1000 };

static const char cache_path[] = "/etc/ld.so.cache";
static const char usual_folders[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"
                                    "/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";

/* glibc's cache file: this header, the entries, then strings; offsets count from the header's start. */
struct cache_header {
    char magic[20]; /* "glibc-ld.so.cache1.1" */
    uint32_t count, string_bytes;
    uint8_t flags, padding[3];
    uint32_t extension, unused[3];
};
struct cache_entry {
    int32_t flags;
    uint32_t key, value; /* offsets of the name and the path */
    uint32_t os_version;
    uint64_t hwcap; /* not 0: a variant for some processors */
};

struct search {
    struct pt_libraries *libraries;
    const char *library_path;
    const char *cache;
    size_t cache_bytes;
    int machine, class; /* of the program: libraries for others are passed over */
};

/* What one file's dynamic section says. */
struct needs {
    char **names;
    uint32_t count;
    size_t cap;
    char *rpath, *runpath;
};

static void needs_release(struct needs *needs)
{
    for (uint32_t i = 0; i < needs->count; i++)
        free(needs->names[i]);
    free(needs->names);
    free(needs->rpath);
    free(needs->runpath);
}

static void read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct needs *needs)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH)
            continue;
        const char *text = elf_strptr(elf, header->sh_link, (size_t)entry.d_un.d_val);
        if (!text)
            continue;
        char **place = entry.d_tag == DT_RPATH ? &needs->rpath : &needs->runpath;
        if (entry.d_tag == DT_NEEDED && needs->count < MAX_LIBRARIES)
            PT_PUSH(needs->names, needs->count, needs->cap, pt_xstrdup(text));
        else if (entry.d_tag != DT_NEEDED && !*place)
            *place = pt_xstrdup(text);
    }
}

/* False when the file is no ELF file for the same machine; the first file decides which machine. */
static bool read_needs(struct search *s, const char *path, struct needs *ret_needs)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    bool good = elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header);
    if (good && s->machine == EM_NONE) {
        s->machine = header.e_machine;
        s->class = header.e_ident[EI_CLASS];
    }
    good = good && header.e_machine == s->machine && header.e_ident[EI_CLASS] == s->class;
    *ret_needs = (struct needs){0};
    Elf_Scn *section = NULL;
    GElf_Shdr section_header;
    while (good && (section = elf_nextscn(elf, section))) {
        if (gelf_getshdr(section, &section_header) && section_header.sh_type == SHT_DYNAMIC)
            read_dynamic(elf, section, &section_header, ret_needs);
    }
    elf_end(elf);
    close(fd);
    return good;
}

/* Is it there, and for this machine? */
static bool usable(const struct search *s, const char *path)
{
    unsigned char head[EI_NIDENT + 4];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, head, sizeof head);
    close(fd);
    return n == (ssize_t)sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == s->class &&
           (head[EI_NIDENT + 2] | head[EI_NIDENT + 3] << 8) == s->machine;
}

/* Appends a folder of a search path, with $ORIGIN replaced by the folder of `owner`. */
static void put_folder(struct pt_buf *buf, const char *folder, size_t len, const char *owner)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    const char *slash = strrchr(owner, '/');
    for (size_t i = 0; i < len;) {
        size_t skip = 0;
        for (size_t o = 0; o < 2; o++) {
            size_t n = strlen(origins[o]);
            if (len - i >= n && memcmp(folder + i, origins[o], n) == 0)
                skip = n;
        }
        if (skip && slash)
            pt_buf_add(buf, owner, (size_t)(slash - owner));
        else if (skip)
            pt_buf_puts(buf, ".");
        else
            pt_buf_add(buf, folder + i, skip = 1);
        i += skip;
    }
}

static char *find_in(const struct search *s, const char *folders, const char *name, const char *owner)
{
    for (const char *at = folders; at && *at;) {
        size_t len = strcspn(at, ":;");
        struct pt_buf buf;
        pt_buf_init(&buf);
        put_folder(&buf, len ? at : ".", len ? len : 1, owner);
        pt_buf_printf(&buf, "/%s", name);
        if (usable(s, buf.text))
            return pt_buf_take(&buf);
        pt_buf_release(&buf);
        at += len + (at[len] != '\0');
    }
    return NULL;
}

static const char *cache_string(const struct search *s, uint32_t offset)
{
    if (offset >= s->cache_bytes || !memchr(s->cache + offset, '\0', s->cache_bytes - offset))
        return NULL;
    return s->cache + offset;
}

static char *find_in_cache(const struct search *s, const char *name)
{
    struct cache_header header;
    if (s->cache_bytes < sizeof header)
        return NULL;
    memcpy(&header, s->cache, sizeof header);
    if (memcmp(header.magic, "glibc-ld.so.cache1.1", sizeof header.magic) != 0 ||
        header.count > (s->cache_bytes - sizeof header) / sizeof(struct cache_entry))
        return NULL;
    for (uint32_t i = 0; i < header.count; i++) {
        struct cache_entry entry;
        memcpy(&entry, s->cache + sizeof header + i * sizeof entry, sizeof entry);
        const char *key = cache_string(s, entry.key), *value = cache_string(s, entry.value);
        if (key && value && entry.hwcap == 0 && strcmp(key, name) == 0 && usable(s, value))
            return pt_xstrdup(value);
    }
    return NULL;
}

static char *find_library(const struct search *s, const struct needs *needs, const char *name, const char *owner)
{
    if (strchr(name, '/'))
        return usable(s, name) ? pt_xstrdup(name) : NULL;
    char *found = needs->runpath ? NULL : find_in(s, needs->rpath, name, owner);
    if (!found)
        found = find_in(s, s->library_path, name, owner);
    if (!found)
        found = find_in(s, needs->runpath, name, owner);
    if (!found)
        found = find_in_cache(s, name);
    return found ? found : find_in(s, usual_folders, name, owner);
}

static bool is_known(const struct pt_libraries *libraries, const char *path)
{
    for (uint32_t i = 0; i < libraries->count; i++) {
        if (strcmp(libraries->paths[i], path) == 0)
            return true;
    }
    return false;
}

static void add_needed(struct search *s, const char *owner)
{
    struct needs needs;
    if (!read_needs(s, owner, &needs))
        return;
    for (uint32_t i = 0; i < needs.count && s->libraries->count < MAX_LIBRARIES; i++) {
        char *path = find_library(s, &needs, needs.names[i], owner);
        if (path && !is_known(s->libraries, path))
            PT_PUSH(s->libraries->paths, s->libraries->count, s->libraries->cap, path);
        else
            free(path);
    }
    needs_release(&needs);
}

static void map_cache(struct search *s)
{
    int fd = open(cache_path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            s->cache = bytes;
            s->cache_bytes = (size_t)status.st_size;
        }
    }
    close(fd);
}

void pt_libraries_find(const char *program, const char *search, struct pt_libraries *libraries)
{
    struct search s = {.libraries = libraries, .library_path = search, .machine = EM_NONE};
    uint32_t next = libraries->count;
    elf_version(EV_CURRENT);
    map_cache(&s);
    /* $ORIGIN is the folder of the file itself, not of a link to it. */
    char *real = realpath(program, NULL);
    add_needed(&s, real ? real : program);
    free(real);
    for (; next < libraries->count; next++)
        add_needed(&s, libraries->paths[next]);
    if (s.cache)
        munmap((void *)(uintptr_t)s.cache, s.cache_bytes);
}

void pt_libraries_release(struct pt_libraries *libraries)
{
    for (uint32_t i = 0; i < libraries->count; i++)
        free(libraries->paths[i]);
    free(libraries->paths);
    *libraries = (struct pt_libraries){0};
}
