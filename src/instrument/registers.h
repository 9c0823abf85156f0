/* Which register allocator clang's code generator uses for which function (registers.cpp). */
#ifndef PT_INSTRUMENT_REGISTERS_H
#define PT_INSTRUMENT_REGISTERS_H

#ifdef __cplusplus
extern "C" {
#endif

/* For all code that this process generates from now on, with optimisation. */
void pt_choose_registers(void);

#ifdef __cplusplus
}
#endif

#endif
