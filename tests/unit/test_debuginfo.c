/*
 * Names to places: small programs, compiled by the compilers there are in several ways, print where their variables
 * are; the debug information must say the same.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "trace/debuginfo.h"

/*
 * Each program prints lines `PATH ADDRESS SIZE TYPE` with addresses relative to its own load address; the type is a
 * letter of "iufbc", in the order of enum pt_watch_type.
 */
static const char c_program[] =
    "#include <stdio.h>\n"
    "#include <stdint.h>\n"
    "#include <stdbool.h>\n"
    "#include <stdatomic.h>\n"
    "#include <link.h>\n"
    "enum colour { RED, GREEN } colour;\n"
    "enum level { LOW = -1, HIGH = 1 } level;\n"
    "struct part { int a; union { float f; unsigned u; }; struct { short s[4]; char name[12]; } in[3]; };\n"
    "struct bits { int x; unsigned a : 3; int b : 7; unsigned long long c : 40; bool d : 1; };\n"
    "volatile struct part tank;\n"
    "struct bits bits;\n"
    "typedef const volatile unsigned char byte;\n"
    "int count = 5; unsigned long big; double d; float f; bool on; char letter; char text[16]; byte raw;\n"
    "int grid[3][4]; char lines[2][8]; void *pointer; _Atomic int at; atomic_bool flag; long double ld;\n"
    "_Thread_local int mine;\n"
    "static int hidden __attribute__((used));\n"
    "extern int both(void);\n"
    "static int twice __attribute__((used));\n"
    "int *counter(void) { static int calls; { static int inner; inner += calls; } calls++; return &calls; }\n"
    "static uintptr_t base;\n"
    "static int find(struct dl_phdr_info *i, size_t n, void *c) { (void)n; (void)c; base = i->dlpi_addr; return 1; }\n"
    "#define P(path, type) printf(\"%s %lx %zu %c\\n\", #path, (unsigned long)((uintptr_t)&path - base), sizeof(path), "
    "type)\n"
    "void *worker(void *p) { return p; }\n"
    "int main(void)\n"
    "{\n"
    "    dl_iterate_phdr(find, 0);\n"
    "    P(colour, 'u'); P(level, 'i'); P(tank.a, 'i'); P(tank.f, 'f'); P(tank.u, 'u'); P(tank.in[2].s[3], 'i');\n"
    "    P(tank.in[1].name, 'c'); P(count, 'i'); P(big, 'u'); P(d, 'f'); P(f, 'f'); P(on, 'b'); P(text, 'c'); P(raw, "
    "'u');\n"
    "    P(grid[2][1], 'i'); P(lines[1], 'c'); P(lines[1][3], 'i'); P(pointer, 'u'); P(at, 'i'); P(flag, 'b');\n"
    "    P(bits.x, 'i'); P(hidden, 'i'); P(ld, 'f');\n"
    "    printf(\"counter::calls %lx 4 i\\n\", (unsigned long)((uintptr_t)counter() - base));\n"
    "    printf(\"a.c:twice %lx 4 i\\n\", (unsigned long)((uintptr_t)&twice - base));\n"
    "    printf(\"!function %lx worker\\n\", (unsigned long)((uintptr_t)worker - base));\n"
    "    bits.a = 5; bits.b = -3; bits.c = 0x123456789aULL; bits.d = 1;\n"
    "    unsigned char *raw_bits = (unsigned char *)&bits;\n"
    "    printf(\"!bits %lx\", (unsigned long)((uintptr_t)&bits - base));\n"
    "    for (unsigned i = 0; i < sizeof bits; i++) printf(\" %02x\", raw_bits[i]);\n"
    "    printf(\"\\n\");\n"
    "    mine = both(); puts(\"# a constant\");\n"
    "    return 0;\n"
    "}\n";
static const char c_second[] = "static int twice __attribute__((used));\n"
                               "int both(void) { return ++twice; }\n";

