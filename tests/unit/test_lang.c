/* The property language: what is accepted and what it means, what is refused and where. Mostly tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "logic/lang/ast.h"
#include "logic/lang/property.h"
#include "base/suggest.h"

/* Files that hoa "..." may name. */
static enum pt_status fetch(void *context, const char *path, char **ret_text, size_t *ret_len, struct pt_err *err)
{
    const char *text = "HOA: v1\nStates: 1\nStart: 0\nAP: 2 \"a\" \"b c\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n"
                       "--BODY--\nState: 0 {0}\n[0 | 1] 0\n--END--\n";
    *(const char **)context = strcmp(path, "dir/mine.hoa") == 0 ? "asked in dir" : "asked";
    if (strstr(path, "gone"))
        return pt_err_set(err, PT_EIO, "cannot open '%s'", path);
    if (strstr(path, "bad"))
        text = "HOA: v1\nnonsense\n";
    *ret_text = strdup(text);
    *ret_len = strlen(text);
    return PT_OK;
}

static const char *asked;

static enum pt_status add(struct pt_properties *props, const char *file, const char *text, struct pt_err *err)
{
    return pt_properties_add(props, file, text, strlen(text), fetch, &asked, err);
}

static struct pt_properties *load(const char *text)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_err err;
    if (add(props, "dir/t.prop", text, &err) != PT_OK)
        fail_msg("%s\n%lu:%u: %s", text, (unsigned long)err.line, err.column, err.message);
    return props;
}

static char *print(const struct pt_property *property, pt_formula f)
{
    const char *names[PT_MAX_ATOMS];
    struct pt_buf buf;
    for (uint32_t i = 0; i < property->atom_count; i++)
        names[i] = property->atoms[i].text;
    pt_buf_init(&buf);
    pt_formula_print(&property->pool, f, names, &buf);
    return pt_buf_take(&buf);
}

/* --- meaning: the lowered formula, printed with as few parentheses as it needs --- */

static const struct {
    const char *formula, *meaning;
} meanings[] = {
    {"a", "a"},
    {"true", "true"},
    {"false || x", "false || x"},
    /* levels, loosest first */
    {"a <-> b -> c || d && e until !f", "a <-> b -> c || d && e until !f"},
    {"!a until b && c || d -> e <-> f", "!a until b && c || d -> e <-> f"},
    {"a -> b -> c", "a -> b -> c"},
    {"(a -> b) -> c", "(a -> b) -> c"},
    {"a until b until c", "a until b until c"},
    {"(a until b) until c", "(a until b) until c"},
    {"a until b release c weakuntil d", "a until b release c weakuntil d"},
    {"a since b since c", "a since b since c"},
    {"a && b && c", "a && b && c"},
    {"a && (b && c)", "a && (b && c)"},
    {"always a until b", "always a until b"},
    {"always (a until b)", "always (a until b)"},
    {"a until always b", "a until always b"},
    {"a <-> b <-> c", "(a <-> b) <-> c"},
    /* unaries bind looser than comparisons */
    {"!x == 3", "!x == 3"},
    {"!(x == 3)", "!x == 3"},
    {"!x + 1 > 2", "!x + 1 > 2"},
    {"always x > 3 && y", "always x > 3 && y"},
    {"always(x) > 3", "always x > 3"},
    {"next next ! x", "next next !x"},
    /* aliases */
    {"G F X Y O H a", "always eventually next previously once historically a"},
    {"[]<> a", "always eventually a"},
    {"a S b", "a since b"},
    {"b U (c W (d R e))", "b until c weakuntil d release e"},
    {"a V b", "a release b"},
    {"a weakuntil b", "a weakuntil b"},
    {"<> (p) -> ((!(p)) U (q))", "eventually p -> !p until q"},
    /* functions and intervals */
    {"start(p > 1) && end(q)", "start(p > 1) && end(q)"},
    {"[a, b)", "[a, b)"},
    {"[a, b)w", "[a, b)w"},
    {"[a -> b, c || d) w && w", "[a -> b, c || d)w && w"},
    {"[ [a, b), c)", "[[a, b), c)"},
    {"event(write) && event(\"a b\") && event(\"write\")", "event(write) && event(\"a b\") && event(write)"},
    {"event(always)", "event(always)"},
    /* words that are operators only before '(' or in their place */
    {"start > 1 && end && event == read", "start > 1 && end && event == read"},
    {"let + var > property", "let + var > property"},
    {"at && each && within && empty", "at && each && within && empty"},
    {"hoa > 1", "hoa > 1"},
    {"(never)", "never"},
    /* names */
    {"tank.level > 3 && f::x && a[3].b[0]::c", "tank.level > 3 && f::x && a[3].b[0]::c"},
    {"balance#2 > 0", "balance#2 > 0"},
    {"gr\xc3\xb6\xc3\x9f\x65 > 0", "gr\xc3\xb6\xc3\x9f\x65 > 0"},
    {"G[1]", "G[1]"},
    /* expressions: C's precedence, normalised text */
    {"a+b*c-d>0", "a + b * c - d > 0"},
    {"(a+b)*(c-d)>0", "(a + b) * (c - d) > 0"},
    {"a-(b-c)>0", "a - (b - c) > 0"},
    {"(a-b)-c>0", "a - b - c > 0"},
    {"a/(b*c) == a%b", "a / (b * c) == a % b"},
    {"-a * -b > - (c+d)", "-a * -b > -(c + d)"},
    {"--a > 0", "--a > 0"},
    {"((x)) > ((3))", "x > 3"},
    {"x + 1", "x + 1"},
    {"-x", "-x"},
    {"x==1.5e3||x==0x1F||s==\"a\\\"b\"", "x == 1.5e3 || x == 0x1F || s == \"a\\\"b\""},
    {"x == true && false == y", "x == true && false == y"},
    {"1 < 2", "1 < 2"},
    {"x < -3", "x < -3"},
    {"x<-3 && a<->b", "x < -3 && a <-> b"},
    {"18446744073709551615 > x", "18446744073709551615 > x"},
    {"a /* c */ && // d\n b", "a && b"},
    {"a;", "a"},
};

