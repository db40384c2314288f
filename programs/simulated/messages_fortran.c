/* Functions of MPI that are ours (hplcast_program_messages.h) as Fortran calls them: everything by address, handles as
 * numbers, the result at the end. generate_routines makes them of mpi_functions.txt and what is here. */
#include <stdlib.h>

#include "mpi_wrap.h"

struct hplcast_frame hplcast_frame_in_fortran = {NULL, NULL};

/* Addresses that Fortran hands over for constants of MPI: SMPI's common blocks of these names. */
extern int mpi_bottom_, mpi_in_place_, mpi_status_ignore_, mpi_statuses_ignore_;

static void* buffer_of(void* address) {
  return address == (void*)&mpi_bottom_ ? MPI_BOTTOM : address == (void*)&mpi_in_place_ ? MPI_IN_PLACE : address;
}

/* SMPI multiplies the two parts of Fortran's complex numbers as if they were two numbers. */
static MPI_Datatype type_of(MPI_Fint number) {
  const MPI_Datatype type = MPI_Type_f2c(number);
  if (type == MPI_COMPLEX8) return MPI_C_FLOAT_COMPLEX;
  if (type == MPI_COMPLEX16) return MPI_C_DOUBLE_COMPLEX;
  return type != NULL ? type : MPI_DATATYPE_NULL;
}

/* One status, or several. */
static MPI_Status* status_of(void* address) {
  return address == (void*)&mpi_status_ignore_ || address == (void*)&mpi_statuses_ignore_ ? MPI_STATUS_IGNORE
                                                                                          : (MPI_Status*)address;
}

static MPI_Request* requests_of(int count, const MPI_Fint* numbers) {
  MPI_Request* const requests = malloc(sizeof *requests * (size_t)(count > 0 ? count : 1));
  for (int i = 0; i < count; ++i) requests[i] = hplcast_request_of_number(numbers[i]);
  return requests;
}

/* And back. Frees them. */
static void return_requests(int count, MPI_Request* requests, MPI_Fint* numbers) {
  for (int i = 0; i < count; ++i) numbers[i] = hplcast_request_number(requests[i]);
  free(requests);
}

/* Places are counted from 1 there. */
static void shift(int count, int* places) {
  for (int i = 0; i < count; ++i)
    if (places[i] != MPI_UNDEFINED) ++places[i];
}

#include "fortran_functions.h"