static const char cpp_program[] =
    "#include <atomic>\n"
    "#include <cstdio>\n"
    "#include <cstdint>\n"
    "#include <thread>\n"
    "#include <link.h>\n"
    "namespace ns { int x; namespace { long y = 3; } struct Base { int low; }; struct C : Base { static int count; int "
    "m; void "
    "run(); struct In { std::atomic<unsigned> v; } in; }; C c; int C::count = 1; enum class E : short { A } e; }\n"
    "void ns::C::run() { static int calls; calls++; }\n"
    "std::atomic<int> ai; std::atomic<bool> ab; std::atomic<long> arr[4]; std::atomic<char *> ap; std::atomic<double> "
    "ad;\n"
    "std::atomic<ns::E> ae; std::atomic_flag af; struct Two { int a; short b; }; std::atomic<Two> two;\n"
    "inline int shared_inline;\n"
    "static uintptr_t base;\n"
    "static int find(struct dl_phdr_info *i, size_t, void *) { base = i->dlpi_addr; return 1; }\n"
    "#define P(path, type) std::printf(\"%s %lx %zu %c\\n\", #path, (unsigned long)((uintptr_t)&path - base), "
    "sizeof(path), type)\n"
    "int main()\n"
    "{\n"
    "    dl_iterate_phdr(find, 0);\n"
    "    ns::c.m = 1; ns::y++; ns::c.run();\n"
    "    P(ns::x, 'i'); P(ns::y, 'i'); P(ns::c.low, 'i'); P(ns::c.m, 'i'); P(ns::c.in.v, 'u'); P(ns::C::count, 'i'); "
    "P(ns::e, 'i');\n"
    "    P(ai, 'i'); P(ab, 'b'); P(arr[2], 'i'); P(ap, 'u'); P(ad, 'f'); P(ae, 'i'); P(af, 'b'); P(shared_inline, "
    "'i');\n"
    "    static int count; count++; std::printf(\"main::count %lx 4 i\\n\", (unsigned long)((uintptr_t)&count - "
    "base));\n"
    "    Two *in = reinterpret_cast<Two *>(&two);\n"
    "    std::printf(\"two.a %lx 4 i\\ntwo.b %lx 2 i\\n\", (unsigned long)((uintptr_t)&in->a - base), (unsigned "
    "long)((uintptr_t)&in->b - base));\n"
    "    std::thread t([] { shared_inline++; }); t.join();\n"
    "    return 0;\n"
    "}\n";

static char folder[] = "/tmp/portent-test-XXXXXX";
static char before[4096];

static int enter_folder(void **state)
{
    (void)state;
    return getcwd(before, sizeof before) && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir(before) == 0 && system(command) == 0 ? 0 : -1;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void must_run(const char *fmt, ...)
{
    char command[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

static bool have(const char *compiler)
{
    char command[256];
    snprintf(command, sizeof command, "command -v %s >/dev/null", compiler);
    return system(command) == 0;
}

static struct pt_debuginfo *open_program(const char *path)
{
    struct pt_debuginfo *info = NULL;
    struct pt_err err;
    struct pt_debuginfo_options options = {0};
    if (pt_debuginfo_open(path, &options, &info, &err) != PT_OK)
        fail_msg("%s", err.message);
    return info;
}

static struct pt_variable find(struct pt_debuginfo *info, const char *file, const char *path)
{
    struct pt_variable variable = {0};
    struct pt_err err;
    if (pt_debuginfo_find(info, file, path, &variable, &err) != PT_OK)
        fail_msg("%s: %s", path, err.message);
    return variable;
}

/* A bit-field as the observer would read it. */
static int64_t field(struct pt_debuginfo *info, const char *path, const unsigned char *bytes, uint64_t start)
{
    struct pt_variable v = find(info, NULL, path);
    unsigned __int128 word = 0;
    assert_true(v.offset >= start && v.offset + v.size <= start + 64 && v.size <= 16 && v.bit_size > 0);
    memcpy(&word, bytes + (v.offset - start), v.size);
    word >>= v.bit_offset;
    if (v.bit_size == 0 || v.bit_size >= 64)
        return (int64_t)(uint64_t)word;
    uint64_t value = (uint64_t)word & ((UINT64_C(1) << v.bit_size) - 1);
    if (v.type == PT_WATCH_INT && value >> (v.bit_size - 1) & 1)
        value -= UINT64_C(1) << v.bit_size;
    return (int64_t)value;
}

static void check_bits(struct pt_debuginfo *info, const char *text)
{
    unsigned char bytes[64] = {0};
    char *at;
    uint64_t start = strtoull(text, &at, 16);
    for (unsigned n = 0; n < sizeof bytes && *at == ' '; n++)
        bytes[n] = (unsigned char)strtoul(at, &at, 16);
    assert_int_equal(field(info, "bits.a", bytes, start), 5);
    assert_int_equal(field(info, "bits.b", bytes, start), -3);
    assert_int_equal(field(info, "bits.c", bytes, start), 0x123456789aLL);
    assert_int_equal(field(info, "bits.d", bytes, start), 1);
    assert_int_equal(find(info, NULL, "bits.d").type, PT_WATCH_BOOL);
}

/* Compares what the program prints with what debug information says; returns the number of lines compared. */
static unsigned check_program(const char *path)
{
    static const char types[] = "iufbc";
    struct pt_debuginfo *info = open_program(path);
    char line[512], command[256];
    unsigned compared = 0;
    snprintf(command, sizeof command, "./%s", path);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out)) {
        char name[128], type;
        uint64_t address;
        unsigned size;
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "!bits ", 6) == 0) {
            check_bits(info, line + 6);
        } else if (sscanf(line, "!function %" SCNx64 " %127s", &address, name) == 2) {
            assert_string_equal(pt_debuginfo_function(info, address + 0x7000, 0x7000), name);
        } else if (line[0] != '#') {
            assert_int_equal(sscanf(line, "%127s %" SCNx64 " %u %c", name, &address, &size, &type), 4);
            char *colon = strchr(name, ':');
            bool has_file = colon && colon[1] != ':';
            if (has_file)
                *colon = '\0';
            struct pt_variable v = find(info, has_file ? name : NULL, has_file ? colon + 1 : name);
            if (v.offset != address || v.size != size || v.type != strchr(types, type) - types || v.module)
                fail_msg("%s: %s: %" PRIx64 " %u %u", path, line, v.offset, v.size, v.type);
        }
        compared++;
    }
    assert_int_equal(pclose(out), 0);
    pt_debuginfo_free(info);
    return compared;
}