static void test_meaning(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        struct pt_properties *props = pt_properties_new();
        struct pt_err err;
        if (pt_properties_add_formula(props, meanings[i].formula, &err) != PT_OK)
            fail_msg("%s\n%u: %s", meanings[i].formula, err.column, err.message);
        assert_int_equal(props->count, 1);
        assert_string_equal(props->items[0].name, "formula");
        assert_int_equal(props->items[0].kind, PT_KIND_LTL);
        char *text = print(&props->items[0], props->items[0].formula);
        assert_string_equal(text, meanings[i].meaning);
        free(text);
        pt_properties_free(props);
    }
}

/* --- refusals --- */

static const struct {
    const char *text;
    unsigned line, column;
    const char *message, *hint;
} refusals[] = {
    /* words */
    {"property p: alwasy x > 3;", 1, 13, "unknown operator 'alwasy'", "'always'"},
    {"property p: alwasy(x > 3);", 1, 13, "unknown function or operator 'alwasy'", "'always'"},
    {"property p: a untill b;", 1, 15, "unknown operator 'untill'", "'until'"},
    {"property p: (a unitl b);", 1, 16, "unknown operator 'unitl'", "'until'"},
    {"property p: strat(a);", 1, 13, "unknown function", "'start'"},
    {"let ready = a; property p: raedy(a);", 1, 28, "unknown function", "'ready'"},
    {"let ready = a; property p: ready(a);", 1, 28, "'ready' is not a function", ""},
    {"property p: not a;", 1, 13, "unknown operator 'not'", "'!'"},
    {"property p: a and b;", 1, 15, "unknown operator 'and'", "'&&'"},
    {"property p: Always x;", 1, 13, "unknown operator 'Always'", "'always'"},
    {"proprety p: a;", 1, 1, "expected 'let', 'var', 'thread', 'property' or 'use', found 'proprety'", "'property'"},
    {"zzz p: a;", 1, 1, "expected 'let'", "a formula is written as a pr"},
    {"property p: a = b;", 1, 15, "expected an operator or ';', found '='", "=="},
    {"property p: a & b;", 1, 15, "found '&'", "&&"},
    {"property p: a | b;", 1, 15, "found '|'", "||"},
    {"property p: a <> b;", 1, 15, "found '<>'", "!="},
    {"property p: x > G;", 1, 18, "expected a formula or a value, found ';'", "var other = G;"},
    {"property p: U > 3;", 1, 13, "'U' needs a formula on its left", "var other = U;"},
    /* shape */
    {"property p: a", 1, 14, "expected an operator or ';', found the end of the text", "a statement ends with ';'"},
    {"property p a;", 1, 12, "expected 'at', 'within' or ':', found 'a'", "':' stands between the name "},
    {"property : a;", 1, 10, "expected the name of the property", "property NAME: FORMULA;"},
    {"property a.b: a;", 1, 10, "plain identifier", ""},
    {"property p: (a;", 1, 15, "expected ')', found ';'", ""},
    {"property p: ;", 1, 13, "expected a formula or a value", ""},
    {"property p: a ||;", 1, 17, "expected a formula or a value", ""},
    {"property p: [a, b];", 1, 18, "')', the end of an interval", ""},
    {"property p: [a) ;", 1, 15, "',' of an interval", ""},
    {"property p: start(a;", 1, 20, "expected ')'", ""},
    {"property p: event(3);", 1, 19, "expected a name", ""},
    {"property p: event(\"\");", 1, 19, "a name is not empty", ""},
    {"property p: a b c;", 1, 15, "expected an operator or ';', found 'b'", ""},
    {"property p: 3x > 1;", 1, 14, "found 'x'", ""},
    {"property p: a; b", 1, 16, "expected 'let'", "a formula is written as a pr"},
    /* types */
    {"property p: a < b < c;", 1, 19, "comparisons do not chain: write 'a < b && b < c'", ""},
    {"property p: a == b != c;", 1, 20, "comparisons do not chain", ""},
    {"property p: (a && b) + 1 > 0;", 1, 16, "a formula stands here where '+' needs a value", ""},
    {"property p: (a < b) == c;", 1, 16, "a formula stands here where '==' needs a value", "<->"},
    {"property p: x == !y;", 1, 18, "a formula stands here where '==' needs a value", "<->"},
    {"property p: start(a) > 3;", 1, 13, "a formula stands here", ""},
    {"let f = always a; property p: f + 1 > 0;", 1, 31, "a formula stands here", ""},
    {"property p: \"a\" == 3;", 1, 17, "a string is compared with a number", ""},
    {"property p: x + 1 == \"a\";", 1, 19, "a string is compared with a number", ""},
    {"property p: true != \"a\";", 1, 18, "a string is compared with a number", ""},
    {"let s = \"a\"; property p: s < 3;", 1, 28, "a string is compared with a number", ""},
    {"property p: \"a\" + x == \"b\";", 1, 13, "'+' does not work on strings", ""},
    {"property p: -\"a\" == x;", 1, 14, "'-' does not work on strings", ""},
    {"property p: \"a\";", 1, 13, "a string stands here where a formula is needed", ""},
    {"property p: a && \"a\";", 1, 18, "a string stands here where a formula is needed", ""},
    /* past and future */
    {"property p: once (a && eventually b);", 1, 24,
     "'eventually' is a future operator and may not stand inside the past operator 'once'", ""},
    {"property p: always [a, next b);", 1, 24, "inside the past operator '[..)'", ""},
    {"property p: a since (b U c);", 1, 24, "'until' is a future operator", ""},
    {"let f = <> a;\nproperty p: start(f);", 2, 19, "'f' contains a future operator", ""},
    {"let f = once X a;", 1, 14, "'next' is a future operator", ""},
    /* mttl in its place only */
    {"property p: @t x > 3;", 1, 13, "'@' may stand only in an 'at' property", "it is about what one thread "},
    {"property p: exists j: a;", 1, 13, "'exists' may stand only", "it is about what one thread "},
    {"property p: read(x);", 1, 13, "'read' may stand only", "it is about what one thread "},
    {"property p: race_free(*) && x > 3;", 1, 13, "'race_free' is about two accesses, not about a state",
     "stands alone"},
    {"let r = race_free(x); property p at each i: !r;", 1, 46, "'r' is about two accesses", "of its own"},
    {"property p at each i: forall j: @j(race_free(x));", 1, 36, "'race_free' is about two accesses", "between"},
    {"property p within 3ms: race_free(x);", 1, 24, "'race_free' may not stand in a 'within' property", ""},
    {"property p: never [race_free(x)];", 1, 20, "'race_free' may not stand in a letter", ""},
    {"property p: atomic_block(b);", 1, 13, "'atomic_block' may stand only", "it is about what one thread "},
    {"let k = @t x; property p: k;", 1, 27, "'k' contains an operator that may stand only in an 'at'",
     "it is about what one thread "},
    {"property p at t: always x;", 1, 18, "'always' is a future operator and may not stand in an 'at' property",
     "leave it out: the formula is"},
    {"property p at each i: i > 3;", 1, 23, "'i' is a thread here, not a value", ""},
    {"property p at t: exists j != j: a;", 1, 30, "'j' cannot differ from itself", ""},
    {"property p at t: exists G: a;", 1, 25, "'G' is an operator", ""},
    {"property p at t: exists j a;", 1, 27, "expected ':'", ""},
    {"property p at t: @t !x;", 1, 21, "expected a formula or a value, found '!'", ""},
    {"property p at t: @t once x;", 1, 21, "'once' needs parentheses", ""},
    {"property p at t: never [a];", 1, 18, "an 'at' property is a formula, not a regular expression", ""},
    {"property p at t within 3ms: a;", 1, 17, "cannot have 'within'", ""},
    {"property p at : a;", 1, 15, "expected the name of a thread", ""},
    {"let p = a; property q at t: read(p);", 1, 34, "'p' is a let, and a variable is needed", ""},
    /* within */
    {"property p within 3: a;", 1, 20, "expected 'ns', 'us', 'ms', 's' or 'events'", ""},
    {"property p within ms: a;", 1, 19, "expected a time such as '10ms'", ""},
    {"property p within 0ms: a;", 1, 19, "the bound of 'within' is zero", ""},
    {"property p within 0.5ns: a;", 1, 19, "not a whole number of nanoseconds", ""},
    {"property p within 18446744073709551615s: a;", 1, 19, "not a whole number of nanoseconds", ""},
    {"property p within 1ms: never [a];", 1, 24, "'within' takes an LTL formula or an automaton", ""},
    /* names */
    {"let p = a; let p = b;", 1, 16, "'p' is already declared in line 1", ""},
    {"let p = a;\nvar p = b;", 2, 5, "'p' is already declared in line 1", ""},
    {"thread t = a; thread t = b;", 1, 22, "'t' is already declared", ""},
    {"property p: a;\nproperty p: b;", 2, 10, "there is already a property 'p'", ""},
    {"let G = a;", 1, 5, "'G' is an operator and cannot be a name", ""},
    {"var until = a;", 1, 5, "'until' is an operator", ""},
    {"thread exists = a;", 1, 8, "'exists' is an operator", ""},
    {"let true = a;", 1, 5, "'true' is an operator", ""},
    {"let a.b = c;", 1, 5, "plain identifier", ""},
    {"let p = p > 3;", 1, 5, "uses its own name", ""},
    {"property q: lvl > 3;\nvar lvl = tank.level;", 2, 5, "'lvl' is used in line 1, before", ""},
    {"property q at c: a;\nthread c = ctl;", 2, 8, "'c' is used in line 1, before", ""},
    {"var x = ;", 1, 9, "expected a variable of the program", ""},
    {"var x = a + b;", 1, 11, "expected ';'", ""},
    {"thread t = 3;", 1, 12, "expected a thread of the program", ""},
    /* ere */
    {"property p: never [always a];", 1, 20, "'always' is a future operator and may not stand in a letter", ""},
    {"property p: never [once a];", 1, 20, "'once' is a past operator and may not stand in a letter", ""},
    {"property p: never [a]{1001};", 1, 23, "a repetition counts to 1000 at most", ""},
    {"property p: never [a]{3,2};", 1, 25, "the upper bound 2 is below the lower bound 3", ""},
    {"property p: never [a]{};", 1, 23, "expected the number of repetitions", ""},
    {"property p: never [a]{1.5};", 1, 23, "expected the number of repetitions", ""},
    {"property p: never [];", 1, 19, "expected a letter", "[true]"},
    {"property p: never ();", 1, 20, "expected a letter", "epsilon"},
    {"property p: never a;", 1, 19, "expected a letter", "states stand in brackets: ne"},
    {"property p: never [a] || [b];", 1, 23, "expected an operator or ';', found '||'", ""},
    {"property p: never [a] |;", 1, 24, "expected a letter", ""},
    {"property p: never ([a];", 1, 23, "expected ')'", ""},
    {"property p: never [a;", 1, 21, "expected ']'", ""},
    {"property p: never [@t x];", 1, 20, "may stand only in an 'at'", "it is about what one thread "},
    /* hoa */
    {"property p: hoa \"x.hoa\" { a = w; };", 1, 17, "the automaton's proposition 'b c' is not bound", ""},
    {"property p: hoa \"x.hoa\" { a = w; a = v; };", 1, 34, "the proposition 'a' is bound twice", ""},
    {"property p: hoa \"x.hoa\" { d = w; };", 1, 27, "the automaton has no proposition 'd'", ""},
    {"property p: hoa \"x.hoa\" { a = F w; };", 1, 31, "'eventually' is a future operator", ""},
    {"property p: hoa \"x.hoa\" { a = w };", 1, 33, "expected ';'", ""},
    {"property p: hoa \"gone.hoa\" { a = w; };", 1, 17, "cannot open 'dir/gone.hoa'", ""},
    {"property p: hoa \"\" { };", 1, 17, "not the name of a file", ""},
    /* characters */
    {"let p = a;\n  \x01 let q = b;", 2, 3, "control character", ""},
    {"let p = \"a\xff\";", 1, 11, "not valid UTF-8", ""},
    {"let p = a; /* \xc0\x80 */", 1, 15, "not valid UTF-8", ""},
    {"let p = a; // \xed\xa0\x80", 1, 15, "not valid UTF-8", ""},
    {"\n let p = a; /* open\n\n", 2, 13, "this comment is not closed", ""},
    {"\nlet p = s == \"open;\n", 2, 14, "this string is not closed", ""},
    {"let p = s == \"open", 1, 14, "this string is not closed", ""},
    {"let p = s == \"a\\qb\";", 1, 16, "not an escape sequence", ""},
    {"let p = s == \"\\777\";", 1, 15, "not an escape sequence", ""},
    {"let p = a $ b;", 1, 11, "this character means nothing", ""},
    {"let p = a $1 b;", 1, 11, "expected ';', found '$1'", ""},
    {"var n = count(a[0..3] > x);", 1, 25, "expected a number", ""},
    {"var n = sum(a[0..3] > 1);", 1, 21, "expected ')'", "count, alone"},
    {"var n = a[0..3];", 1, 9, "several variables", "count(a[0..3] != 0)"},
    {"property p: call(f, $1);", 1, 23, "expected a comparison", ""},
    {"property p: call(f, $0 > 1);", 1, 21, "$1 to $6", ""},
    {"property p: return(f, $1 > 1);", 1, 21, "arguments are those of the call", ""},
    {"property p at T: call(f, $1 > 1);", 1, 18, "may not be asked for", ""},
    {"use gone(a = b);", 1, 5, "cannot open", ""},
    {"pattern p(a) { property p: a; } use p(b = c);", 1, 37, "needs 'a'", "line 1"},
    {"let p = a \xe2\x89\xa5 b;", 1, 11, "this character means nothing", ""},
    {"let p = 18446744073709551616 > a;", 1, 9, "does not fit 64 bits", ""},
    {"let p = 010 > a;", 1, 9, "octal", ""},
    {"let p = 1. > a;", 1, 10, "a digit must follow", ""},
    {"let p = 1e999 > a;", 1, 9, "too large for floating point", ""},
    {"let p = 0x > a;", 1, 9, "digits are missing", ""},
    /* an earlier mistake comes before a lexical one, a lexical one in its place before the guess about it */
    {"let p = ;\n\x01", 1, 9, "expected a formula", ""},
    {"let p = alwasy \x01", 1, 16, "control character", ""},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct pt_properties *props = pt_properties_new();
        struct pt_err err;
        if (add(props, "dir/t.prop", refusals[i].text, &err) == PT_OK)
            fail_msg("accepted: %s", refusals[i].text);
        if (err.line != refusals[i].line || err.column != refusals[i].column ||
            !strstr(err.message, refusals[i].message) || !strstr(err.hint, refusals[i].hint) ||
            (!*refusals[i].hint && *err.hint))
            fail_msg("%s\n%lu:%u: %s (%s)", refusals[i].text, (unsigned long)err.line, err.column, err.message,
                     err.hint);
        assert_string_equal(err.file, "dir/t.prop");
        assert_int_equal(props->count, 0);
        size_t n = strlen(err.message);
        assert_true(n > 0 && err.message[n - 1] != '.');
        pt_properties_free(props);
    }
}

