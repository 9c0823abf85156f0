/* The rows of core/sync.def: that each makes sense in itself, and is found by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/channel.h"
#include "core/sync.h"

static const struct pt_sync_row *find(const char *name)
{
    return pt_sync_find(name, strlen(name));
}

static void every_row_is_found_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < PT_SYNC_ID_COUNT; i++) {
        assert_ptr_equal(find(pt_sync_rows[i].name), &pt_sync_rows[i]);
        assert_int_equal(pt_sync_id(&pt_sync_rows[i]), i);
    }
    assert_null(find("pthread_mutex_"));
    assert_null(find("pthread_mutex_locked"));
    assert_null(find(""));
}

static void intrinsics_have_the_row_of_their_function(void **state)
{
    (void)state;
    assert_ptr_equal(find("llvm.memcpy.p0i8.p0i8.i64"), find("memcpy"));
    assert_ptr_equal(find("llvm.memset.p0.i64"), find("memset"));
    assert_null(find("llvm.free.i64"));
    assert_null(find("llvm.memcpy"));
    assert_null(find("llvm."));
}

static void rows_are_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < PT_SYNC_ID_COUNT; i++) {
        const struct pt_sync_row *row = &pt_sync_rows[i];
        /* objects without memory of their own, memory that no argument points to, and threads by pointers of their
         * library */
        bool elsewhere = row->wrapper == PT_SYNC_WRAPPER_OPENMP || row->kernel || row->carried ||
                         row->effect == PT_KIND_FREED || row->effect == PT_KIND_FORK || row->effect == PT_KIND_JOIN;
        if (row->effect != PT_KIND_NONE && row->object == 0 && !elsewhere)
            fail_msg("%s has an effect, but no object", row->name);
        if (row->effect != PT_KIND_NONE && row->object != 0 && row->bytes == 0 && row->effect != PT_KIND_FORK &&
            row->effect != PT_KIND_JOIN && row->effect != PT_KIND_FREED)
            fail_msg("nobody knows the size of the object of %s", row->name);
        if (row->waits != (row->effect == PT_KIND_WAIT && !row->carried))
            fail_msg("%s waits for a condition, or does it not?", row->name);
        if (row->carried && row->effect != PT_KIND_NOTIFY && row->effect != PT_KIND_WAIT)
            fail_msg("%s puts nothing in, and takes nothing out", row->name);
        if (pt_sync_may_fail(row) && row->failure == row->success)
            fail_msg("the results of %s do not tell failure from success", row->name);
        if (row->effect == PT_KIND_FORK && row->wrapper != PT_SYNC_WRAPPER_NONE && row->function == 0)
            fail_msg("%s starts nothing", row->name);
    }
}

static void extents_have_what_they_need(void **state)
{
    (void)state;
    for (size_t i = 0; i < PT_SYNC_ID_COUNT; i++) {
        const struct pt_sync_row *row = &pt_sync_rows[i];
        if ((row->buffer == 0) != (row->extent == PT_SYNC_NOTHING))
            fail_msg("%s fills something, or does it not?", row->name);
        if ((row->extent == PT_SYNC_FIXED) != (row->type != 0))
            fail_msg("a fixed extent has a type: %s", row->name);
        if ((row->extent == PT_SYNC_SIZED && row->size == 0) || (row->count != 0 && row->size == 0))
            fail_msg("%s has no size", row->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_its_name),
        cmocka_unit_test(intrinsics_have_the_row_of_their_function),
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(extents_have_what_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
