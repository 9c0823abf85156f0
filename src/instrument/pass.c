/* The rewriting inside of clang. The driver has left its orders in a file. */
#include "instrument/pass.h"

#include <stdio.h>
#include <stdlib.h>

#include "instrument/registers.h"
#include "instrument/rewrite.h"

bool pt_pass_run(struct LLVMOpaqueModule *module, bool *ret_optimized)
{
    const char *path = getenv(PT_ORDERS_VARIABLE);
    struct pt_orders orders = {0};
    struct pt_arena arena;
    struct pt_err err = {0};
    pt_arena_init(&arena);
    enum pt_status status = path ? pt_orders_read(&orders, path, &arena, &err)
                                 : pt_err_set(&err, PT_EINPUT, "this plug-in is loaded by 'portent cc' alone");
    if (status == PT_OK)
        status = pt_rewrite_module(module, &orders, &err);
    *ret_optimized = orders.level != NULL;
    if (orders.level)
        pt_choose_registers();
    pt_orders_release(&orders);
    pt_arena_release(&arena);
    if (status != PT_OK)
        fprintf(stderr, "portent: error: %s\n", err.message);
    return status == PT_OK;
}
