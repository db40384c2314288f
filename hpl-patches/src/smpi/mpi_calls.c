/* Every MPI call of HPL that spends or observes simulated time first spends what the kernels before it have cost, and
 * is counted. The linker's -Bsymbolic makes HPL use these definitions, and MPI's profiling interface is what they call.
 */
#include <mpi.h>

#include "channels.h"
#include "hplcast/smpi_models/hplcast_smpi.h"

/* Only bytes matter in messages without content: a strided piece of U is sent as as many bytes in a row, because
 * packing and unpacking would read and write memory that is there in name only. What has content (pivots) is
 * contiguous, see shared_panel.c. */
static void flatten(int* count, MPI_Datatype* type) {
#ifdef HPLCAST_NO_CONTENT
  int bytes_of_item = 0;
  if (*type == MPI_DOUBLE || *type == MPI_INT || *type == MPI_BYTE) return;
  (void)PMPI_Type_size(*type, &bytes_of_item);
  *count *= bytes_of_item;
  *type = MPI_BYTE;
#else
  (void)count, (void)type;
#endif
}

static void enter(hplcast_mpi operation, int count, MPI_Datatype type) {
  int bytes_of_item = 0;
  if (count > 0) (void)PMPI_Type_size(type, &bytes_of_item);
  hplcast_flush();
  hplcast_count_message(operation, (double)count * bytes_of_item);
}

static void enter_without_data(hplcast_mpi operation) {
  enter(operation, 0, MPI_BYTE);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  enter(HPLCAST_MPI_SEND, count, type);
  flatten(&count, &type);
  sent(to, tag, comm);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  enter(HPLCAST_MPI_SSEND, count, type);
  flatten(&count, &type);
  sent(to, tag, comm);
  return PMPI_Ssend(data, count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  int status;
  enter(HPLCAST_MPI_ISEND, count, type);
  flatten(&count, &type);
  status = PMPI_Isend(data, count, type, to, tag, comm, request);
  sent(to, tag, comm);
  return status;
}

int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  int status;
  enter(HPLCAST_MPI_ISSEND, count, type);
  flatten(&count, &type);
  status = PMPI_Issend(data, count, type, to, tag, comm, request);
  sent(to, tag, comm);
  return status;
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  enter(HPLCAST_MPI_RECV, count, type);
  flatten(&count, &type);
  taken(from, tag, comm);
  return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  enter(HPLCAST_MPI_IRECV, count, type);
  flatten(&count, &type);
  taken(from, tag, comm);
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  enter(HPLCAST_MPI_SENDRECV, out_count, out_type);
  flatten(&out_count, &out_type);
  flatten(&in_count, &in_type);
  sent(to, out_tag, comm);
  taken(from, in_tag, comm);
  return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  const hplcast_channel probed = channel(from, own_rank(comm), tag, comm);
  int result;
  hplcast_count_message(HPLCAST_MPI_IPROBE, 0);
  hplcast_probe_begin(&probed); /* in place of hplcast_flush() */
  result = PMPI_Iprobe(from, tag, comm, found, status);
  hplcast_probe_end(*found);
  return result;
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  enter_without_data(HPLCAST_MPI_TEST);
  return PMPI_Test(request, done, status);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  enter_without_data(HPLCAST_MPI_WAIT);
  return PMPI_Wait(request, status);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  enter_without_data(HPLCAST_MPI_COLLECTIVE);
  return PMPI_Comm_split(comm, color, key, part);
}

#ifdef HPLCAST_NO_CONTENT
/* HPL frees the types of its panels, which here are MPI_DOUBLE (shared_panel.c). */
int MPI_Type_free(MPI_Datatype* type) {
  if (*type != MPI_DOUBLE) return PMPI_Type_free(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
#endif

double MPI_Wtime(void) {
  hplcast_flush();
  return PMPI_Wtime();
}

int MPI_Abort(MPI_Comm comm, int status) {
  hplcast_flush();
  return PMPI_Abort(comm, status);
}

int MPI_Finalize(void) {
  hplcast_flush();
  return PMPI_Finalize();
}