static void expect_error(struct pt_debuginfo *info, const char *file, const char *path, const char *part)
{
    struct pt_variable v;
    struct pt_err err;
    assert_int_equal(pt_debuginfo_find(info, file, path, &v, &err), PT_EINPUT);
    if (!strstr(err.message, part))
        fail_msg("%s: '%s' is not in '%s'", path, part, err.message);
}

static const char *const ways[] = {"-g",          "-g -O2",          "-g -gdwarf-4",      "-g -O2 -gdwarf-4",
                                   "-g -no-pie",  "-g -O2 -no-pie",  "-g -fPIE -pie -O1", "-g -gdwarf-3",
                                   "-g -gz=zlib", "-g -gsplit-dwarf"};

static void c_programs(void **state)
{
    static const char *const compilers[] = {"gcc", "clang"};
    (void)state;
    write_file("a.c", c_program);
    write_file("b.c", c_second);
    for (size_t c = 0; c < 2; c++) {
        for (size_t w = 0; have(compilers[c]) && w < sizeof ways / sizeof *ways; w++) {
            must_run("%s -D_GNU_SOURCE %s -o prog a.c b.c", compilers[c], ways[w]);
            assert_true(check_program("prog") >= 27);
        }
    }
}

static void cpp_programs(void **state)
{
    static const char *const compilers[] = {"g++", "clang++"};
    (void)state;
    write_file("a.cpp", cpp_program);
    for (size_t c = 0; c < 2; c++) {
        for (size_t w = 0; have(compilers[c]) && w < 6; w++) {
            must_run("%s -std=c++17 -D_GNU_SOURCE %s -pthread -o prog a.cpp", compilers[c], ways[w]);
            assert_true(check_program("prog") >= 18);
            struct pt_debuginfo *info = open_program("prog");
            expect_error(info, NULL, "two", "is a structure; name a member of it: two.a, two.b");
            expect_error(info, NULL, "two.c", "is not there; the members are: two.a, two.b");
            pt_debuginfo_free(info);
        }
    }
}

static void statics_of_methods(void **state)
{
    (void)state;
    write_file("a.cpp", cpp_program);
    must_run("g++ -std=c++17 -D_GNU_SOURCE -g -pthread -o prog a.cpp");
    struct pt_debuginfo *info = open_program("prog");
    assert_int_equal(find(info, NULL, "ns::C::run::calls").size, 4);
    pt_debuginfo_free(info);
}

struct offered {
    const char *wanted;
    bool seen;
};

static void note(void *context, const char *name)
{
    struct offered *offered = context;
    offered->seen |= strcmp(name, offered->wanted) == 0;
}

