/*
 * Reading PNML (ISO/IEC 15909-2), P/T nets, through libxml2's tree. The structure is that of the standard's grammar:
 *
 *   pnml   = net                                     one, of type .../ptnet
 *   net    = name? page+                             with an id, as every object below
 *   page   = (place | transition | arc | page | referencePlace | referenceTransition | name)*
 *   place  = name? initialMarking?                   transition = name?
 *   arc    = inscription?                            with source and target
 *   name, initialMarking, inscription = text
 *
 * and `graphics` and `toolspecific` anywhere, which are passed over. Ids are unique; references are followed to the
 * place or transition they stand for; arcs connect one of each. Only 1-safe nets are of use here, so a marking above 1
 * and a weight other than 1 are errors.
 *
 * Nothing outside the text is ever read: no network, no external entities, and a document type is refused, since
 * entities are its only use here and their expansion the only way for a small file to become a large tree.
 */
#include <limits.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlmemory.h>
#include <stdlib.h>
#include <string.h>

#include "net/arcs.h"
#include "net/netfile.h"

static const char pnml_namespace[] = "http://www.pnml.org/version-2009/grammar/pnml";
static const char ptnet_type[] = "http://www.pnml.org/version-2009/grammar/ptnet";

enum kind { KIND_PLACE, KIND_TRANSITION, KIND_PLACE_REF, KIND_TRANSITION_REF, KIND_OTHER };

/* Everything with an id. */
struct object {
    enum kind kind;
    uint32_t id;   /* of the place or transition; for a reference, where it leads to, once that is known */
    xmlNode *node; /* for the error's place */
};

struct reader {
    const char *file, *text;
    size_t len;
    struct pt_net *net;
    struct pt_strtab ids;
    struct object *objects; /* by id */
    size_t object_cap;
    xmlNode **arcs;
    uint32_t arc_count;
    size_t arc_cap;
    struct pt_arcs found;
    uint32_t page_count;
    struct pt_err *err;
};

/* libxml2's xmlFree is a variable, which a library that is loaded late cannot offer (base/lazy.h). */
static void free_text(xmlChar *text)
{
    xmlFreeFunc release = NULL;
    xmlMemGet(&release, NULL, NULL, NULL);
    release(text);
}

static const char *name_of(const xmlNode *node)
{
    return (const char *)node->name;
}

static bool is(const xmlNode *node, const char *name)
{
    return strcmp(name_of(node), name) == 0;
}

/* libxml2 knows the line in which an element's first tag ends; the column is looked up there. */
static void find_place(const struct reader *r, const xmlNode *node, const char **ret_line, size_t *ret_len,
                       uint32_t *ret_column)
{
    const char *line = r->text, *end = r->text + r->len;
    long number = xmlGetLineNo((xmlNode *)node);
    for (long n = 1; n < number && line < end; n++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        line = newline ? newline + 1 : end;
    }
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    *ret_line = line;
    *ret_len = (size_t)((stop ? stop : end) - line);
    size_t n = strlen(name_of(node));
    *ret_column = 1;
    for (size_t i = 0; i + n < *ret_len; i++) {
        if (line[i] == '<' && memcmp(line + i + 1, name_of(node), n) == 0) {
            *ret_column = (uint32_t)i + 1;
            break;
        }
    }
}

/* An error at a node; `name` follows the message in quotes where it is given. */
static enum pt_status fail(const struct reader *r, const xmlNode *node, const char *message, const char *name)
{
    const char *line;
    size_t len;
    uint32_t column;
    find_place(r, node, &line, &len, &column);
    long number = xmlGetLineNo((xmlNode *)node);
    (void)pt_err_at(r->err, PT_EINPUT, r->file, number > 0 ? (uint64_t)number : 1, column, "%s%s%.100s%s", message,
                    name ? " '" : "", name ? name : "", name ? "'" : "");
    pt_err_source(r->err, line, len);
    return PT_EINPUT;
}

static xmlNode *next_element(xmlNode *node)
{
    while (node && node->type != XML_ELEMENT_NODE)
        node = node->next;
    return node;
}

#define EACH_ELEMENT(parent, child)                                                                                    \
    for (xmlNode *child = next_element((parent)->children); child; child = next_element(child->next))