static void test_source_line(void **state)
{
    (void)state;
    struct pt_properties *props = pt_properties_new();
    struct pt_err err;
    assert_int_equal(add(props, "t.prop", "let a = b;\r\n  let c = (d;\r\nlet e = f;", &err), PT_EINPUT);
    assert_string_equal(err.source, "  let c = (d;");
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 13);
    pt_properties_free(props);
}

/* --- atoms --- */

static void test_atoms(void **state)
{
    (void)state;
    struct pt_properties *props = load("let lim = 26; let p = w>lim; let pp = p && event(go); let sum = a + b;\n"
                                       "var lvl = reservoir.c:tank.level; var odd = \"my file.c\":x[3];\n"
                                       "var deep = src/my-file.c:f::x; var q = \"weird name\";\n"
                                       "property x: always (pp -> w > 26 || sum * 2 > lvl || odd || deep || q);");
    const struct pt_property *x = &props->items[0];
    static const char *const texts[] = {"w > 26", "event(go)", "(a + b) * 2 > lvl", "odd", "deep", "q"};
    static const char *const targets[][3] = {{"w", "w", "w"},
                                             {"a", "a", "a"},
                                             {"b", "b", "b"},
                                             {"lvl", "reservoir.c:tank.level", "tank.level"},
                                             {"odd", "my file.c:x[3]", "x[3]"},
                                             {"deep", "src/my-file.c:f::x", "f::x"},
                                             {"q", "weird name", "weird name"}};
    assert_int_equal(x->atom_count, 6);
    for (uint32_t i = 0; i < x->atom_count; i++)
        assert_string_equal(x->atoms[i].text, texts[i]);
    assert_int_equal(x->var_count, 7);
    for (uint32_t i = 0; i < x->var_count; i++) {
        assert_string_equal(x->vars[i].name, targets[i][0]);
        assert_string_equal(x->vars[i].target, targets[i][1]);
        assert_string_equal(x->vars[i].path, targets[i][2]);
    }
    assert_int_equal(x->event_count, 1);
    assert_string_equal(x->events[0], "go");
    assert_int_equal(x->atoms[0].event, PT_NONE);
    assert_int_equal(x->atoms[1].event, 0);
    assert_int_equal(x->atoms[0].line, 1);
    assert_int_equal(x->atoms[0].column, 23);
    assert_int_equal(x->atoms[2].var_count, 3);
    assert_int_equal(x->atoms[2].code.depth, 2);
    /* values: w a b lvl odd deep q */
    struct pt_value values[7] = {{0}}, out;
    uint32_t detail;
    values[1] = pt_value_int(3), values[2] = pt_value_int(4), values[3] = pt_value_int(13);
    assert_int_equal(pt_code_run(&x->atoms[2].code, values, &out, &detail), PT_CODE_OK);
    assert_true(out.kind == PT_VALUE_BOOL && out.i == 1);
    values[4] = pt_value_float(0.5);
    assert_int_equal(pt_code_run(&x->atoms[3].code, values, &out, &detail), PT_CODE_OK);
    assert_true(out.kind == PT_VALUE_BOOL && out.i == 1);
    assert_int_equal(pt_code_run(&x->atoms[0].code, values, &out, &detail), PT_CODE_UNKNOWN_VALUE);
    assert_int_equal(detail, 0);
    pt_properties_free(props);
}