static void mistakes(void **state)
{
    (void)state;
    write_file("a.c", c_program);
    write_file("b.c", c_second);
    must_run("gcc -D_GNU_SOURCE -g -o prog a.c b.c");
    struct pt_debuginfo *info = open_program("prog");
    expect_error(info, NULL, "nothing", "no variable 'nothing'");
    expect_error(info, "b.c", "count", "no variable 'b.c:count'");
    expect_error(info, NULL, "twice", "ambiguous; the candidates are a.c:twice, b.c:twice");
    expect_error(info, NULL, "tank", "is a structure; name a member of it: tank.a, tank.f, tank.u, tank.in");
    expect_error(info, NULL, "tank.b", "is not there; the members are: tank.a");
    expect_error(info, NULL, "tank.in", "is an array; name an element");
    expect_error(info, NULL, "tank.in[3].s[0]", "the index 3, but there are 3");
    expect_error(info, NULL, "grid[1]", "is an array");
    expect_error(info, NULL, "count.x", "'count' has no members");
    expect_error(info, NULL, "count[0]", "no array");
    expect_error(info, NULL, "mine", "thread-local");
    expect_error(info, NULL, "counter", "no variable");
    expect_error(info, NULL, "", "no variable");
    struct offered member = {"tank.a", false}, global = {"count", false};
    pt_debuginfo_near(info, "tank.aa", note, &member);
    pt_debuginfo_near(info, "cuont", note, &global);
    assert_true(member.seen && global.seen);
    assert_true(pt_debuginfo_may_pass(info, "counter", "# a constant", false));
    assert_false(pt_debuginfo_may_pass(info, "nobody", "# a constant", false));
    assert_false(pt_debuginfo_may_pass(info, "counter", "# a constant that is not there", false));
    pt_debuginfo_free(info);
}

static void no_programs(void **state)
{
    (void)state;
    struct pt_debuginfo *info;
    struct pt_err err;
    struct pt_debuginfo_options options = {0};
    write_file("script", "#!/bin/sh\n");
    assert_int_equal(pt_debuginfo_open("script", &options, &info, &err), PT_EINPUT);
    assert_int_equal(pt_debuginfo_open("missing", &options, &info, &err), PT_EINPUT);
    write_file("a.c", "int x; int main(void) { return x; }\n");
    must_run("gcc -s -o prog a.c");
    info = open_program("prog");
    expect_error(info, NULL, "x", "no debug information");
    pt_debuginfo_free(info);
}

static void libraries(void **state)
{
    (void)state;
    write_file("lib.c", "int in_lib = 1; int copied = 2; static int own __attribute__((used)); int same = 1;\n"
                        "void *lib_thread(void *p) { return p; }\n");
    write_file("plug.c", "int plugged = 4;\n");
    write_file("main.c", "extern int copied; int same = 2; int main(void) { return copied + same; }\n");
    must_run("mkdir -p sub && gcc -g -shared -fPIC -Wl,-soname,libit.so.1 -o sub/libit.so.1 lib.c");
    must_run("gcc -g -shared -fPIC -o plug.so plug.c");
    must_run("gcc -g -no-pie -o prog main.c sub/libit.so.1 -Wl,-rpath,'$ORIGIN/sub'");
    static const char *const modules[] = {"plug.so", NULL};
    struct pt_debuginfo_options options = {.modules = modules};
    struct pt_debuginfo *info;
    struct pt_err err;
    assert_int_equal(pt_debuginfo_open("prog", &options, &info, &err), PT_OK);
    struct pt_variable v = find(info, NULL, "in_lib");
    assert_non_null(v.module);
    assert_string_equal(strrchr(v.module, '/'), "/libit.so.1");
    assert_non_null(find(info, NULL, "own").module);
    assert_null(find(info, NULL, "copied").module); /* a copy relocation */
    assert_null(find(info, NULL, "same").module);   /* the program's hides it */
    assert_non_null(find(info, "lib.c", "in_lib").module);
    assert_string_equal(find(info, NULL, "plugged").module, "plug.so");
    pt_debuginfo_free(info);
}

static void copies_are_where_the_linker_says(void **state)
{
    (void)state;
    struct pt_debuginfo *info = open_program("prog"); /* of the test before */
    FILE *out = popen("nm prog | grep ' copied$'", "r");
    uint64_t address = 0;
    assert_int_equal(fscanf(out, "%" SCNx64, &address), 1);
    pclose(out);
    assert_int_equal(find(info, NULL, "copied").offset, address);
    pt_debuginfo_free(info);
}

