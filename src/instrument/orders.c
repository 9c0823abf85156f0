/* Orders as bytes: texts that end in NUL, lists with their length in front. Both sides are of one build. */
#include "instrument/orders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

char *pt_read_whole(const char *path, size_t *ret_len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0)
        return NULL;
    char *text = NULL;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        size_t size = (size_t)info.st_size, have = 0;
        text = pt_xmalloc(size + 1);
        ssize_t got;
        while (have < size && (got = read(fd, text + have, size - have)) > 0)
            have += (size_t)got;
        text[have] = '\0';
        *ret_len = have;
    }
    close(fd);
    return text;
}

static void put(struct pt_buf *to, const char *text)
{
    pt_buf_add(to, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static void put_list(struct pt_buf *to, const struct pt_args *list)
{
    char count[32];
    snprintf(count, sizeof count, "%zu", list->n);
    put(to, count);
    for (size_t i = 0; i < list->n; i++)
        put(to, list->v[i]);
}

enum { LISTS = 7 };

static void list_lists(struct pt_orders *orders, struct pt_args *ret_lists[LISTS])
{
    struct pt_choice *choice = &orders->choice;
    struct pt_args *lists[LISTS] = {&orders->tsan_job,       &choice->only_files,    &choice->skip_files,
                                    &choice->skip_functions, &choice->ignored_files, &choice->ignored_functions,
                                    &choice->ignored_units};
    memcpy(ret_lists, lists, sizeof lists);
}

enum pt_status pt_orders_write(const struct pt_orders *orders, const char *path, struct pt_err *err)
{
    struct pt_orders copy = *orders;
    struct pt_args *lists[LISTS];
    struct pt_buf text;
    list_lists(&copy, lists);
    pt_buf_init(&text);
    put(&text, orders->optimize ? "optimize" : "");
    put(&text, orders->locals ? "locals" : "");
    put(&text, orders->verify ? "verify" : "");
    put(&text, orders->level);
    put(&text, orders->folder);
    put(&text, orders->source);
    put(&text, orders->headers);
    put(&text, orders->tsan_bitcode);
    for (size_t i = 0; i < LISTS; i++)
        put_list(&text, lists[i]);
    FILE *file = fopen(path, "wbe");
    bool good = file && fwrite(text.text, text.len, 1, file) == 1;
    if (file && fclose(file) != 0)
        good = false;
    pt_buf_release(&text);
    return good ? PT_OK : pt_err_set(err, PT_EIO, "cannot write %.300s: %s", path, strerror(errno));
}

struct cursor {
    const char *at; /* a NUL follows the last one */
    const char *end;
    struct pt_arena *arena;
};

/* NULL for the empty text. */
static const char *take(struct cursor *cursor)
{
    size_t len = strlen(cursor->at);
    const char *text = len ? pt_arena_strndup(cursor->arena, cursor->at, len) : NULL;
    cursor->at += cursor->at + len < cursor->end ? len + 1 : len;
    return text;
}

static void take_list(struct cursor *cursor, struct pt_args *list)
{
    const char *count = take(cursor);
    for (size_t n = count ? strtoul(count, NULL, 10) : 0; n > 0; n--) {
        const char *text = take(cursor);
        pt_args_add(list, text ? text : "");
    }
}

enum pt_status pt_orders_read(struct pt_orders *ret_orders, const char *path, struct pt_arena *arena,
                              struct pt_err *err)
{
    size_t len = 0;
    char *text = pt_read_whole(path, &len);
    if (!text)
        return pt_err_set(err, PT_EIO, "cannot read %.300s: %s", path, strerror(errno));
    struct cursor cursor = {text, text + len, arena};
    struct pt_args *lists[LISTS];
    *ret_orders = (struct pt_orders){0};
    list_lists(ret_orders, lists);
    ret_orders->optimize = take(&cursor) != NULL;
    ret_orders->locals = take(&cursor) != NULL;
    ret_orders->verify = take(&cursor) != NULL;
    ret_orders->level = take(&cursor);
    ret_orders->folder = take(&cursor);
    ret_orders->source = take(&cursor);
    ret_orders->headers = take(&cursor);
    ret_orders->tsan_bitcode = take(&cursor);
    for (size_t i = 0; i < LISTS; i++)
        take_list(&cursor, lists[i]);
    free(text);
    return PT_OK;
}

void pt_orders_release(struct pt_orders *orders)
{
    struct pt_args *lists[LISTS];
    list_lists(orders, lists);
    for (size_t i = 0; i < LISTS; i++)
        pt_args_release(lists[i]);
}