/* A property of `count` different atoms. */
static char *many_atoms(unsigned count)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    for (unsigned i = 0; i < count; i++)
        pt_buf_printf(&buf, "%sx == %u", i ? " || " : "", i);
    return pt_buf_take(&buf);
}

static void test_atom_limit(void **state)
{
    (void)state;
    struct pt_err err;
    for (unsigned count = PT_MAX_ATOMS; count <= PT_MAX_ATOMS + 1; count++) {
        struct pt_properties *props = pt_properties_new();
        char *text = many_atoms(count);
        enum pt_status s = pt_properties_add_formula(props, text, &err);
        assert_int_equal(s, count <= PT_MAX_ATOMS ? PT_OK : PT_EINPUT);
        if (s == PT_EINPUT)
            assert_non_null(strstr(err.message, "64 different comparisons"));
        free(text);
        pt_properties_free(props);
    }
}

/* --- whole files --- */

static void test_contract_example(void **state)
{
    (void)state;
    struct pt_properties *props =
        load("let p = w > 26;\nvar lvl = reservoir.c:tank.level;\nthread ctl = valve_controller;\n"
             "property valve:  always (w > 30 -> ((v > 55 && p) since start(p)));        // LTL over the global state\n"
             "property valve2: never [true]* [!p] [p && w <= 30]+ [w > 30 && v <= 55];   // ERE of bad prefixes\n"
             "property look at ctl: v > 0 -> @main(w) >= 20;\n"
             "property atomic at each i: busy > 0 -> !(exists j != i: busy == @j @i busy);\n"
             "property alternate within 10ms: always (event(write) -> next (!event(write) until event(read)));\n"
             "property mine: hoa \"mine.hoa\" { a = w > 26; \"b c\" = v > 55; };\n"
             "property mine2 within 5ms: hoa \"mine.hoa\" { a = event(x); \"b c\" = once v; };\n");
    const struct pt_property *p = props->items;
    assert_int_equal(props->count, 7);
    assert_string_equal(asked, "asked in dir");
    assert_string_equal(p[0].name, "valve");
    assert_string_equal(p[0].text, "always (w > 30 -> ((v > 55 && p) since start(p)))");
    assert_string_equal(p[0].file, "dir/t.prop");
    assert_int_equal(p[0].line, 4);
    assert_int_equal(p[0].column, 10);
    char *text = print(&p[0], p[0].formula);
    assert_string_equal(text, "always (w > 30 -> (v > 55 && w > 26) since start(w > 26))");
    free(text);
    assert_int_equal(p[1].kind, PT_KIND_ERE);
    assert_int_equal(p[1].letter_count, 4);
    assert_int_equal(p[1].letters[0], PT_FORMULA_TRUE);
    text = print(&p[1], p[1].letters[2]);
    assert_string_equal(text, "w > 26 && w <= 30");
    free(text);
    assert_true(p[4].within && !p[4].within_events && p[4].within_bound == 10000000);
    assert_int_equal(p[4].event_count, 2);
    assert_int_equal(p[5].kind, PT_KIND_HOA);
    text = print(&p[5], p[5].bindings[1]);
    assert_string_equal(text, "v > 55");
    free(text);
    assert_true(p[6].within && p[6].within_bound == 5000000 && p[6].kind == PT_KIND_HOA);
    pt_properties_free(props);
}

