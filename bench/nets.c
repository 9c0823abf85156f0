/*
 * Unfolding 1-safe nets (net_families.h), on one core: processor time per history of an event as the nets grow, and
 * what `--deadlock` takes. Every case runs in a process of its own, whose peak memory the parent reads.
 *
 *   nets                    the table
 *   nets FAMILY N           one case
 *   nets FAMILY N FILE      writes it as .ll_net, for other tools
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/child.h"
#include "bench/net_families.h"
#include "net/netfile.h"
#include "net/question.h"

struct outcome {
    double seconds;
    uint64_t events, histories, cutoffs;
    bool found;
    double megabytes;
};

static struct outcome ask_once(enum net_family family, uint32_t n, enum pt_question_kind kind, bool plain)
{
    struct pt_net net;
    struct pt_answer answer;
    struct pt_err err;
    struct pt_question question = {.kind = kind, .plain = plain};
    net_make(family, n, &net);
    double start = cpu_time();
    if (pt_net_ask(&net, &question, &answer, &err) != PT_OK) {
        fprintf(stderr, "%s\n", err.message);
        _exit(2);
    }
    struct outcome outcome = {.seconds = cpu_time() - start,
                              .events = answer.events,
                              .histories = answer.histories,
                              .cutoffs = answer.cutoffs,
                              .found = answer.found};
    pt_answer_release(&answer);
    pt_net_release(&net);
    return outcome;
}

struct asked {
    enum net_family family;
    uint32_t n;
    enum pt_question_kind kind;
    bool plain;
    struct outcome best;
};

static void ask(void *context)
{
    struct asked *asked = context;
    for (int i = 0; i < 3 && (i == 0 || asked->best.seconds < 2); i++) {
        struct outcome outcome = ask_once(asked->family, asked->n, asked->kind, asked->plain);
        if (outcome.seconds < asked->best.seconds)
            asked->best = outcome;
    }
}

/* In a child of its own; the least time of three turns. */
static struct outcome measure(enum net_family family, uint32_t n, enum pt_question_kind kind, bool plain)
{
    struct asked asked = {family, n, kind, plain, {.seconds = 1e9}};
    double megabytes = measure_in_child(ask, &asked, &asked.best, sizeof asked.best);
    asked.best.megabytes = megabytes;
    return asked.best;
}

/* With read arcs, and, where that makes a difference, as plain as it stands. */
static void report(enum net_family family, uint32_t n)
{
    bool differs = true;
    for (int plain = 0; plain <= 1 && differs; plain++) {
        struct outcome o = measure(family, n, PT_ASK_NOTHING, plain);
        printf("%-13s %3u %s %8llu events %8llu histories %8llu cut-offs %8.3f s %7.2f us each %7.1f MB",
               net_family_names[family], n, plain ? "plain" : "     ", (unsigned long long)o.events,
               (unsigned long long)o.histories, (unsigned long long)o.cutoffs, o.seconds,
               o.seconds * 1e6 / (double)o.histories, o.megabytes);
        fflush(stdout);
        if (!plain) {
            struct outcome d = measure(family, n, PT_ASK_DEADLOCK, false);
            printf("  deadlock: %s, %.3f s%s", d.found ? "yes" : "no", d.seconds, d.events ? "" : " without unfolding");
        }
        printf("\n");
        fflush(stdout);
        differs = o.histories != o.events;
    }
}

static int write_net(enum net_family family, uint32_t n, const char *path)
{
    struct pt_net net;
    struct pt_buf buf;
    net_make(family, n, &net);
    pt_buf_init(&buf);
    pt_llnet_write(&net, &buf);
    FILE *out = fopen(path, "w");
    bool ok = out && fwrite(buf.text, 1, buf.len, out) == buf.len;
    if (out && fclose(out) != 0)
        ok = false;
    pt_buf_release(&buf);
    pt_net_release(&net);
    if (!ok)
        perror(path);
    return ok ? 0 : 2;
}

static void report_all(void)
{
    static const uint32_t sizes[NET_FAMILIES][4] = {
        [NET_PHILOSOPHERS] = {30, 60, 120, 240},
        [NET_RING] = {25, 50, 100, 200},
        [NET_READERS] = {6, 8, 10, 11},
        [NET_COUNTER] = {12, 14, 16, 18},
        [NET_PIPELINE] = {10, 12, 14, 15},
        [NET_KEY] = {6, 7, 8, 9},
        [NET_DME] = {5, 6, 7, 8},
    };
    for (uint32_t f = 0; f < NET_FAMILIES; f++) {
        for (uint32_t i = 0; i < 4; i++)
            report((enum net_family)f, sizes[f][i]);
    }
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        report_all();
        return 0;
    }
    for (uint32_t f = 0; argc >= 3 && argc <= 4 && f < NET_FAMILIES; f++) {
        if (strcmp(argv[1], net_family_names[f]) != 0)
            continue;
        uint32_t n = (uint32_t)strtoul(argv[2], NULL, 10);
        if (argc == 4)
            return write_net((enum net_family)f, n, argv[3]);
        report((enum net_family)f, n);
        return 0;
    }
    fprintf(stderr, "usage: nets [FAMILY N [FILE]]\n");
    return 2;
}
