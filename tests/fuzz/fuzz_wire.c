/*
 * Any bytes as an event stream. Fed in one piece or in small ones (the first byte says how small) they must be decoded
 * the same, and every event that comes out must have a text form.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "trace/wire.h"
#include "trace/writer.h"

static void decode(const uint8_t *data, size_t size, size_t piece, struct pt_buf *out)
{
    struct pt_names names;
    struct pt_wire_item item;
    struct pt_err err;
    enum pt_wire_read what = PT_WIRE_READ_MORE;
    pt_names_init(&names);
    struct pt_wire *wire = pt_wire_new("fuzz", &names);
    for (size_t at = 0; at < size && what != PT_WIRE_READ_ERROR; at += piece) {
        pt_wire_feed(wire, data + at, size - at < piece ? size - at : piece);
        while ((what = pt_wire_next(wire, &item, &err)) < PT_WIRE_READ_MORE) {
            pt_buf_printf(out, "%d ", (int)what);
            if (what <= PT_WIRE_READ_SNAPSHOT)
                pt_event_to_text(&names, &item.event, out);
            pt_buf_printf(out, " %s\n", item.detail ? item.detail : "");
        }
    }
    struct pt_wire_counts counts = pt_wire_counts(wire);
    if (counts.bytes < size && what != PT_WIRE_READ_ERROR)
        abort();
    pt_buf_printf(out, "%d %llu %llu", (int)what, (unsigned long long)counts.events, (unsigned long long)counts.lost);
    pt_wire_free(wire);
    pt_names_release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_buf whole, pieces;
    if (size < 2)
        return 0;
    pt_buf_init(&whole);
    pt_buf_init(&pieces);
    decode(data + 1, size - 1, size, &whole);
    decode(data + 1, size - 1, (size_t)data[0] + 1, &pieces);
    if (whole.len != pieces.len || memcmp(whole.text, pieces.text, whole.len) != 0)
        abort();
    pt_buf_release(&whole);
    pt_buf_release(&pieces);
    return 0;
}