static void test_races(void **state)
{
    (void)state;
    struct pt_properties *props = load("var lvl = a.c:tank.level; thread ctl = worker#2; let r = race_free(lvl);\n"
                                       "property a at each i: race_free(x) && r;\n"
                                       "property b: always (race_free(*) && (r && race_free(x)));\n"
                                       "property c at ctl: race_free(x);");
    const struct pt_property *p = props->items;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(p[i].kind, PT_KIND_RACE);
    assert_int_equal(p[0].var_count, 2);
    assert_string_equal(p[0].vars[1].target, "a.c:tank.level");
    assert_false(p[0].races_everywhere);
    assert_null(p[0].races_at);
    assert_true(p[1].races_everywhere);
    assert_int_equal(p[1].var_count, 2);
    assert_string_equal(p[2].races_at, "worker#2");
    pt_properties_free(props);
}

static void test_local_trees(void **state)
{
    (void)state;
    struct pt_properties *props =
        load("thread ctl = worker#2; thread q = \"my thread\";\n"
             "property a at ctl: v > 0 -> @main(w + 1) >= 20 && @q y && @ctl z;\n"
             "property b at each i: busy > 0 -> !(exists j != i: busy == @j @i busy || event(e)) && u;\n"
             "property c at T1: event(a) && write(x) && atomic_block(t) && (read(y) || write(z));\n"
             "property d at \"T 1\": forall j: once @j(start(x) since y);\n"
             "property e at each: @t x + 1 > 2;");
    const struct pt_property *p = props->items;
    assert_int_equal(p[0].kind, PT_KIND_MTTL);
    assert_int_equal(p[0].ast->kind, PT_AST_AT);
    assert_string_equal(p[0].ast->thread.name, "ctl");
    assert_string_equal(p[0].ast->thread.target, "worker#2");
    const struct pt_ast *body = p[0].ast->a;
    assert_int_equal(body->kind, PT_AST_IMPLIES);
    const struct pt_ast *known = body->b->a->b; /* (main && q) && ctl */
    assert_int_equal(known->kind, PT_AST_KNOWN);
    assert_string_equal(known->thread.target, "my thread");
    assert_int_equal(p[0].var_count, 4);
    assert_int_equal(p[1].ast->kind, PT_AST_AT_EACH);
    assert_string_equal(p[1].ast->text, "i");
    /* !( ... ) && u: the quantifier ends with its parentheses */
    const struct pt_ast *exists = p[1].ast->a->b->a->a;
    assert_int_equal(exists->kind, PT_AST_EXISTS);
    assert_string_equal(exists->text, "j");
    assert_string_equal(exists->thread.name, "i");
    assert_int_equal(exists->a->kind, PT_AST_OR);
    assert_int_equal(exists->a->a->b->kind, PT_AST_KNOWN);
    assert_int_equal(exists->a->a->b->a->kind, PT_AST_KNOWN);
    assert_string_equal(exists->a->a->b->a->thread.name, "i");
    assert_int_equal(p[1].event_count, 1);
    assert_int_equal(p[2].var_count, 3);
    assert_string_equal(p[3].ast->thread.target, "T 1");
    /* @t x + 1 is (@t x) + 1; `at each:` is a thread called each */
    assert_string_equal(p[4].ast->thread.name, "each");
    assert_int_equal(p[4].ast->a->a->kind, PT_AST_ADD);
    assert_int_equal(p[4].ast->a->a->a->kind, PT_AST_KNOWN);
    pt_properties_free(props);
}

