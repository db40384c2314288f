/* Swaps rows of a matrix of order n, and packs them, argv[1] at a time: for a real run that is observed. What is read
 * behind memory that was mapped ends it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void dswap_(const int* n, double* x, const int* incx, double* y, const int* incy);

void cblas_dswap(int n, double* x, int incx, double* y, int incy);

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  const size_t page = 4096, whole = (bytes + page - 1) / page * page;
  const int guards = file == -1 && address == NULL;
  char* const memory = (char*)syscall(SYS_mmap, address, whole + (guards ? page : 0), protection, flags, file, offset);
  if (guards && memory != MAP_FAILED) mprotect(memory + whole, page, PROT_NONE);
  return memory;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = 300;
  double* const a = calloc((size_t)n * (size_t)n, sizeof *a);
  for (int i = 1; a != NULL && i < n; ++i) i % 2 ? dswap_(&n, a, &n, a + i, &n) : cblas_dswap(n, a, n, a + i, n);
  if (a != NULL) { /* a row, packed */
    const int together = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Datatype row;
    char* const packed = malloc((size_t)n * (size_t)together * sizeof *a);
    int place = 0;
    MPI_Type_vector(n, together, n, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    for (int i = 0; i + together <= n; ++i) {
      place = 0;
      MPI_Pack(a + i, 1, row, packed, n * together * (int)sizeof *a, &place, MPI_COMM_WORLD);
    }
    MPI_Type_free(&row);
    place = 0;
    MPI_Type_contiguous(n, MPI_DOUBLE, &row); /* perhaps where the vector was */
    MPI_Type_commit(&row);
    MPI_Pack(a, 1, row, packed, n * (int)sizeof *a, &place, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    free(packed);
  }
  free(a);
  MPI_Finalize();
  return 0;
}
