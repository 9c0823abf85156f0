/* Texts that the program gives (names of blocks and local variables) to small numbers, the same for the same text. */
#ifndef PT_RUNTIME_CHANNEL_NAME_H
#define PT_RUNTIME_CHANNEL_NAME_H

#include <stdint.h>

/* From 1; 0 when there are too many, or a text is too long. The caller is inside the runtime. */
uint32_t pt_name_number(const char *text);
/* In a child that begins anew: names keep their numbers. */
void pt_name_restart(void);

/* The text of a number that was given out. */
const char *pt_name_text(uint32_t number);

#endif