static void test_within(void **state)
{
    (void)state;
    static const struct {
        const char *bound;
        uint64_t value;
        bool events;
    } bounds[] = {
        {"7ns", 7, false},         {"7 us", 7000, false},       {"1.5ms", 1500000, false},
        {"2s", 2000000000, false}, {"10 events", 10, true},     {"1 event", 1, true},
        {"0.001us", 1, false},     {"0.50s", 500000000, false}, {"18446744073709551615ns", UINT64_MAX, false}};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        char text[100];
        snprintf(text, sizeof text, "property p within %s: always a;", bounds[i].bound);
        struct pt_properties *props = load(text);
        assert_true(props->items[0].within);
        assert_int_equal(props->items[0].within_bound, bounds[i].value);
        assert_int_equal(props->items[0].within_events, bounds[i].events);
        pt_properties_free(props);
    }
}

/* --- regular expressions: equal expressions have equal ids in one pool, so two bodies are compared as a|b and a --- */

static void test_ere_precedence(void **state)
{
    (void)state;
    static const struct {
        const char *one, *other;
    } same[] = {{"~[a]*", "~([a]*)"},   {"~[a][b]", "(~[a])[b]"},      {"[a][b]|[c]&[d]", "([a][b])|(([c])&([d]))"},
                {"[a]{2}", "[a]{2,2}"}, {"[a]+", "[a]{1,}"},           {"[a]?", "[a]{0,1}"},
                {"~~[a]", "[a]"},       {"[a] epsilon [b]", "[a][b]"}, {"[a] | empty", "[a]"},
                {"[x>3]", "[x > 3]"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char text[200];
        struct pt_err err;
        struct pt_properties *props = pt_properties_new();
        snprintf(text, sizeof text, "property p: never (%s)|(%s); property q: never %s;", same[i].one, same[i].other,
                 same[i].one);
        if (add(props, "t.prop", text, &err) != PT_OK)
            fail_msg("%s: %s", text, err.message);
        /* pools number alike, and x|x is x: the two ids agree only if both sides were the same expression */
        assert_int_equal(props->items[0].letter_count, props->items[1].letter_count);
        assert_int_equal(props->items[0].ere, props->items[1].ere);
        pt_properties_free(props);
    }
}

/* --- limits: nothing overflows the stack, and the refusal says why --- */

static char *repeat(const char *before, const char *unit, unsigned count, const char *after)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, before);
    for (unsigned i = 0; i < count; i++)
        pt_buf_puts(&buf, unit);
    pt_buf_puts(&buf, after);
    return pt_buf_take(&buf);
}

