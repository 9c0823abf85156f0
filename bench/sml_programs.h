/*
 * The programs that `portent model` is measured and tested with, as SML text for any number of threads: busy-waiting
 * acquisition of a lock around an update of shared data, in the variants of the causal-atomicity paper's Table 1 and
 * two harder ones, and the small programs of that table.
 */
#ifndef PT_BENCH_SML_PROGRAMS_H
#define PT_BENCH_SML_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum pt_sml_family {
    PT_SML_ACQUIRE1, /* the first thread's update is a block */
    PT_SML_STAR,     /* every thread's is */
    PT_SML_ACQUIRE2, /* three updates in a row */
    PT_SML_NACQUIRE, /* the last thread writes without the lock */
    PT_SML_WIDE,     /* the lock is taken and given back inside the block */
    PT_SML_FLAG,     /* the flag that is spun on is shared too */
};

static inline void pt_sml_write_thread(enum pt_sml_family family, uint32_t thread, uint32_t threads, struct pt_buf *buf)
{
    bool block = thread == 0 || family == PT_SML_STAR;
    const char *begin = block ? "begin " : "", *end = block ? " end" : "";
    const char *update = "t := DATA; DATA := t + 1";
    if (family == PT_SML_ACQUIRE2)
        update = "t := DATA; DATA := t + 1; u := DATA; DATA := u * 2; w := DATA; DATA := w + u";
    pt_buf_puts(buf, "thread { while (true) { ");
    if (family == PT_SML_NACQUIRE && thread + 1 == threads)
        pt_buf_puts(buf, "DATA := 0");
    else if (family == PT_SML_WIDE)
        pt_buf_printf(buf, "%sacquire(m); %s; release(m)%s", begin, update, end);
    else if (family == PT_SML_FLAG)
        pt_buf_printf(buf, "while (BUSY != 0) { skip }; acquire(m); BUSY := 1; %s%s%s; BUSY := 0; release(m)", begin,
                      update, end);
    else
        pt_buf_printf(buf, "while (busy != 0) { skip }; acquire(m); %s%s%s; release(m)", begin, update, end);
    pt_buf_puts(buf, " } }\n");
}

static inline void pt_sml_write(enum pt_sml_family family, uint32_t threads, struct pt_buf *buf)
{
    pt_buf_puts(buf, family == PT_SML_FLAG ? "int DATA, BUSY; lock m;\n" : "int DATA; lock m;\n");
    for (uint32_t t = 0; t < threads; t++)
        pt_sml_write_thread(family, t, threads, buf);
}

/* Dekker's algorithm; each thread's critical section is a block, or the first one's alone. */
static inline void pt_sml_write_dekker(bool both, struct pt_buf *buf)
{
    pt_buf_puts(buf, "int F1, F2, TURN, DATA;\n");
    for (int me = 1; me <= 2; me++) {
        int other = 3 - me;
        bool block = me == 1 || both;
        pt_buf_printf(buf,
                      "thread { while (true) { F%d := 1;\n"
                      "  while (F%d = 1) { if (TURN != %d) { F%d := 0; while (TURN != %d) { skip }; F%d := 1 } "
                      "else { skip } };\n"
                      "  %sDATA := DATA + 1%s; TURN := %d; F%d := 0 } }\n",
                      me, other, me, me, me, me, block ? "begin " : "", block ? " end" : "", other, me);
    }
}

#define PT_SML_BLUETOOTH_STOP                                                                                          \
    "thread stop { begin : Stop STOPPINGFLAG := 1; PENDINGIO := PENDINGIO - 1;\n"                                      \
    "  if (PENDINGIO = 0) { STOPPINGEVENT := 1 } else { skip }; while (STOPPINGEVENT = 0) { skip }; STOPPED := 1 "     \
    "end }\n"
#define PT_SML_BLUETOOTH_DECREMENT "PENDINGIO := PENDINGIO - 1; if (PENDINGIO = 0) { STOPPINGEVENT := 1 } else { skip }"

/* The driver's Add against its Stop, and the repaired version, which counts before it looks. */
static const char pt_sml_bluetooth[] =
    "int PENDINGIO, STOPPINGFLAG, STOPPINGEVENT, STOPPED;\n"
    "thread add { begin : Add\n"
    "  if (STOPPINGFLAG = 1) { status := 0 - 1 } else { PENDINGIO := PENDINGIO + 1; status := 0 };\n"
    "  if (status = 0) { if (STOPPED = 1) { err := 1 } else { skip } } else { skip };\n"
    "  " PT_SML_BLUETOOTH_DECREMENT " end }\n" PT_SML_BLUETOOTH_STOP;
static const char pt_sml_bluetooth3[] =
    "int PENDINGIO, STOPPINGFLAG, STOPPINGEVENT, STOPPED;\n"
    "thread add { begin : Add PENDINGIO := PENDINGIO + 1;\n"
    "  if (STOPPINGFLAG = 1) { " PT_SML_BLUETOOTH_DECREMENT "; status := 0 - 1 } else { status := 0 };\n"
    "  if (status = 0) { if (STOPPED = 1) { err := 1 } else { skip } } else { skip };\n"
    "  " PT_SML_BLUETOOTH_DECREMENT " end }\n" PT_SML_BLUETOOTH_STOP;

#endif
