/* Petri nets: questions about them, PNML and .ll_net on good and bad input, and both writers by round trip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "net/netfile.h"
#include "net/question.h"

typedef enum pt_status reader(const char *file, const char *text, size_t len, struct pt_net *net, struct pt_err *err);

#define PNML(inner)                                                                                                    \
    "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n"                                                 \
    "<net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n" inner "</net></pnml>"
#define PAGE(inner) PNML("<page id=\"g\">\n" inner "</page>")
#define TEXT(text)  "<text>" text "</text>"

struct bad {
    const char *text;
    unsigned line, column;
    const char *message; /* a part of it */
};

static const struct bad bad_pnml[] = {
    {"", 1, 1, "empty"},
    {"<pnml>", 1, 7, "Premature end"},
    {"<net/>", 1, 1, "expected <pnml>, not 'net'"},
    {"<pnml/>", 1, 1, "expected the name space"},
    {"<!DOCTYPE pnml [<!ENTITY a \"b\">]><pnml/>", 1, 1, "document type"},
    {"<!DOCTYPE pnml SYSTEM \"file:///etc/passwd\"><pnml/>", 1, 1, "document type"},
    {"<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"/>", 1, 1, "there is no net"},
    {"<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n <net id=\"n\" type=\"x\"/></pnml>", 2, 2,
     "expected a net of type"},
    {PNML(""), 2, 1, "no page"},
    {PNML("<place id=\"p\"/>"), 3, 1, "<place> is not allowed in <net>"},
    {PAGE("<plaice id=\"p\"/>"), 4, 1, "<plaice> is not allowed in <page>"},
    {PAGE("<place/>"), 4, 1, "an id is missing in 'place'"},
    {PAGE("<place id=\"p\"/>\n<place id=\"p\"/>"), 5, 1, "this id is used twice: 'p'"},
    {PAGE("<place id=\"p\"><initialMarking>" TEXT("2") "</initialMarking></place>"), 4, 15,
     "more than one token on place 'p'"},
    {PAGE("<place id=\"p\"><initialMarking>" TEXT("-1") "</initialMarking></place>"), 4, 15, "expected a number"},
    {PAGE("<place id=\"p\"><initialMarking/></place>"), 4, 15, "expected a <text>"},
    {PAGE("<place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"x\"/>"), 4, 36,
     "there is no place or transition 'x'"},
    {PAGE("<place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\"/>"), 4, 36,
     "an attribute is missing: 'target'"},
    {PAGE("<place id=\"p\"/><place id=\"q\"/><arc id=\"a\" source=\"p\" target=\"q\"/>"), 4, 31,
     "a place and a transition"},
    {PAGE("<place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"><inscription>" TEXT(
         "2") "</inscription></arc>"),
     4, 70, "a weight other than 1 on arc 'a'"},
    {PAGE("<place id=\"p\"/><transition id=\"t\"/>\n<arc id=\"a\" source=\"p\" target=\"t\"/>\n<arc id=\"b\" "
          "source=\"p\" "
          "target=\"t\"/>"),
     6, 1, "a second arc"},
    {PAGE("<referencePlace id=\"r\" ref=\"r\"/>"), 4, 1, "circle"},
    {PAGE("<referencePlace id=\"r\" ref=\"t\"/><transition id=\"t\"/>"), 4, 1, "another kind"},
    {PNML("<page id=\"g\"/></net><net id=\"m\">"), 3, 21, "a second net"},
};

static const struct bad bad_llnet[] = {
    {"", 1, 1, "no .ll_net file"},
    {"PEP\nPTNet\n", 2, 1, "no .ll_net file"},
    {"PIP\n", 1, 1, "expected 'PEP'"},
    {"PEP\nNet\n", 2, 1, "expected 'PTNet'"},
    {"PEP\nPTNet\nFORMAT\n", 3, 1, "expected 'FORMAT_N'"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n1\"a\n", 5, 2, "does not end on its line"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"M2\n", 5, 1, "more than one token"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"\n1\"b\"\n", 6, 1, "this place's number is taken"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"\nTR\n1\"t\"\nTP\n1>1\n", 9, 2, "expected '<'"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"\nTR\n1\"t\"\nPT\n2>1\n", 9, 1, "no place has this number"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"\nTR\n1\"t\"\nPT\n1>2\n", 9, 1, "no transition has this number"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"\nTR\n1\"t\"\nPT\n1>1w2\n", 9, 6, "weight is not 1"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"\nTR\n1\"t\"\nPT\n1>1\n1>1\n", 10, 1, "there twice"},
    {"PEP\nPTNet\nFORMAT_N\nPL\n99999999999\"a\"\n", 5, 12, "at most nine digits"},
};