static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *before, *unit;
        unsigned count;
        const char *after;
        const char *message; /* NULL: accepted */
    } limits[] = {
        {"", "(", 900, "", "expected a formula"},
        {"", "(", 100000, "", "nested too deeply"},
        {"", "!", 900, "a", NULL},
        {"", "!", 100000, "a", "nested too deeply"},
        {"", "a -> ", 100000, "a", "nested too deeply"},
        {"", "a U ", 100000, "a", "nested too deeply"},
        {"", "a <-> ", 100000, "a", "nested too deeply"},
        {"", "a && ", 100000, "b", NULL},
        {"", "a || ", 100000, "b", NULL},
        {"0 < ", "-", 100000, "a", "nested too deeply"},
        {"0 < ", "a + ", 500, "a", NULL},
        {"0 < ", "a + ", 100000, "a", "nested too deeply"},
        {"0 < a", " + (a", 100, "", "expected ')'"},
        {"", "[a, ", 100000, "", "nested too deeply"},
        {"", "start(", 100000, "", "nested too deeply"},
        {"never ", "(", 100000, "", "nested too deeply"},
        {"never ", "~", 100001, "[a]", NULL},
        {"never ", "[a]", 100000, "", NULL},
        {"never [a]", "*", 100000, "", NULL},
        {"never [a]", "{1000}", 1000, "", NULL},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct pt_properties *props = pt_properties_new();
        struct pt_err err = {0};
        char *text = repeat(limits[i].before, limits[i].unit, limits[i].count, limits[i].after);
        enum pt_status s = pt_properties_add_formula(props, text, &err);
        if ((s == PT_OK) != !limits[i].message || (limits[i].message && !strstr(err.message, limits[i].message)))
            fail_msg("%s%s...: %s", limits[i].before, limits[i].unit, err.message);
        free(text);
        pt_properties_free(props);
    }
}

/* 64 values on the stack are the most there is. */
static void test_expression_depth(void **state)
{
    (void)state;
    for (unsigned count = 62; count <= 64; count++) {
        struct pt_properties *props = pt_properties_new();
        struct pt_err err = {0};
        char *open = repeat("0 < a", " + (a", count, ""), *text = repeat(open, ")", count, "");
        enum pt_status s = pt_properties_add_formula(props, text, &err);
        assert_int_equal(s, count + 2 <= PT_CODE_MAX_DEPTH ? PT_OK : PT_EINPUT);
        if (s == PT_OK)
            assert_int_equal(props->items[0].atoms[0].code.depth, count + 2);
        else
            assert_non_null(strstr(err.message, "more than 64 values"));
        free(open);
        free(text);
        pt_properties_free(props);
    }
}

