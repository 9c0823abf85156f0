/*
 * Steps from entry to entry against libdw's, for every entry of programs by the compilers there are; and where the unit
 * is said to end too early, so that libdw has to be asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>
#include <dwarf.h>
#include <cmocka.h>

#include "trace/dwarf_skip.h"

static const char program[] =
    "#include <string>\n#include <vector>\n#include <map>\n"
    "namespace ns { struct C { static int count; int m; void run(); enum class E : short { A } e; }; int C::count; }\n"
    "void ns::C::run() { static int calls; calls++; { int local = calls; m += local; } }\n"
    "template <class T> T twice(T x) { static T kept; kept += x; return kept; }\n"
    "int main() { ns::C c = {}; c.run(); std::map<int, std::string> m; m[1] = \"a\"; std::vector<double> v(3);\n"
    "    return twice(c.m) + (int)twice(v[0]) + m.size(); }\n";

static char folder[] = "/tmp/portent-skip-XXXXXX";

static bool have(const char *compiler)
{
    char command[200];
    snprintf(command, sizeof command, "command -v %s >/dev/null", compiler);
    return system(command) == 0;
}

struct count {
    size_t entries, inside, declared;
};

/* Every entry below `die`, in both ways. */
static void compare(const struct pt_dwarf_skip *skip, Dwarf_Die *die, struct count *count)
{
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0)
        return;
    for (;;) {
        Dwarf_Die theirs = child, ours = child;
        Dwarf_Attribute attribute;
        bool declares = dwarf_attr(&child, DW_AT_declaration, &attribute);
        count->entries++;
        count->inside += dwarf_haschildren(&child) > 0;
        count->declared += declares;
        assert_int_equal(pt_dwarf_skip_tag(skip, &child), dwarf_tag(&child));
        assert_true(declares || !pt_dwarf_skip_declares(skip, &child));
        assert_int_equal(pt_dwarf_skip_refers(skip, &child),
                         dwarf_hasattr(&child, DW_AT_specification) || dwarf_hasattr(&child, DW_AT_abstract_origin));
        compare(skip, &child, count);
        int found = dwarf_siblingof(&child, &theirs);
        assert_int_equal(pt_dwarf_skip_next(skip, &ours), found);
        if (found != 0)
            return;
        assert_ptr_equal(ours.addr, theirs.addr);
        assert_ptr_equal(ours.cu, theirs.cu);
        assert_int_equal(dwarf_tag(&ours), dwarf_tag(&theirs));
        child = theirs;
    }
}

static void compare_program(const char *path, bool cut)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    Dwarf *dwarf = dwarf_begin(file, DWARF_C_READ);
    assert_non_null(dwarf);
    struct pt_dwarf_skip skip;
    struct count count = {0};
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    pt_dwarf_skip_init(&skip);
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
        Dwarf_Die *top = type == DW_UT_skeleton && split.addr ? &split : &die;
        pt_dwarf_skip_enter(&skip, top);
        assert_true(skip.usable);
        if (cut)
            skip.end -= (skip.end - (const unsigned char *)top->addr) / 2;
        compare(&skip, top, &count);
    }
    assert_true(count.entries > 1000 && count.inside > 100 && count.declared > 100);
    pt_dwarf_skip_release(&skip);
    dwarf_end(dwarf);
    close(file);
}

static void test_as_libdw(void **state)
{
    static const char *const compilers[] = {"g++", "clang++"};
    static const char *const ways[] = {"-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -O2", "-gdwarf-5 -gsplit-dwarf"};
    char command[500], path[200];
    (void)state;
    snprintf(path, sizeof path, "%s/prog", folder);
    for (size_t c = 0; c < 2; c++)
        for (size_t w = 0; have(compilers[c]) && w < sizeof ways / sizeof *ways; w++) {
            snprintf(command, sizeof command, "cd %s && %s -std=c++17 %s -o prog a.cpp", folder, compilers[c], ways[w]);
            assert_int_equal(system(command), 0);
            compare_program(path, false);
            compare_program(path, true);
        }
}

static int make_folder(void **state)
{
    char path[200];
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.cpp", folder);
    FILE *file = fopen(path, "w");
    return file && fputs(program, file) >= 0 && fclose(file) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[200];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_libdw)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
