/* The size of a message. */
#ifndef HPLCAST_MESSAGE_BYTES_H
#define HPLCAST_MESSAGE_BYTES_H

#include <mpi.h>

static inline double bytes_of(int count, MPI_Datatype type) {
  int bytes_of_item = 0;
  if (count > 0) (void)PMPI_Type_size(type, &bytes_of_item);
  return (double)count * bytes_of_item;
}

#endif
