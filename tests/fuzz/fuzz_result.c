/* Whatever the reader of results accepts must go through every format, and come back the same from JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/blocks.h"
#include "report/html.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/perfetto_run.h"
#include "report/sarif.h"
#include "report/shiviz.h"
#include "report/text.h"

static const char *no_line(void *context, const char *place)
{
    (void)context;
    (void)place;
    return NULL;
}

static void write_all(const struct pt_loaded *loaded)
{
    static const struct pt_source_lines sources = {.line = no_line};
    static const struct pt_style style = {.width = 80};
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_report_html(loaded, "fuzz", &sources, NULL, &buf);
    pt_report_sarif(loaded, "/base", &buf);
    pt_report_junit(loaded, &buf);
    pt_report_perfetto_runs(loaded, &buf);
    pt_report_shiviz(loaded, &buf);
    pt_report_blocks(loaded, &style, &buf);
    for (uint32_t i = 0; i < loaded->result.count; i++)
        pt_report_text(loaded->result.findings[i], &style, &buf);
    pt_buf_release(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_err err;
    struct pt_loaded *loaded, *again;
    if (pt_result_read("fuzz", (const char *)data, size, &loaded, &err) != PT_OK)
        return 0;
    write_all(loaded);
    if (!loaded->is_model) {
        struct pt_buf first, second;
        pt_buf_init(&first);
        pt_buf_init(&second);
        pt_report_json(&loaded->result, &first);
        if (pt_result_read("again", first.text, first.len, &again, &err) != PT_OK)
            abort();
        pt_report_json(&again->result, &second);
        if (first.len != second.len || memcmp(first.text, second.text, first.len) != 0)
            abort();
        pt_loaded_free(again);
        pt_buf_release(&first);
        pt_buf_release(&second);
    }
    pt_loaded_free(loaded);
    return 0;
}
