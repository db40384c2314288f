// 4 MiB are given back before each MPI_Barrier, in four ways of C++.
#include <mpi.h>

#include <memory>

struct alignas(64) Line {
  char bytes[64];
};
struct Large {
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
  Line* volatile lines = new Line[(4 << 20) / 64];
  delete[] lines;
  MPI_Barrier(MPI_COMM_WORLD);
  std::allocator<Line> allocator;  // as of std::vector
  lines = allocator.allocate((4 << 20) / 64);
  allocator.deallocate(lines, (4 << 20) / 64);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
