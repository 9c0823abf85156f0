/* The processes of one mpirun as a group (engine/group.h): the only file that speaks MPI, with main.c. */
#ifndef PT_MPI_GROUP_H
#define PT_MPI_GROUP_H

#include "engine/group.h"

/* What one process has sent to others. */
struct pt_mpi_figures {
    uint64_t bytes, messages; /* in exchanges */
    uint64_t calls;           /* collective ones */
    uint64_t inside_ns;       /* processor time in them, waiting included */
};

/* Between MPI_Init and MPI_Finalize. The group's context is *figures. */
void pt_mpi_group_begin(struct pt_group *group, struct pt_mpi_figures *figures);

#endif