static bool is_ignored(const xmlNode *node)
{
    return is(node, "graphics") || is(node, "toolspecific");
}

static enum pt_status fail_child(const struct reader *r, const xmlNode *child)
{
    (void)fail(r, child, "", NULL);
    const struct pt_err at = *r->err;
    (void)pt_err_at(r->err, PT_EINPUT, r->file, at.line, at.column, "<%.60s> is not allowed in <%.60s>", name_of(child),
                    name_of(child->parent));
    memcpy(r->err->source, at.source, sizeof at.source);
    return PT_EINPUT;
}

/* The label's text, without white space around it; the caller frees it with free_text. NULL after a failure. */
static xmlChar *read_label(const struct reader *r, xmlNode *label)
{
    xmlChar *content = NULL;
    EACH_ELEMENT (label, child) {
        if (is(child, "text") && !content) {
            content = xmlNodeGetContent(child);
        } else if (!is_ignored(child)) {
            (void)fail_child(r, child);
            free_text(content);
            return NULL;
        }
    }
    if (!content) {
        (void)fail(r, label, "expected a <text> in", name_of(label));
        return NULL;
    }
    size_t start = strspn((const char *)content, " \t\r\n"), len = strlen((const char *)content);
    while (len > start && strchr(" \t\r\n", content[len - 1]))
        len--;
    memmove(content, content + start, len - start);
    content[len - start] = '\0';
    return content;
}

/* A label that is a number; it has to be at most 1, since nets are 1-safe, and at least `least`. */
static enum pt_status read_number(const struct reader *r, xmlNode *label, uint32_t least, const char *id,
                                  uint32_t *ret_number)
{
    xmlChar *text = read_label(r, label);
    if (!text)
        return PT_EINPUT;
    const char *digits = (const char *)text;
    size_t len = strlen(digits), zeros = strspn(digits, "0");
    bool number = len > 0 && strspn(digits, "0123456789") == len;
    bool one = zeros + 1 == len && digits[zeros] == '1', zero = number && zeros == len;
    free_text(text);
    if (!number)
        return fail(r, label, "expected a number in", name_of(label));
    if ((!one && !zero) || (zero && least > 0))
        return fail(r, label,
                    least ? "the net is not 1-safe: a weight other than 1 on arc"
                          : "the net is not 1-safe: more than one token on place",
                    id);
    *ret_number = one;
    return PT_OK;
}

/* Registers a node's id; *ret_id is the string and lives as long as the reader. */
static enum pt_status add_object(struct reader *r, xmlNode *node, enum kind kind, uint32_t id, const char **ret_id)
{
    xmlChar *text = xmlGetNoNsProp(node, (const xmlChar *)"id");
    if (!text)
        return fail(r, node, "an id is missing in", name_of(node));
    uint32_t count = r->ids.count;
    uint32_t object = pt_strtab_intern(&r->ids, (const char *)text, strlen((const char *)text));
    free_text(text);
    const char *name = pt_strtab_text(&r->ids, object);
    if (object < count)
        return fail(r, node, "this id is used twice:", name);
    PT_GROW(r->objects, r->object_cap, r->ids.count);
    r->objects[object] = (struct object){kind, id, node};
    *ret_id = name;
    return PT_OK;
}

/* place = name? initialMarking?, transition = name? */
static enum pt_status read_node(struct reader *r, xmlNode *node)
{
    bool place = is(node, "place");
    uint32_t id = place ? r->net->place_count : r->net->transition_count, tokens = 0;
    const char *xml_id;
    xmlChar *name = NULL;
    enum pt_status status = add_object(r, node, place ? KIND_PLACE : KIND_TRANSITION, id, &xml_id);
    bool has_marking = false;
    EACH_ELEMENT (node, child) {
        if (status != PT_OK)
            break;
        if (is(child, "name") && !name) {
            name = read_label(r, child);
            status = name ? PT_OK : PT_EINPUT;
        } else if (place && is(child, "initialMarking") && !has_marking) {
            has_marking = true;
            status = read_number(r, child, 0, xml_id, &tokens);
        } else if (!is_ignored(child)) {
            status = fail_child(r, child);
        }
    }
    const char *shown = name && name[0] ? (const char *)name : xml_id;
    if (status == PT_OK && place) {
        (void)pt_net_add_place(r->net, shown, tokens == 1);
        r->net->places[id].id = pt_arena_strndup(&r->net->arena, xml_id, strlen(xml_id));
    } else if (status == PT_OK) {
        (void)pt_net_add_transition(r->net, shown, NULL, 0, NULL, 0);
    }
    free_text(name);
    return status;
}