/* Lets that double at every step: shared in formulas, bounded in expressions. */
static void test_doubling_lets(void **state)
{
    (void)state;
    static const char *const signs[] = {"&&", "+"};
    for (int kind = 0; kind < 2; kind++) {
        struct pt_buf buf;
        struct pt_err err = {0};
        struct pt_properties *props = pt_properties_new();
        pt_buf_init(&buf);
        pt_buf_puts(&buf, "let x0 = a;");
        for (int i = 1; i <= 200; i++)
            pt_buf_printf(&buf, "let x%d = x%d %s x%d;\n", i, i - 1, signs[kind], i - 1);
        pt_buf_printf(&buf, "property p: x200; property q at t: x200;");
        enum pt_status s = add(props, "t.prop", buf.text, &err);
        assert_int_equal(s, kind == 0 ? PT_OK : PT_EINPUT);
        if (kind == 1)
            assert_non_null(strstr(err.message, "longer than 4096 characters"));
        pt_buf_release(&buf);
        pt_properties_free(props);
    }
}

/* --- sets of files --- */

static void test_files(void **state)
{
    (void)state;
    struct pt_properties *props = pt_properties_new();
    struct pt_err err;
    assert_int_equal(add(props, "a.prop", "let ready = x > 1; property p: ready;", &err), PT_OK);
    assert_int_equal(add(props, "b.prop", "let ready = x > 2; property q: ready;", &err), PT_OK);
    assert_int_equal(add(props, "c.prop", "property r: a; property p: b;", &err), PT_EINPUT);
    assert_string_equal(err.file, "c.prop");
    assert_int_equal(props->count, 2); /* a file is added whole or not at all */
    assert_int_equal(add(props, "d.prop", "property r: a;", &err), PT_OK);
    assert_string_equal(props->items[1].atoms[0].text, "x > 2");
    assert_string_equal(props->items[2].name, "r");
    assert_string_equal(pt_properties_nearest(props, "raedy"), "ready");
    assert_string_equal(pt_properties_nearest(props, "READ"), "ready");
    assert_null(pt_properties_nearest(props, "ready"));
    assert_null(pt_properties_nearest(props, "other"));
    pt_properties_free(props);
}

/* Whatever a message quotes, it is printable UTF-8, also where it was cut. */
static void test_printable(void **state)
{
    (void)state;
    struct pt_properties *props = pt_properties_new();
    struct pt_err err;
    uint32_t point;
    assert_int_equal(add(props, "t.prop", "property p: hoa \"x.hoa\" { \"\\xff\\nx\" = a; };", &err), PT_EINPUT);
    assert_string_equal(err.message, "the automaton has no proposition '??x'");
    assert_int_equal(add(props, "t.prop", "let p = \xff;", &err), PT_EINPUT);
    assert_string_equal(err.source, "let p = ?;");
    char *name = repeat("let x", "\xc3\xb6", 400, ".a = b;");
    assert_int_equal(add(props, "t.prop", name, &err), PT_EINPUT);
    for (size_t i = 0, n; err.message[i]; i += n) {
        n = pt_utf8_decode(err.message + i, strlen(err.message) - i, &point);
        assert_int_not_equal(n, 0);
    }
    free(name);
    assert_int_equal(pt_properties_add_formula(props, "event(\"\\xff\\n\\\"\xc3\xb6\")", &err), PT_OK);
    assert_string_equal(props->items[0].atoms[0].text, "event(\"\\377\\012\\\"\xc3\xb6\")");
    pt_properties_free(props);
}

static void test_text(void **state)
{
    (void)state;
    struct pt_properties *props =
        load("property p:\n  always /* c */ (a\t&&b) // d\n  ;\nproperty q: never [a]* [ b ] ;");
    assert_string_equal(props->items[0].text, "always (a &&b)");
    assert_string_equal(props->items[1].text, "never [a]* [ b ]");
    pt_properties_free(props);
}

static void test_hoa_errors_pass_through(void **state)
{
    (void)state;
    struct pt_properties *props = pt_properties_new();
    struct pt_err err;
    assert_int_equal(add(props, "dir/t.prop", "property p: hoa \"bad.hoa\" { };", &err), PT_EINPUT);
    assert_string_equal(err.file, "dir/bad.hoa");
    assert_int_equal(pt_properties_add_formula(props, "hoa \"x.hoa\" { }", &err), PT_EINPUT);
    assert_non_null(strstr(err.message, "only in a property file"));
    assert_string_equal(err.file, "formula");
    pt_properties_free(props);
}

static void test_distance(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned distance;
    } pairs[] = {{"always", "always", 0},
                 {"alwasy", "always", 1},
                 {"ALWAYS", "always", 0},
                 {"alays", "always", 1},
                 {"allwayss", "always", 2},
                 {"alway", "always", 1},
                 {"xx", "always", 3},
                 {"", "", 0},
                 {"", "ab", 2},
                 {"abcd", "badc", 2},
                 {"abc", "xyz", 3},
                 {"next", "text", 1}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(pt_suggest_distance(pairs[i].a, strlen(pairs[i].a), pairs[i].b, strlen(pairs[i].b)),
                         pairs[i].distance);
        assert_int_equal(pt_suggest_distance(pairs[i].b, strlen(pairs[i].b), pairs[i].a, strlen(pairs[i].a)),
                         pairs[i].distance);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meaning),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_source_line),
        cmocka_unit_test(test_atoms),
        cmocka_unit_test(test_atom_limit),
        cmocka_unit_test(test_contract_example),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_local_trees),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_ere_precedence),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_expression_depth),
        cmocka_unit_test(test_doubling_lets),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_printable),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_hoa_errors_pass_through),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