/* The body of a std::thread that runs something whose type's name has `part` in it. */
static const char *thread_body(struct pt_debuginfo *info, const char *part)
{
    char command[128];
    uint64_t address = 0;
    snprintf(command, sizeof command, "nm prog | grep '_M_runEv$' | grep %s", part);
    FILE *out = popen(command, "r");
    assert_int_equal(fscanf(out, "%" SCNx64, &address), 1);
    pclose(out);
    assert_null(pt_debuginfo_function(info, address + 1, 0));
    return pt_debuginfo_function(info, address, 0);
}

struct visited {
    struct pt_debuginfo *info;
    uint64_t last;
    unsigned known, silent, of_the_system;
};

static void visit_function(void *context, const char *module, uint64_t offset, const char *name)
{
    struct visited *v = context;
    if (module) {
        v->of_the_system++;
        return;
    }
    assert_true(offset > v->last); /* each once, in order */
    v->last = offset;
    assert_string_equal(pt_debuginfo_function(v->info, offset, 0), name);
    v->known += strcmp(name, "known") == 0 || strcmp(name, "main") == 0;
    v->silent += strcmp(name, "silent") == 0;
}

/* The list of functions has the names that each has alone; without debug information its symbol's. It has none of
 * libc's, whether or not its debug information is installed. */
static void functions_both_ways(void **state)
{
    (void)state;
    write_file("a.c",
               "extern void silent(void);\nvoid known(void) { silent(); }\nint main(void) { known(); return 0; }\n");
    write_file("b.c", "void silent(void) {}\n");
    must_run("cc -c b.c -o b.o");
    must_run("cc -g a.c b.o -o prog");
    struct visited v = {.info = open_program("prog")};
    pt_debuginfo_functions(v.info, visit_function, &v);
    assert_int_equal(v.known, 2);
    assert_int_equal(v.silent, 1);
    assert_int_equal(v.of_the_system, 0);
    pt_debuginfo_free(v.info);
}

/* What lies at an address, whether or not it was asked for before what lies elsewhere. */
static void expect_as_alone(struct pt_debuginfo *info, uint64_t offset, bool whole)
{
    struct pt_debuginfo *alone = open_program("prog");
    const char *name = "nothing", *expected = "nothing";
    struct pt_variable variable = {0}, as = {0};
    bool known = pt_debuginfo_at(alone, "", offset, whole, &expected, &as);
    assert_int_equal(pt_debuginfo_at(info, "", offset, whole, &name, &variable), known);
    assert_string_equal(name, expected);
    assert_memory_equal(&variable, &as, sizeof as);
    pt_debuginfo_free(alone);
}

/* Parts of the elements of an array are those of each element by itself. */
static void elements(void **state)
{
    static const char *const arrays[] = {"list", "plain", "grid", "small"};
    static const unsigned bytes[] = {3 * 40, 3 * 8, 4 * 4, 5};
    (void)state;
    write_file("e.c", "struct lock { int word; char of_mutex; };\n"
                      "struct { char c; int n; union { float f; unsigned u; } v; unsigned a : 3, b : 5; short s[2];\n"
                      "         struct lock mutex; long last; } list[3];\n"
                      "long plain[3]; int grid[2][2]; char small[5]; int one;\n"
                      "int main(void) { return list[1].n + (int)plain[1] + grid[1][1] + small[2] + one; }\n");
    must_run("cc -g -o prog e.c");
    struct pt_debuginfo *info = open_program("prog");
    const char *name;
    struct pt_variable variable;
    for (unsigned a = 0; a < 4; a++) {
        char first[32];
        snprintf(first, sizeof first, "%s[0]%s%s", arrays[a], a == 0 ? ".c" : "", a == 2 ? "[0]" : "");
        uint64_t start = find(info, NULL, first).offset;
        for (unsigned i = 0; i < bytes[a]; i++)
            for (unsigned whole = 0; whole < 2; whole++)
                expect_as_alone(info, start + i, whole);
    }
    uint64_t last = find(info, NULL, "list[2].last").offset;
    assert_true(pt_debuginfo_at(info, "", last + 3, false, &name, &variable));
    assert_string_equal(name, "list[2].last");
    assert_int_equal(variable.offset, last);
    assert_true(pt_debuginfo_at(info, "", find(info, NULL, "one").offset, false, &name, &variable));
    assert_string_equal(name, "one");
    pt_debuginfo_free(info);
}

