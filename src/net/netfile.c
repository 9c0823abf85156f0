/* Writing nets: names are made harmless for the format, arcs come in the order of their transitions. */
#include "net/netfile.h"

#include <string.h>

#include "base/utf8.h"

const char *pt_net_label(struct pt_buf *buf, const char *name, char letter, uint32_t number)
{
    buf->len = 0;
    pt_buf_printf(buf, "%c%u", letter, number + 1);
    return name ? name : buf->text;
}

static void put_named(struct pt_buf *buf, const char *element, char letter, uint32_t number, const char *name,
                      bool marked)
{
    struct pt_buf label;
    pt_buf_init(&label);
    pt_buf_printf(buf, "      <%s id=\"%c%u\"><name><text>", element, letter, number + 1);
    pt_xml_escape(buf, pt_net_label(&label, name, letter, number));
    pt_buf_puts(buf, "</text></name>");
    if (marked)
        pt_buf_puts(buf, "<initialMarking><text>1</text></initialMarking>");
    pt_buf_printf(buf, "</%s>\n", element);
    pt_buf_release(&label);
}

void pt_pnml_write(const struct pt_net *net, struct pt_buf *buf)
{
    uint32_t arc = 0;
    pt_buf_puts(buf, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n"
                     "  <net id=\"net\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n"
                     "    <page id=\"page\">\n");
    for (uint32_t p = 0; p < net->place_count; p++)
        put_named(buf, "place", 'p', p, net->places[p].name, net->places[p].marked);
    for (uint32_t t = 0; t < net->transition_count; t++)
        put_named(buf, "transition", 't', t, net->transitions[t].name, false);
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            pt_buf_printf(buf, "      <arc id=\"a%u\" source=\"p%u\" target=\"t%u\"/>\n", ++arc,
                          pt_net_pre(net, t)[i] + 1, t + 1);
        for (uint32_t i = 0; i < net->transitions[t].post_count; i++)
            pt_buf_printf(buf, "      <arc id=\"a%u\" source=\"t%u\" target=\"p%u\"/>\n", ++arc, t + 1,
                          pt_net_post(net, t)[i] + 1);
    }
    pt_buf_puts(buf, "    </page>\n  </net>\n</pnml>\n");
}

/* A name in double quotes on one line, for formats that have no escapes for it. */
static void put_quoted(struct pt_buf *buf, const char *name)
{
    pt_buf_puts(buf, "\"");
    for (; *name; name++)
        pt_buf_printf(buf, "%c", *name == '"' ? '\'' : (unsigned char)*name < ' ' ? ' ' : *name == '\\' ? '/' : *name);
    pt_buf_puts(buf, "\"");
}

void pt_llnet_write(const struct pt_net *net, struct pt_buf *buf)
{
    struct pt_buf label;
    pt_buf_init(&label);
    pt_buf_puts(buf, "PEP\nPTNet\nFORMAT_N\nPL\n");
    for (uint32_t p = 0; p < net->place_count; p++) {
        pt_buf_printf(buf, "%u", p + 1);
        put_quoted(buf, pt_net_label(&label, net->places[p].name, 'p', p));
        pt_buf_puts(buf, net->places[p].marked ? "M1\n" : "\n");
    }
    pt_buf_puts(buf, "TR\n");
    for (uint32_t t = 0; t < net->transition_count; t++) {
        pt_buf_printf(buf, "%u", t + 1);
        put_quoted(buf, pt_net_label(&label, net->transitions[t].name, 't', t));
        pt_buf_puts(buf, "\n");
    }
    pt_buf_puts(buf, "TP\n");
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = 0; i < net->transitions[t].post_count; i++)
            pt_buf_printf(buf, "%u<%u\n", t + 1, pt_net_post(net, t)[i] + 1);
    }
    pt_buf_puts(buf, "PT\n");
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            pt_buf_printf(buf, "%u>%u\n", pt_net_pre(net, t)[i] + 1, t + 1);
    }
    pt_buf_release(&label);
}

void pt_net_dot(const struct pt_net *net, struct pt_buf *buf)
{
    struct pt_buf label;
    pt_buf_init(&label);
    pt_buf_puts(buf, "digraph net {\n  node [fontname=\"sans-serif\", fontsize=10];\n");
    for (uint32_t p = 0; p < net->place_count; p++) {
        pt_buf_printf(buf, "  p%u [shape=circle, %slabel=", p + 1, net->places[p].marked ? "penwidth=3, " : "");
        put_quoted(buf, pt_net_label(&label, net->places[p].name, 'p', p));
        pt_buf_puts(buf, "];\n");
    }
    for (uint32_t t = 0; t < net->transition_count; t++) {
        pt_buf_printf(buf, "  t%u [shape=box, label=", t + 1);
        put_quoted(buf, pt_net_label(&label, net->transitions[t].name, 't', t));
        pt_buf_puts(buf, "];\n");
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            pt_buf_printf(buf, "  p%u -> t%u;\n", pt_net_pre(net, t)[i] + 1, t + 1);
        for (uint32_t i = 0; i < net->transitions[t].post_count; i++)
            pt_buf_printf(buf, "  t%u -> p%u;\n", t + 1, pt_net_post(net, t)[i] + 1);
    }
    pt_buf_puts(buf, "}\n");
    pt_buf_release(&label);
}
