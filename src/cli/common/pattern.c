#include "cli/common/pattern.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/suggest.h"
#include "base/table.h"
#include "cli/common/file.h"
#include "cli/common/prefix.h"

static const char folder[] = "share/portent/patterns", ending[] = ".prop";

static bool folder_of(struct pt_buf *path)
{
    char prefix[PATH_MAX];
    if (!pt_prefix_find(prefix, sizeof prefix))
        return false;
    pt_buf_printf(path, "%s/%s", prefix, folder);
    return true;
}

/* The nearest of the files there, or all of them. */
static void hint_patterns(const char *path, const char *name, struct pt_err *err)
{
    struct pt_suggest search;
    struct pt_strtab names;
    struct pt_buf all;
    DIR *there = opendir(path);
    struct dirent *entry;
    pt_strtab_init(&names);
    pt_buf_init(&all);
    pt_suggest_init(&search, name, strlen(name));
    while (there && (entry = readdir(there))) {
        size_t len = strlen(entry->d_name), less = sizeof ending - 1;
        if (len <= less || strcmp(entry->d_name + len - less, ending) != 0)
            continue;
        uint32_t id = pt_strtab_intern(&names, entry->d_name, len - less);
        pt_suggest_offer(&search, pt_strtab_text(&names, id));
        pt_buf_printf(&all, "%s%s", all.len ? ", " : "", pt_strtab_text(&names, id));
    }
    if (there)
        closedir(there);
    if (search.best)
        pt_err_hint(err, "did you mean '%s'?", search.best);
    else if (all.len)
        pt_err_hint(err, "there are %s", all.text);
    else
        pt_err_hint(err, "'%s' is where they should be", path);
    pt_buf_release(&all);
    pt_strtab_release(&names);
}

enum pt_status pt_pattern_fetch(const char *name, char **ret_text, size_t *ret_len, struct pt_err *err)
{
    struct pt_buf path, text;
    char *read = NULL;
    size_t len = 0;
    pt_buf_init(&path);
    if (!folder_of(&path))
        return pt_err_set(err, PT_EINPUT, "it is not known where the patterns are");
    size_t folder_len = path.len;
    pt_buf_printf(&path, "/%s%s", name, ending);
    enum pt_status status = PT_OK;
    if (access(path.text, F_OK) != 0) {
        status = pt_err_set(err, PT_EINPUT, "there is no pattern '%s' in this file or in the library", name);
        path.text[folder_len] = '\0';
        hint_patterns(path.text, name, err);
    } else {
        status = pt_file_read(path.text, &read, &len, err);
    }
    if (status == PT_OK) {
        pt_buf_init(&text);
        pt_buf_add(&text, path.text, path.len + 1); /* with its NUL */
        pt_buf_add(&text, read, len);
        *ret_len = text.len;
        *ret_text = pt_buf_take(&text);
    }
    free(read);
    pt_buf_release(&path);
    return status;
}