static enum pt_status read_reference(struct reader *r, xmlNode *node)
{
    const char *id;
    EACH_ELEMENT (node, child) {
        if (!is(child, "name") && !is_ignored(child))
            return fail_child(r, child);
    }
    return add_object(r, node, is(node, "referencePlace") ? KIND_PLACE_REF : KIND_TRANSITION_REF, PT_NONE, &id);
}

/* arc = inscription?; what it connects is looked up when all ids are known. */
static enum pt_status read_arc(struct reader *r, xmlNode *node)
{
    const char *id;
    uint32_t weight;
    enum pt_status status = add_object(r, node, KIND_OTHER, 0, &id);
    EACH_ELEMENT (node, child) {
        if (status != PT_OK)
            return status;
        if (is(child, "inscription"))
            status = read_number(r, child, 1, id, &weight);
        else if (!is(child, "name") && !is_ignored(child))
            status = fail_child(r, child);
    }
    if (status == PT_OK)
        PT_PUSH(r->arcs, r->arc_count, r->arc_cap, node);
    return status;
}

/* A page and, since libxml2 limits the depth of a tree to 256, those in it by recursion. */
static enum pt_status read_page(struct reader *r, xmlNode *page)
{
    const char *id;
    enum pt_status status = add_object(r, page, KIND_OTHER, 0, &id);
    r->page_count++;
    EACH_ELEMENT (page, child) {
        if (status != PT_OK)
            return status;
        if (is(child, "place") || is(child, "transition"))
            status = read_node(r, child);
        else if (is(child, "arc"))
            status = read_arc(r, child);
        else if (is(child, "page"))
            status = read_page(r, child);
        else if (is(child, "referencePlace") || is(child, "referenceTransition"))
            status = read_reference(r, child);
        else if (!is(child, "name") && !is_ignored(child))
            status = fail_child(r, child);
    }
    return status;
}

/* What an attribute of a node names; following references, of which no chain is longer than there are objects. */
static enum pt_status find_object(const struct reader *r, xmlNode *node, const char *attribute,
                                  const struct object **ret_object)
{
    for (uint32_t steps = 0; steps <= r->ids.count; steps++) {
        xmlChar *text = xmlGetNoNsProp(node, (const xmlChar *)attribute);
        if (!text)
            return fail(r, node, "an attribute is missing:", attribute);
        uint32_t id = pt_strtab_find(&r->ids, (const char *)text, strlen((const char *)text));
        if (id == PT_NONE || r->objects[id].kind == KIND_OTHER) {
            enum pt_status status = fail(r, node, "there is no place or transition", (const char *)text);
            free_text(text);
            return status;
        }
        free_text(text);
        const struct object *object = &r->objects[id];
        if (object->kind == KIND_PLACE || object->kind == KIND_TRANSITION) {
            *ret_object = object;
            return PT_OK;
        }
        node = object->node;
        attribute = "ref";
    }
    return fail(r, node, "references lead in a circle from", name_of(node));
}

static enum pt_status connect(struct reader *r)
{
    for (uint32_t i = 0; i < r->arc_count; i++) {
        const struct object *source, *target;
        enum pt_status status = find_object(r, r->arcs[i], "source", &source);
        if (status == PT_OK)
            status = find_object(r, r->arcs[i], "target", &target);
        if (status != PT_OK)
            return status;
        if (source->kind == target->kind)
            return fail(r, r->arcs[i], "an arc has to connect a place and a transition", NULL);
        bool out = source->kind == KIND_TRANSITION;
        pt_arcs_add(&r->found, out ? source->id : target->id, out ? target->id : source->id, out);
    }
    uint32_t twice = pt_arcs_finish(&r->found, r->net);
    return twice == PT_NONE
               ? PT_OK
               : fail(r, r->arcs[twice], "the net is not 1-safe: a second arc between the same two nodes", NULL);
}

