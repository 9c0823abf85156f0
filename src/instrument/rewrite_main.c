/*
 * portent-rewrite: the rewriting in a process of its own, between the halves of a compilation whose clang cannot load
 * the plug-in (driver.c).
 *
 *   portent-rewrite ORDERS INPUT OUTPUT
 */
#include <stdio.h>

#include "instrument/rewrite.h"

int main(int argc, char **argv)
{
    struct pt_orders orders = {0};
    struct pt_arena arena;
    struct pt_err err = {0};
    if (argc != 4) {
        fprintf(stderr, "portent-rewrite: error: this program is started by 'portent cc' and 'portent c++'\n");
        return 2;
    }
    pt_arena_init(&arena);
    enum pt_status status = pt_orders_read(&orders, argv[1], &arena, &err);
    if (status == PT_OK)
        status = pt_rewrite_file(argv[2], argv[3], &orders, &err);
    pt_orders_release(&orders);
    pt_arena_release(&arena);
    if (status != PT_OK)
        fprintf(stderr, "portent: error: %s\n", err.message);
    return status == PT_OK ? 0 : 1;
}