static void assert_bad(reader *read, const struct bad *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pt_net net;
        struct pt_err err;
        pt_net_init(&net);
        assert_int_equal(read("f", bad[i].text, strlen(bad[i].text), &net, &err), PT_EINPUT);
        if (err.line != bad[i].line || err.column != bad[i].column || !strstr(err.message, bad[i].message))
            fail_msg("'%s': %u:%u: %s", bad[i].text, (unsigned)err.line, err.column, err.message);
        pt_net_release(&net);
    }
}

static void test_bad(void **state)
{
    (void)state;
    assert_bad(pt_pnml_read, bad_pnml, sizeof bad_pnml / sizeof *bad_pnml);
    assert_bad(pt_llnet_read, bad_llnet, sizeof bad_llnet / sizeof *bad_llnet);
}

static void read_net(reader *read, const char *text, struct pt_net *net)
{
    struct pt_err err;
    pt_net_init(net);
    if (read("f", text, strlen(text), net, &err) != PT_OK)
        fail_msg("%u:%u: %s", (unsigned)err.line, err.column, err.message);
}

/* Two threads and a lock, spread over two pages, with what is to be passed over. */
static const char mutex_pnml[] = PNML("<name>" TEXT(
    "mutex") "</name><toolspecific tool=\"x\" version=\"1\"><place/></toolspecific>\n"
             "<page id=\"g\"><place id=\"m\"><name>" TEXT(" lock ") "<graphics/></name><initialMarking>" TEXT(
                 "1") "</initialMarking></place>\n"
                      "<page id=\"h\"><referencePlace id=\"rm\" ref=\"rrm\"/><referencePlace id=\"rrm\" ref=\"m\"/>\n"
                      "<place id=\"a\"><initialMarking>" TEXT(
                          "1") "</initialMarking></place><place id=\"A\"/>\n"
                               "<place id=\"b\"><initialMarking>" TEXT(
                                   "1") "</initialMarking></place><place id=\"B\"/>\n"
                                        "<transition id=\"ta\"><name>" TEXT(
                                            "enter &amp; a") "</name></transition><transition id=\"tb\"/>\n"
                                                             "<transition id=\"ra\"/>\n"
                                                             "<arc id=\"1\" source=\"a\" target=\"ta\"/><arc id=\"2\" "
                                                             "source=\"rm\" target=\"ta\"><inscription>" TEXT(
                                                                 "1") "</inscription></arc>\n"
                                                                      "<arc id=\"3\" source=\"ta\" target=\"A\"/><arc "
                                                                      "id=\"4\" source=\"b\" target=\"tb\"/>\n"
                                                                      "<arc id=\"5\" source=\"rm\" target=\"tb\"/><arc "
                                                                      "id=\"6\" source=\"tb\" target=\"B\"/>\n"
                                                                      "<arc id=\"7\" source=\"A\" target=\"ra\"/><arc "
                                                                      "id=\"8\" source=\"ra\" target=\"a\"/>\n"
                                                                      "<arc id=\"9\" source=\"ra\" "
                                                                      "target=\"rm\"/></page></page>");

static bool cover(struct pt_net *net, const char *first, const char *second, uint32_t *ret_firings)
{
    uint32_t places[2];
    uint32_t count = second ? 2 : 1;
    places[0] = pt_net_find_place(net, first, strlen(first));
    places[1] = second ? pt_net_find_place(net, second, strlen(second)) : PT_NONE;
    assert_true(places[0] != PT_NONE && (!second || places[1] != PT_NONE));
    struct pt_question question = {.kind = PT_ASK_COVER, .places = places, .place_count = count};
    struct pt_answer answer;
    struct pt_err err;
    assert_int_equal(pt_net_ask(net, &question, &answer, &err), PT_OK);
    assert_int_equal(answer.limit.status, PT_OK);
    *ret_firings = answer.firing_count;
    bool found = answer.found;
    pt_answer_release(&answer);
    return found;
}

