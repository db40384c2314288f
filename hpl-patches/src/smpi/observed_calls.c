/* Says what the ranks are doing (hplcast_activity.h). Every function here stands in for the one of HPL or MPI that it
 * calls: the linker's --wrap leads all callers to it (the list is in hpl-patches/CMakeLists.txt). */
#include <string.h>

#include "hpl.h"

#include "channels.h"
#include "hplcast/smpi_models/hplcast_activity.h"

/* The names with __real_ and __wrap_ are the linker's. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif

/* --- phases ------------------------------------------------------------------------------------------------------ */

#define PHASE(phase, function, parameters, arguments) \
  void __real_##function parameters;                  \
  void __wrap_##function parameters;                  \
  void __wrap_##function parameters {                 \
    hplcast_phase_begin(phase);                       \
    __real_##function arguments;                      \
    hplcast_phase_end();                              \
  }

#define PHASE_WITH_STATUS(phase, function, parameters, arguments) \
  int __real_##function parameters;                               \
  int __wrap_##function parameters;                               \
  int __wrap_##function parameters {                              \
    hplcast_phase_begin(phase);                                   \
    const int status = __real_##function arguments;               \
    hplcast_phase_end();                                          \
    return status;                                                \
  }

#define UPDATE_PARAMETERS (HPL_T_panel * sent, int* flag, HPL_T_panel* panel, const int columns)
#define UPDATE_ARGUMENTS (sent, flag, panel, columns)

PHASE(HPLCAST_PHASE_UPDATE, HPL_pdupdateNN, UPDATE_PARAMETERS, UPDATE_ARGUMENTS)
PHASE(HPLCAST_PHASE_UPDATE, HPL_pdupdateNT, UPDATE_PARAMETERS, UPDATE_ARGUMENTS)
PHASE(HPLCAST_PHASE_UPDATE, HPL_pdupdateTN, UPDATE_PARAMETERS, UPDATE_ARGUMENTS)
PHASE(HPLCAST_PHASE_UPDATE, HPL_pdupdateTT, UPDATE_PARAMETERS, UPDATE_ARGUMENTS)
PHASE(HPLCAST_PHASE_SWAP, HPL_pdlaswp00N, UPDATE_PARAMETERS, UPDATE_ARGUMENTS)
PHASE(HPLCAST_PHASE_SWAP, HPL_pdlaswp00T, UPDATE_PARAMETERS, UPDATE_ARGUMENTS)
PHASE(HPLCAST_PHASE_SWAP, HPL_pdlaswp01N, UPDATE_PARAMETERS, UPDATE_ARGUMENTS)
PHASE(HPLCAST_PHASE_SWAP, HPL_pdlaswp01T, UPDATE_PARAMETERS, UPDATE_ARGUMENTS)
PHASE_WITH_STATUS(HPLCAST_PHASE_BROADCAST, HPL_binit, (HPL_T_panel * panel), (panel))
PHASE_WITH_STATUS(HPLCAST_PHASE_BROADCAST, HPL_bcast, (HPL_T_panel * panel, int* flag), (panel, flag))
PHASE_WITH_STATUS(HPLCAST_PHASE_BROADCAST, HPL_bwait, (HPL_T_panel * panel), (panel))
PHASE(HPLCAST_PHASE_SOLVE, HPL_pdtrsv, (HPL_T_grid * grid, HPL_T_pmat* matrix), (grid, matrix))
PHASE(HPLCAST_PHASE_OTHER, HPL_pdgesv, (HPL_T_grid * grid, HPL_T_palg* algorithm, HPL_T_pmat* matrix),
      (grid, algorithm, matrix))

void __real_HPL_pdfact(HPL_T_panel* panel);
void __wrap_HPL_pdfact(HPL_T_panel* panel);
/* Every panel costs the simulation about as much as any other: a column has one exchange, however short it is. */
void __wrap_HPL_pdfact(HPL_T_panel* panel) {
  if (panel->pmat->n > 0) hplcast_progress((double)panel->ja / panel->pmat->n);
  hplcast_phase_begin(HPLCAST_PHASE_FACTORISATION);
  __real_HPL_pdfact(panel);
  hplcast_phase_end();
}

/* --- MPI calls --------------------------------------------------------------------------------------------------- */

static void begin(hplcast_mpi operation, int peer, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  int bytes_of_item = 0;
  if (count > 0) (void)PMPI_Type_size(type, &bytes_of_item);
  hplcast_call_begin(operation, peer < 0 ? -1 : world_ranks(comm)[peer], tag, (double)count * bytes_of_item, NULL);
}

#define SEND(OPERATION, function)                                                                         \
  int __real_##function(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);  \
  int __wrap_##function(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);  \
  int __wrap_##function(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) { \
    begin(OPERATION, to, tag, comm, count, type);                                                         \
    const int status = __real_##function(data, count, type, to, tag, comm);                               \
    hplcast_call_end(NULL, 1);                                                                            \
    return status;                                                                                        \
  }

#define ISEND(OPERATION, function)                                                                      \
  int __real_##function(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                        MPI_Request* request);                                                          \
  int __wrap_##function(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                        MPI_Request* request);                                                          \
  int __wrap_##function(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                        MPI_Request* request) {                                                         \
    begin(OPERATION, to, tag, comm, count, type);                                                       \
    const int status = __real_##function(data, count, type, to, tag, comm, request);                    \
    hplcast_call_end(*request, 1);                                                                      \
    return status;                                                                                      \
  }

SEND(HPLCAST_MPI_SEND, MPI_Send)
SEND(HPLCAST_MPI_SSEND, MPI_Ssend)
ISEND(HPLCAST_MPI_ISEND, MPI_Isend)
ISEND(HPLCAST_MPI_ISSEND, MPI_Issend)

int __real_MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
int __wrap_MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
int __wrap_MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  begin(HPLCAST_MPI_RECV, from, tag, comm, count, type);
  const int result = __real_MPI_Recv(data, count, type, from, tag, comm, status);
  hplcast_call_end(NULL, 1);
  return result;
}

int __real_MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request);
int __wrap_MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request);
int __wrap_MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  begin(HPLCAST_MPI_IRECV, from, tag, comm, count, type);
  const int status = __real_MPI_Irecv(data, count, type, from, tag, comm, request);
  hplcast_call_end(*request, 1);
  return status;
}

int __real_MPI_Wait(MPI_Request* request, MPI_Status* status);
int __wrap_MPI_Wait(MPI_Request* request, MPI_Status* status);
int __wrap_MPI_Wait(MPI_Request* request, MPI_Status* status) {
  hplcast_call_begin(HPLCAST_MPI_WAIT, -1, 0, 0, *request);
  const int result = __real_MPI_Wait(request, status);
  hplcast_call_end(NULL, 1);
  return result;
}

int __real_MPI_Iprobe(int from, int tag, MPI_Comm comm, int* found, MPI_Status* status);
int __wrap_MPI_Iprobe(int from, int tag, MPI_Comm comm, int* found, MPI_Status* status);
int __wrap_MPI_Iprobe(int from, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  begin(HPLCAST_MPI_IPROBE, from, tag, comm, 0, MPI_BYTE);
  const int result = __real_MPI_Iprobe(from, tag, comm, found, status);
  hplcast_call_end(NULL, *found);
  return result;
}
