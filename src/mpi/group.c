/*
 * The three functions of a group, by MPI. Guarantee: whatever arrives is complete and in order; a process that dies
 * ends all of them (MPI's own error handler, and mpirun). Cost: an exchange is one all-to-all of sizes, and a message
 * for each pair that has something to say, in pieces that an int can count.
 */
#include "mpi/group.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

enum { PIECE = 1 << 30, TAG = 1 };

static size_t pieces(size_t len)
{
    return (len + PIECE - 1) / PIECE;
}

static int piece_len(size_t len, size_t piece)
{
    size_t left = len - piece * PIECE;
    return (int)(left < PIECE ? left : PIECE);
}

static void make_room(struct pt_group_bytes *in, size_t len)
{
    in->len = 0;
    (void)pt_group_bytes_add(in, len + 1); /* one more: never NULL */
    in->len = len;
}

static uint64_t processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void leave(struct pt_mpi_figures *figures, uint64_t since)
{
    figures->calls++;
    figures->inside_ns += processor_time() - since;
}

static void sum(void *context, uint64_t *values, uint32_t count)
{
    uint64_t since = processor_time();
    MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    leave(context, since);
}

static void spread(void *context, uint32_t from, void *bytes, size_t size)
{
    uint64_t since = processor_time();
    for (size_t k = 0; k < pieces(size); k++)
        MPI_Bcast((char *)bytes + k * PIECE, piece_len(size, k), MPI_BYTE, (int)from, MPI_COMM_WORLD);
    leave(context, since);
}

/* All pieces of all messages at once; MPI keeps those of a pair in order. */
static void pass(const struct pt_group_bytes *out, struct pt_group_bytes *in, int rank, int size, size_t most)
{
    MPI_Request *requests = pt_xcalloc(most + 1, sizeof(MPI_Request));
    int count = 0;
    for (int k = 1; k < size; k++) { /* each begins with its neighbour, so that no one is asked by all */
        int p = (rank + k) % size;
        for (size_t i = 0; i < pieces(in[p].len); i++)
            MPI_Irecv(in[p].data + i * PIECE, piece_len(in[p].len, i), MPI_BYTE, p, TAG, MPI_COMM_WORLD,
                      &requests[count++]);
    }
    for (int k = 1; k < size; k++) {
        int p = (rank + k) % size;
        for (size_t i = 0; i < pieces(out[p].len); i++)
            MPI_Isend(out[p].data + i * PIECE, piece_len(out[p].len, i), MPI_BYTE, p, TAG, MPI_COMM_WORLD,
                      &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void exchange(void *context, const struct pt_group_bytes *out, struct pt_group_bytes *in)
{
    struct pt_mpi_figures *figures = context;
    uint64_t since = processor_time();
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t *sizes = pt_xcalloc(2 * (size_t)size, sizeof *sizes), *theirs = sizes + size;
    size_t most = 0;
    for (int p = 0; p < size; p++)
        sizes[p] = out[p].len;
    MPI_Alltoall(sizes, 1, MPI_UINT64_T, theirs, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int p = 0; p < size; p++) {
        make_room(&in[p], theirs[p]);
        most += pieces(theirs[p]) + pieces(sizes[p]);
        figures->bytes += p == rank ? 0 : sizes[p];
        figures->messages += p == rank ? 0 : pieces(sizes[p]);
    }
    pass(out, in, rank, size, most);
    if (out[rank].len)
        memcpy(in[rank].data, out[rank].data, out[rank].len);
    free(sizes);
    leave(figures, since);
}

void pt_mpi_group_begin(struct pt_group *group, struct pt_mpi_figures *figures)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *group = (struct pt_group){(uint32_t)rank, (uint32_t)size, figures, exchange, sum, spread};
}