static void expect_name(struct pt_debuginfo *info, uint64_t offset, const char *expected, uint64_t size)
{
    const char *name = "nothing";
    struct pt_variable variable = {0};
    assert_true(pt_debuginfo_at(info, "", offset, false, &name, &variable));
    assert_string_equal(name, expected);
    assert_int_equal(variable.offset, offset);
    assert_int_equal(variable.size, size);
}

/* What lies at an address has a name of its own, however many others are called like it; base classes without members
 * are nowhere. */
static void names_of_their_own(void **state)
{
    static const char *const compilers[] = {"g++", "clang++"};
    static const char program[] =
        "#include <cstdio>\n#include <cstdint>\n#include <link.h>\n"
        "struct None {}; struct Still : None {}; struct Pair : Still { int first, second; } pair;\n"
        "struct Base { int low; }; struct Derived : Base { int low; } hides;\n"
        "struct Other { int low; }; struct Both : Base, Other {} both;\n"
        "int *f(int) { static int n; return &n; }\nint *f(long) { static int n; return &n; }\n"
        "static int find(struct dl_phdr_info *i, size_t, void *base) { *(uintptr_t *)base = i->dlpi_addr; return 1; }\n"
        "int main() { uintptr_t base; dl_iterate_phdr(find, &base);\n"
        "    int *at[] = {&pair.first, &pair.second, &hides.Base::low, &hides.low, &both.Base::low, &both.Other::low,"
        " f(1) < f(2L) ? f(1) : f(2L), f(1) < f(2L) ? f(2L) : f(1)};\n"
        "    for (int *a : at) std::printf(\"%lx\\n\", (unsigned long)((uintptr_t)a - base)); }\n";
    static const char *const expected[] = {"pair.first", "pair.second", "hides+0",    "hides.low",
                                           "both.low",   "both+4",      "o.cpp:f::n", "o.cpp:f::n#2"};
    (void)state;
    write_file("o.cpp", program);
    for (size_t c = 0; c < 2; c++) {
        if (!have(compilers[c]))
            continue;
        must_run("%s -D_GNU_SOURCE -g -o prog o.cpp && ./prog >places", compilers[c]);
        struct pt_debuginfo *info = open_program("prog");
        FILE *places = fopen("places", "r");
        uint64_t offset, low = 0, second = 0;
        assert_non_null(places);
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            assert_int_equal(fscanf(places, "%" SCNx64, &offset), 1);
            expect_name(info, offset, expected[i], 4);
            low = strcmp(expected[i], "hides.low") == 0 ? offset : low;
            second = offset;
        }
        fclose(places);
        assert_int_equal(find(info, NULL, "hides.low").offset, low); /* as C++ has it */
        assert_int_equal(find(info, "o.cpp", "f::n#2").offset, second);
        assert_int_not_equal(find(info, NULL, "f::n#1").offset, second);
        expect_error(info, NULL, "f::n", "is ambiguous; the candidates are o.cpp:f::n#1, o.cpp:f::n#2");
        expect_error(info, NULL, "f::n#3", "no variable 'f::n#3'");
        expect_error(info, NULL, "pair#2.first", "no variable");
        pt_debuginfo_free(info);
    }
}

static void std_threads(void **state)
{
    static const char *const compilers[] = {"g++", "clang++"};
    (void)state;
    write_file("t.cpp",
               "#include <thread>\nint n; struct Job { void operator()(int) { n++; } };\n"
               "void f() {}\n"
               "int main() { std::thread a(Job{}, 1), b([] { n++; }), c(f); a.join(); b.join(); c.join(); }\n");
    for (size_t c = 0; c < 2; c++) {
        if (!have(compilers[c]))
            continue;
        must_run("%s -g -pthread -o prog t.cpp", compilers[c]);
        struct pt_debuginfo *info = open_program("prog");
        assert_string_equal(thread_body(info, "Job"), "Job");
        assert_non_null(strstr(thread_body(info, "mainE"), "lambda"));
        assert_null(thread_body(info, "PFv")); /* a pointer to a function: which one is not told */
        pt_debuginfo_free(info);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_programs),
        cmocka_unit_test(cpp_programs),
        cmocka_unit_test(statics_of_methods),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(elements),
        cmocka_unit_test(no_programs),
        cmocka_unit_test(libraries),
        cmocka_unit_test(copies_are_where_the_linker_says),
        cmocka_unit_test(names_of_their_own),
        cmocka_unit_test(std_threads),
        cmocka_unit_test(functions_both_ways),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
