#include "report/blocks.h"

#include <inttypes.h>
#include <string.h>

#include "report/words.h"

static void put_name(const struct pt_block *block, struct pt_buf *buf)
{
    pt_buf_printf(buf, "block %" PRIu32, block->number);
    if (block->name[0])
        pt_buf_printf(buf, " '%s'", block->name);
    if (block->thread_name[0])
        pt_buf_printf(buf, " of %s", block->thread_name);
    else
        pt_buf_printf(buf, " of thread %" PRIu32, block->thread);
    if (block->file[0] && block->line)
        pt_buf_printf(buf, " (%s:%" PRIu32 ")", block->file, block->line);
}

static const char *role_words(const char *role)
{
    return strcmp(role, "begin") == 0     ? "  <- the block begins"
           : strcmp(role, "foreign") == 0 ? "  <- comes in between"
           : strcmp(role, "later") == 0   ? "  <- and the block goes on"
                                          : "";
}

static void put_violation(const struct pt_block *block, const char *name, const struct pt_style *style,
                          struct pt_buf *buf)
{
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    pt_words_paragraph(buf, style, 0, 2, "Not causally atomic: %s.", name);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    if (block->step_count)
        pt_buf_puts(buf, "\n");
    for (uint32_t i = 0; i < block->step_count; i++) {
        const struct pt_block_step *step = &block->steps[i];
        pt_words_paragraph(buf, style, 2, 6, "%s: %s%s", step->thread, step->text[0] ? step->text : "a step",
                           role_words(step->role));
    }
    if (block->step_count)
        pt_buf_puts(buf, "\n");
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    pt_words_paragraph(buf, &(struct pt_style){.width = 10000}, 0, 0, "SUMMARY: portent: not causally atomic: %s",
                       name);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
}

void pt_report_blocks(const struct pt_loaded *loaded, const struct pt_style *style, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < loaded->block_count; i++) {
        const struct pt_block *block = &loaded->blocks[i];
        struct pt_buf name;
        pt_buf_init(&name);
        put_name(block, &name);
        if (block->unknown)
            pt_words_paragraph(buf, style, 0, 2, "Unknown whether causally atomic: %s.", name.text);
        else if (block->atomic)
            pt_words_paragraph(buf, style, 0, 2, "Causally atomic: %s.", name.text);
        else
            put_violation(block, name.text, style, buf);
        pt_buf_release(&name);
    }
}