/* References have to lead somewhere, used or not. */
static enum pt_status check_references(struct reader *r)
{
    for (uint32_t i = 0; i < r->ids.count; i++) {
        const struct object *object = &r->objects[i], *target;
        if (object->kind != KIND_PLACE_REF && object->kind != KIND_TRANSITION_REF)
            continue;
        enum pt_status status = find_object(r, object->node, "ref", &target);
        if (status != PT_OK)
            return status;
        if ((target->kind == KIND_PLACE) != (object->kind == KIND_PLACE_REF))
            return fail(r, object->node, "a reference leads to a node of another kind from", name_of(object->node));
    }
    return PT_OK;
}

static enum pt_status read_net(struct reader *r, xmlNode *net)
{
    xmlChar *type = xmlGetNoNsProp(net, (const xmlChar *)"type");
    bool right = type && strcmp((const char *)type, ptnet_type) == 0;
    free_text(type);
    if (!right)
        return fail(r, net, "expected a net of type", ptnet_type);
    const char *id;
    enum pt_status status = add_object(r, net, KIND_OTHER, 0, &id);
    EACH_ELEMENT (net, child) {
        if (status != PT_OK)
            return status;
        if (is(child, "page"))
            status = read_page(r, child);
        else if (!is(child, "name") && !is_ignored(child))
            status = fail_child(r, child);
    }
    if (status == PT_OK && r->page_count == 0)
        return fail(r, net, "this net has no page", NULL);
    if (status == PT_OK)
        status = check_references(r);
    return status == PT_OK ? connect(r) : status;
}

static enum pt_status read_document(struct reader *r, xmlDoc *doc)
{
    xmlNode *root = xmlDocGetRootElement(doc), *net = NULL;
    if (doc->intSubset || doc->extSubset)
        return pt_err_at(r->err, PT_EINPUT, r->file, 1, 1, "a document type is not allowed in PNML");
    if (!root || !is(root, "pnml"))
        return root ? fail(r, root, "expected <pnml>, not", name_of(root))
                    : pt_err_at(r->err, PT_EINPUT, r->file, 1, 1, "expected <pnml>");
    if (!root->ns || strcmp((const char *)root->ns->href, pnml_namespace) != 0)
        return fail(r, root, "expected the name space", pnml_namespace);
    EACH_ELEMENT (root, child) {
        if (!is(child, "net"))
            return fail_child(r, child);
        if (net)
            return fail(r, child, "there is a second net in this file", NULL);
        net = child;
    }
    return net ? read_net(r, net) : fail(r, root, "there is no net in this file", NULL);
}

/* What the XML parser itself complained about. */
static enum pt_status fail_xml(const struct reader *r, xmlParserCtxt *context)
{
    const xmlError *e = xmlCtxtGetLastError(context);
    const char *message = e && e->message ? e->message : "malformed XML";
    uint64_t line = e && e->line > 0 ? (uint64_t)e->line : 1;
    const char *at = r->text, *end = r->text + r->len;
    (void)pt_err_at(r->err, PT_EINPUT, r->file, line, e && e->int2 > 0 ? (uint32_t)e->int2 : 1, "%.*s",
                    (int)strcspn(message, "\n"), message);
    for (uint64_t n = 1; n < line && at < end; n++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    pt_err_source(r->err, at, (size_t)((stop ? stop : end) - at));
    return PT_EINPUT;
}

enum pt_status pt_pnml_read(const char *file, const char *text, size_t len, struct pt_net *net, struct pt_err *err)
{
    struct reader r = {.file = file, .text = text, .len = len, .net = net, .err = err};
    if (len > INT_MAX)
        return pt_err_at(err, PT_EINPUT, file, 0, 0, "this file is longer than 2 GiB");
    xmlParserCtxt *context = xmlNewParserCtxt();
    if (!context)
        return pt_err_at(err, PT_EIO, file, 0, 0, "out of memory in the XML parser");
    xmlDoc *doc = xmlCtxtReadMemory(context, text, (int)len, NULL, NULL,
                                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES |
                                        XML_PARSE_NOCDATA);
    pt_strtab_init(&r.ids);
    enum pt_status status = doc ? read_document(&r, doc) : fail_xml(&r, context);
    xmlFreeDoc(doc);
    xmlFreeParserCtxt(context);
    pt_strtab_release(&r.ids);
    free(r.objects);
    free(r.arcs);
    pt_arcs_release(&r.found);
    return status;
}
