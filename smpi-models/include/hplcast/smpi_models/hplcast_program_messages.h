/* The functions of MPI that send, receive, probe and wait in simulated programs other than HPL, without SMPI's messages
 * (hplcast_smpi.h has those of HPL): hplcast_MPI_Send for MPI_Send and so on, with its parameters, for communicators
 * between ranks of MPI_COMM_WORLD and any datatypes (`ours` in programs/mpi_functions.txt). Requests may be ours or
 * those of SMPI's collective operations, mixed in one array. A call that cannot be served ends the simulation. */
#ifndef HPLCAST_PROGRAM_MESSAGES_H
#define HPLCAST_PROGRAM_MESSAGES_H

#include <smpi/smpi.h>

#include "hplcast/smpi_models/c_declarations.h"

HPLCAST_BEGIN_C

/* Whether messages are ours: direct_messages of the settings, and a platform of ours. If not, none of those functions
 * is to be called. */
int hplcast_messages(void);

/* Tells, once in a simulation, that results of `function` are wrong: its operation does not commute. */
void hplcast_warn_of_scan(const char* function);

/* For functions whose requests or communicators are always SMPI's: ends the simulation where messages are ours. */
void hplcast_refuse(const char* function);

/* All ranks of `parent` have called a function that made `child`, or MPI_COMM_NULL for this rank. */
void hplcast_communicator_made(MPI_Comm parent, MPI_Comm child);

/* hplcast_before_mpi() of a collective operation: who waits for whom in it, everybody for the last one, all for the
 * root, or the root for all. Only what is told of waiting depends on it. */
typedef enum hplcast_meets { HPLCAST_ALL, HPLCAST_FROM, HPLCAST_TO } hplcast_meets;
void hplcast_before_collective(const char* function, hplcast_meets meets, int root, MPI_Comm communicator);

/* As MPI_Request_c2f() and MPI_Request_f2c(), of ours, too. */
MPI_Fint hplcast_request_number(MPI_Request request);
MPI_Request hplcast_request_of_number(MPI_Fint number);

/* The time of MPI_Pack or MPI_Unpack, if the model has it. */
void hplcast_spend_packing(const char* function, int count, MPI_Datatype type);

HPLCAST_END_C

#endif