static void test_questions(void **state)
{
    (void)state;
    struct pt_net net;
    uint32_t firings;
    read_net(pt_pnml_read, mutex_pnml, &net);
    assert_true(cover(&net, "A", NULL, &firings));
    assert_int_equal(firings, 1);
    assert_true(cover(&net, "A", "b", &firings));
    assert_false(cover(&net, "A", "B", &firings));
    assert_int_equal(pt_net_find_place(&net, "lock", 4), pt_net_find_place(&net, "m", 1)); /* its name and its id */
    assert_true(cover(&net, "lock", NULL, &firings));
    assert_int_equal(firings, 0);
    assert_int_equal(net.transition_count, 3);
    assert_int_equal(pt_net_find_place(&net, "C", 1), PT_NONE);
    pt_net_release(&net);
}

static void test_unsafe(void **state)
{
    (void)state;
    struct pt_net net;
    struct pt_answer answer;
    struct pt_err err;
    struct pt_question question = {0};
    read_net(pt_llnet_read, "PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"M1\n2\"b\"M1\nTR\n1\"skip\"\n2\"go\"\nTP\n2<2\nPT\n1>2\n",
             &net);
    assert_int_equal(pt_net_ask(&net, &question, &answer, &err), PT_EINPUT);
    assert_non_null(strstr(err.message, "'go'"));
    assert_non_null(strstr(err.message, "'b'"));
    pt_net_release(&net);
    read_net(pt_llnet_read, "PEP\nPTNet\nFORMAT_N\nPL\n1\"a\"\nTR\n1\"source\"\nTP\n1<1\nPT\n", &net);
    assert_int_equal(pt_net_ask(&net, &question, &answer, &err), PT_EINPUT);
    assert_non_null(strstr(err.message, "'source'"));
    pt_net_release(&net);
}

static void assert_round_trip(const struct pt_net *net, void (*write)(const struct pt_net *, struct pt_buf *),
                              reader *read)
{
    struct pt_net again;
    struct pt_buf first, second;
    pt_buf_init(&first);
    pt_buf_init(&second);
    write(net, &first);
    read_net(read, first.text, &again);
    write(&again, &second);
    assert_string_equal(first.text, second.text);
    assert_int_equal(again.place_count, net->place_count);
    assert_int_equal(again.arc_count, net->arc_count);
    pt_net_release(&again);
    pt_buf_release(&first);
    pt_buf_release(&second);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct pt_net net;
    struct pt_buf buf;
    read_net(pt_pnml_read, mutex_pnml, &net);
    assert_string_equal(net.transitions[0].name, "enter & a");
    assert_round_trip(&net, pt_pnml_write, pt_pnml_read);
    assert_round_trip(&net, pt_llnet_write, pt_llnet_read);
    pt_buf_init(&buf);
    pt_net_dot(&net, &buf);
    assert_non_null(strstr(buf.text, "p1 [shape=circle, penwidth=3, label=\"lock\"]"));
    assert_non_null(strstr(buf.text, "p1 -> t1;"));
    pt_buf_release(&buf);
    net.places[0].name = "odd \"name\" <\x01\xff\xc3\xa9>";
    assert_round_trip(&net, pt_pnml_write, pt_pnml_read);
    assert_round_trip(&net, pt_llnet_write, pt_llnet_read);
    pt_net_release(&net);
}

/* Fields that PEP writes and that do not matter; numbers out of order; reads. */
static void test_pep(void **state)
{
    (void)state;
    struct pt_net net;
    uint32_t firings;
    read_net(
        pt_llnet_read,
        "PEP\nPetriBox\nFORMAT_N2\nDPL s7n10@-9t2\nBL\n1 \"B1\"1710@630 b\"unnamed\"\nPL\n7\"x\"30@-4eM1m1u\"(1)\"\n"
        "3'y'b\"M1\"k1\n5\"z\"M1\nTR\n9\"t\"2970@210v65b\"<c'=1>\"u\"(1)\"\nTP\n9<3J1@2w1\nPT\n7>9\nRA\n9<"
        "5\nTX\n\"M9\"\n",
        &net);
    assert_int_equal(net.place_count, 3);
    assert_int_equal(net.transitions[0].pre_count, 2);
    assert_int_equal(net.transitions[0].post_count, 2);
    assert_true(cover(&net, "y", "z", &firings));
    assert_false(cover(&net, "x", "y", &firings));
    pt_net_release(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),        cmocka_unit_test(test_questions), cmocka_unit_test(test_unsafe),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_pep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
