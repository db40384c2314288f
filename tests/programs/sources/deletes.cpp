// 4 MiB are given back before each MPI_Barrier, in four ways of C++.
#include <mpi.h>

#include <memory>

struct alignas(64) Large {
  char bytes[4 << 20];
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  char* volatile array = new char[4 << 20];
  delete[] array;
  MPI_Barrier(MPI_COMM_WORLD);
  Large* volatile one = new Large;
  delete one;
  MPI_Barrier(MPI_COMM_WORLD);
  Large* volatile few = new Large[1];
  delete[] few;
  MPI_Barrier(MPI_COMM_WORLD);
  few = std::allocator<Large>().allocate(1);  // as of std::vector
  std::allocator<Large>().deallocate(few, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
