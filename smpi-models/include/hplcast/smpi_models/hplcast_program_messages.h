/* Messages of simulated programs other than HPL, without SMPI's (hplcast_smpi.h has those of HPL): the functions of MPI
 * that send, receive, probe and wait, for communicators between ranks of MPI_COMM_WORLD and any datatypes. The wrapped
 * MPI functions (programs/simulated/messages.c) are their users. Arguments and results are those of MPI; requests are not
 * SMPI's. A call that cannot be served ends the simulation. */
#ifndef HPLCAST_PROGRAM_MESSAGES_H
#define HPLCAST_PROGRAM_MESSAGES_H

#include <smpi/smpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Whether messages are ours: direct_messages of the settings, and a platform of ours. If not, nothing below is to be
 * called. */
int hplcast_messages(void);

/* All ranks of `parent` have called a function that made `child`, or MPI_COMM_NULL for this rank. */
void hplcast_communicator_made(MPI_Comm parent, MPI_Comm child);
/* Only those of `child` have: MPI_Comm_create_group. */
void hplcast_communicator_made_by_group(MPI_Comm parent, int tag, MPI_Comm child);
void hplcast_communicator_freed(MPI_Comm communicator);

/* hplcast_before_mpi() of a collective operation: who waits for whom in it, everybody for the last one, all for the root, or
 * the root for all. Only what is told of waiting depends on it. */
typedef enum hplcast_meets { HPLCAST_ALL, HPLCAST_FROM, HPLCAST_TO } hplcast_meets;
void hplcast_before_collective(const char* function, hplcast_meets meets, int root, MPI_Comm communicator);

/* Whether elements of this type have gaps, and are in blocks of less than 64 bytes, or it is not known in which. */
int hplcast_has_short_blocks(MPI_Datatype type);

/* One end of a message. */
typedef struct hplcast_end {
  void* buffer;
  int count;
  MPI_Datatype type;
  int peer; /* MPI_PROC_NULL; of a receive also MPI_ANY_SOURCE */
  int tag;
  MPI_Comm communicator;
} hplcast_end;

/* `synchronous`: as MPI_Ssend. */
void hplcast_mpi_send(const hplcast_end* end, int synchronous);
void hplcast_mpi_receive(const hplcast_end* end, MPI_Status* status);
MPI_Request hplcast_mpi_isend(const hplcast_end* end, int synchronous);
MPI_Request hplcast_mpi_ireceive(const hplcast_end* end);
/* Persistent: hplcast_mpi_start() begins it. */
MPI_Request hplcast_mpi_prepare(const hplcast_end* end, int receives, int synchronous);
void hplcast_mpi_start(MPI_Request request);
/* MPI_Iprobe and MPI_Probe, of a message that `end` would receive. */
int hplcast_mpi_probe(const hplcast_end* end, int waits, MPI_Status* status);

/* Whether one of the functions above has made it. */
int hplcast_is_request(MPI_Request request);
/* As MPI_Wait and MPI_Test; what has ended is set to MPI_REQUEST_NULL, unless it is persistent. */
void hplcast_mpi_wait(MPI_Request* request, MPI_Status* status);
int hplcast_mpi_test(MPI_Request* request, MPI_Status* status);
/* As MPI_Waitany: which of them, of which at least one is neither null nor inactive, has ended. */
int hplcast_mpi_wait_any(int count, MPI_Request* requests);
/* Whether it is neither null nor a persistent one that was not started. */
int hplcast_is_active(MPI_Request request);
/* Bytes of a message whose elements are short blocks with gaps (hplcast_has_short_blocks()): of an active request that
 * receives it, or of one that sends it; else 0. */
double hplcast_bytes_to_unpack(MPI_Request request);
double hplcast_bytes_to_pack(MPI_Request request);
/* As hplcast_mpi_wait_any() where it does not matter which one is told, for less work; -1: none is active. */
int hplcast_mpi_wait_next(int count, MPI_Request* requests);
void hplcast_mpi_request_free(MPI_Request* request);

/* The number that stands for a request of ours in Fortran, and back; null for other numbers. */
int hplcast_request_number(MPI_Request request);
MPI_Request hplcast_request_of_number(int number);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
