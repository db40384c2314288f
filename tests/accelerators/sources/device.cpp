// A program of HIP, rocBLAS and MPI for the tests: device CASE. Prints what the tests ask for.
#include <hip/hip_runtime.h>
#include <mpi.h>
#include <rocblas/rocblas.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

__global__ void fill(int m, int n, double* a, double value) {
  for (int i = static_cast<int>(threadIdx.x); i < m * n; i += static_cast<int>(blockDim.x)) a[i] = value;
}
void fill_on_host(int m, int n, double* a, double value) {
  for (int i = 0; i < m * n; ++i) a[i] = value;
}
HPLCAST_HOST_KERNEL(fill, fill_on_host);

__global__ void unknown(int) {}

__global__ void panel(int rows, int columns, int* flag, double* pivot, double* a) {
  (void)rows, (void)columns, (void)flag, (void)pivot, (void)a;
}
/// Elimination of the columns of a panel. `pivot`: largest element and its row here, then that row; the host puts the
/// largest row of all ranks in its place, and a negative number where it is another rank's. Used rows become 0.
void panel_on_host(int rows, int columns, int* flag, double* pivot, double* a) {
  for (int j = 0; j < columns; ++j) {
    int largest = 0;
    for (int i = 0; i < rows; ++i)
      if (std::fabs(a[j * rows + i]) > std::fabs(a[j * rows + largest])) largest = i;
    pivot[0] = std::fabs(a[j * rows + largest]);
    pivot[1] = largest;
    for (int l = 0; l < columns; ++l) pivot[2 + l] = a[l * rows + largest];
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 0) {
    }
    for (int i = 0; i < rows; ++i) {
      const double factor = a[j * rows + i] / pivot[2 + j];
      for (int l = j; l < columns; ++l) a[l * rows + i] -= factor * pivot[2 + l];
    }
    if (pivot[1] >= 0)
      for (int l = 0; l < columns; ++l) a[l * rows + static_cast<int>(pivot[1])] = 0;
  }
}
HPLCAST_HOST_KERNEL(panel, panel_on_host);

void call_fill(int m, int n, double* a, double value, hipStream_t stream, unsigned threads = 64) {
#ifdef __HIP__
  fill<<<dim3(16), dim3(threads), 0, stream>>>(m, n, a, value);
#else
  hipLaunchKernelGGL(fill, dim3(16), dim3(threads), 0, stream, m, n, a, value);
#endif
}

double* on_device(std::size_t doubles) {
  double* memory = nullptr;
  if (hipMalloc(&memory, doubles * sizeof(double)) != hipSuccess) {
    std::printf("hipMalloc: %s\n", hipGetErrorString(hipGetLastError()));
    MPI_Finalize();
    std::exit(1);
  }
  return memory;
}

/// Two streams and an event between them.
void times() {
  hipStream_t one, other;
  hipEvent_t ready, begin, end;
  hipStreamCreate(&one);
  hipStreamCreateWithFlags(&other, hipStreamNonBlocking);
  for (hipEvent_t* event : {&ready, &begin, &end}) hipEventCreate(event);
  rocblas_handle blas;
  rocblas_create_handle(&blas);
  rocblas_set_stream(blas, one);
  double* const a = on_device(3000000);
  double* pinned = nullptr;
  hipHostMalloc(&pinned, 8000000);
  const double scalar = 1;
  const double start_s = MPI_Wtime();
  hipEventRecord(begin, one);
  rocblas_dgemm(blas, rocblas_operation_none, rocblas_operation_transpose, 1000, 500, 100, &scalar, a, 1000, a, 500,
                &scalar, a, 1000);
  call_fill(1000, 20, a, 0, one);
  hipEventRecord(ready, one);
  hipStreamWaitEvent(other, ready, 0);
  hipMemcpyAsync(pinned, a, 8000000, hipMemcpyDeviceToHost, other);
  hipEventRecord(end, other);
  const double queued_s = MPI_Wtime();
  hipStreamSynchronize(other);
  float milliseconds = 0;
  hipEventElapsedTime(&milliseconds, begin, end);
  std::printf("queued %.9g synchronised %.9g elapsed %.9g\n", queued_s - start_s, MPI_Wtime() - start_s,
              static_cast<double>(milliseconds) / 1e3);
  hipFree(a);
  hipHostFree(pinned);
}

/// Of four bytes each: short ones go along with long copies; what a long one has set is 0.
void fills(double* a, double* place) {
  int filled[3] = {};
  hipMemset(a, 2, 60000);
  hipMemcpy(&filled[0], place, sizeof(int), hipMemcpyDeviceToHost);
  hipMemcpy(a + 2000000, a, 8000000, hipMemcpyDeviceToDevice);
  hipMemcpy(&filled[1], a + 2000000, sizeof(int), hipMemcpyDeviceToHost);
  hipMemset(a, 0, 1000000);
  hipMemcpy(&filled[2], place, sizeof(int), hipMemcpyDeviceToHost);
  std::printf("filled %d %d %d\n", filled[0], filled[1], filled[2]);
}

/// 40 MB to every second 4000 bytes; the memory of the host was never written, either.
void rows(double* a) {
  constexpr std::size_t width = 4000, height = 10000;
  const std::unique_ptr<char[]> on_host(new char[width * height]);
  hipMemcpy2D(a, 2 * width, on_host.get(), width, width, height, hipMemcpyHostToDevice);
  hipMemcpy2D(on_host.get(), width, a, 2 * width, width, height, hipMemcpyDeviceToHost);
}

/// A list in a long message between two devices.
void content(int rank) {
  double* const a = on_device(10000000);
  int list[4] = {3, 1, 4, 1};
  double* const place = a + 5000;
  if (rank == 0) {
    hipMemcpy(place, list, sizeof list, hipMemcpyHostToDevice);
    MPI_Send(a, 4000000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(list, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else if (rank == 1) {
    std::memset(list, 0, sizeof list);
    MPI_Request requests[2];
    MPI_Irecv(a + 1000000, 4000000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(a, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    hipMemcpy(list, place + 1000000, sizeof list, hipMemcpyDeviceToHost);
    std::printf("list %d %d %d %d\n", list[0], list[1], list[2], list[3]);
    hipMemcpy(list, a, sizeof list, hipMemcpyDeviceToHost);
    std::printf("from host %d %d %d %d\n", list[0], list[1], list[2], list[3]);
  }
  int own = 10 + rank, others = 0;
  hipMemcpy(place, &own, sizeof own, hipMemcpyHostToDevice);
  MPI_Sendrecv_replace(a, 4000000, MPI_DOUBLE, 1 - rank, 2, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  hipMemcpy(&others, place, sizeof others, hipMemcpyDeviceToHost);
  std::printf("replaced %d of %d\n", others, 1 - rank);
  if (rank == 0) fills(a, place);
  rows(a);
}

/// The time of a long message from rank 0 to each other one, from memory of its device; then of one from its host.
void messages(int rank) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int doubles = 4000000;
  double* const a = on_device(doubles);
  std::vector<double> on_host(doubles);
  for (int i = 1; i <= ranks; ++i) {
    const int other = i < ranks ? i : 1;
    double* const memory = i < ranks ? a : on_host.data();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = MPI_Wtime();
    if (rank == 0) MPI_Send(memory, doubles, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
    if (rank == other) MPI_Recv(memory, doubles, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) std::printf("%.9g\n", MPI_Wtime() - start_s);
  }
  for (const bool replaces : {false, true}) {  // as much in both directions at once
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = MPI_Wtime();
    const int half = doubles / 2, other = 1 - rank;
    if (rank > 1) continue;
    if (replaces)
      MPI_Sendrecv_replace(a, half, MPI_DOUBLE, other, 0, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Sendrecv(a, half, MPI_DOUBLE, other, 0, a + half, half, MPI_DOUBLE, other, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    if (rank == 0) std::printf("%.9g\n", MPI_Wtime() - start_s);
  }
}

/// The pivot of all ranks: that of the one whose is largest.
void exchange(int rank, int columns, double* pivot) {
  struct {
    double value;
    int rank;
  } mine = {pivot[0], rank}, best{};
  MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  MPI_Bcast(pivot + 2, columns, MPI_DOUBLE, best.rank, MPI_COMM_WORLD);
  if (best.rank != rank) pivot[1] = -1;
}

/// The flag of a kernel for each column of a panel, whose row i has the powers of i + 1.
void handshake(int rank, int rows, int columns) {
  int ranks = 0, *flag = nullptr;
  double *pivot = nullptr, *a = on_device(static_cast<std::size_t>(rows * columns)), product = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  hipHostMalloc(&flag, sizeof *flag);
  hipHostMalloc(&pivot, static_cast<std::size_t>(2 + columns) * sizeof *pivot);
  std::vector<double> powers;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) powers.push_back(std::pow(rank * rows + i + 1, j));
  hipMemcpy(a, powers.data(), powers.size() * sizeof(double), hipMemcpyHostToDevice);
  void* arguments[] = {&rows, &columns, &flag, &pivot, &a};
  __hip_atomic_store(flag, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  const double start_s = MPI_Wtime();
#ifndef __HIP__
  hplcastNameKernel(reinterpret_cast<const void*>(panel), "panel", hplcast_accelerator::type_of(panel));
#endif
  hipLaunchCooperativeKernel(panel, dim3(4), dim3(256), arguments, 0, nullptr);
  bool are_rows = true;
  for (int j = 0; j < columns; ++j) {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) {
    }
    are_rows = are_rows && pivot[0] > 0 && pivot[1] >= 0 && pivot[1] < rows;
    if (ranks > 1) exchange(rank, columns, pivot);
    product *= pivot[2 + j];
    if (rank == 0) std::printf("column %.9g\n", MPI_Wtime() - start_s);
    __hip_atomic_store(flag, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  }
  hipDeviceSynchronize();
  if (rank > 0) return;
  std::printf("done %.9g %s\n", MPI_Wtime() - start_s, are_rows ? "with rows" : "without rows");
  std::printf("determinant %.12g\n", std::fabs(product));
}

/// C = A B, and its largest element.
void product() {
  rocblas_handle blas;
  rocblas_create_handle(&blas);
  double* const a = on_device(3);
  const std::vector<double> ab = {2, 3, 0};
  hipMemcpy(a, ab.data(), 3 * sizeof(double), hipMemcpyHostToDevice);
  const double one = 1, zero = 0;
  rocblas_dgemm(blas, rocblas_operation_none, rocblas_operation_none, 1, 1, 1, &one, a, 1, a + 1, 1, &zero, a + 2, 1);
  double c = 0;
  int largest = 0;
  hipMemcpy(&c, a + 2, sizeof c, hipMemcpyDeviceToHost);
  rocblas_idamax(blas, 3, a, 1, &largest);
  call_fill(1, 2, a, 7, nullptr);
  double filled = 0;
  hipMemcpy(&filled, a + 1, sizeof filled, hipMemcpyDeviceToHost);
  std::printf("product %g largest %d filled %g\n", c, largest, filled);
}

void spin_on_queries() {
  hipStream_t stream;
  hipStreamCreate(&stream);
  double* const a = on_device(1000);
  call_fill(1000, 1000, a, 0, stream);
  long polls = 0;
  while (hipStreamQuery(stream) == hipErrorNotReady) ++polls;
  std::printf("polls %ld\n", polls);
  hipEvent_t begin, end;
  for (hipEvent_t* event : {&begin, &end}) hipEventCreate(event);
  hipEventRecord(begin, stream);
  call_fill(1000, 1000, a, 0, stream);
  hipEventRecord(end, stream);
  float milliseconds = 0;
  for (polls = 0; hipEventElapsedTime(&milliseconds, begin, end) == hipErrorNotReady;) ++polls;
  std::printf("polls %ld of %.3f ms\n", polls, static_cast<double>(milliseconds));
}

/// Copies within the host: to and from pinned memory.
void copies_within_host() {
  constexpr std::size_t bytes = 8000000;
  const std::vector<char> pageable(bytes, 'x');
  char* pinned = nullptr;
  hipHostMalloc(&pinned, 2 * bytes);
  const double start_s = MPI_Wtime();
  hipMemcpy(pinned, pageable.data(), bytes, hipMemcpyHostToHost);
  const double copied_s = MPI_Wtime();
  hipMemcpyAsync(pinned + bytes, pinned, bytes, hipMemcpyDefault, nullptr);
  std::printf("%.9g %.9g %c\n", copied_s - start_s, MPI_Wtime() - copied_s, pinned[2 * bytes - 1]);
}

void spin_on_unknown_memory() {
  hipInit(0);
  static int flag = 0;
  while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) {
  }
}

void free_twice() {
  double* const a = on_device(1000);
  hipFree(a);
  hipFree(a);
}

/// Looks at the flag of a kernel in a way that nobody sees.
void spin_unseen(volatile int* flag) {
  while (*flag == 0) {
  }
}

/// Memory that is freed when the program has ended.
struct Owner {
  double* memory = nullptr;
  ~Owner() {
    if (memory != nullptr) std::fprintf(stderr, "freed at the end: %d\n", static_cast<int>(hipFree(memory)));
  }
} owner;

/// What rocBLAS says to a negative size, and to a matrix of more rows than its columns are apart.
void unsound_sizes() {
  rocblas_handle blas;
  rocblas_create_handle(&blas);
  double* const a = on_device(100);
  const double one = 1;
  for (const int m : {-5, 20}) {
    const rocblas_status status =
        rocblas_dgemm(blas, rocblas_operation_none, rocblas_operation_none, m, 5, 5, &one, a, 10, a, 5, &one, a, 10);
    std::printf("dgemm %d: %s\n", m, rocblas_status_to_string(status));
  }
}

void bad(const std::string& what) {
  int* flag = nullptr;
  if (what == "sizes") unsound_sizes();
  if (what == "static") owner.memory = on_device(1);
  if (what == "no-handle") rocblas_set_stream(nullptr, nullptr);
  static int on_host = 0;
  if (what == "too-much") on_device(std::size_t{9} << 30);
  if (what == "double-free") free_twice();
  if (what == "free-host") hipFree(&on_host);
  if (what == "free-inside") hipFree(on_device(10) + 1);
  if (what == "free-not-pinned") hipHostFree(&on_host);
  if (what == "shape") call_fill(1, 1, on_device(1), 0, nullptr, 2048);
  if (what == "no-model") hipLaunchKernelGGL(unknown, dim3(1), dim3(1), 0, nullptr, 1);
  if (what == "within-host") copies_within_host();
  if (what == "null-fill") hipMemset(nullptr, 0, 8);
  if (what == "direction") hipMemcpy(on_device(1), &on_host, 4, hipMemcpyDeviceToHost);
  if (what == "too-long") hipMemset(on_device(10), 0, 100);
  if (what == "pitch") hipMemcpy2D(on_device(10), 2, on_device(10), 16, 16, 2, hipMemcpyDeviceToDevice);
  if (what == "stream") hipStreamSynchronize(reinterpret_cast<hipStream_t>(7));
  if (what == "device") std::printf("hipSetDevice: %s\n", hipGetErrorString(hipSetDevice(99)));
  if (what == "two-devices")
    for (int number = 0; number < 2; ++number) {
      hipSetDevice(number);
      call_fill(1000, 1, nullptr, 0, nullptr);
    }
  if (what == "spin") spin_on_unknown_memory();
  if (what == "probe") {
    int is_there = 0;
    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    std::printf("probed %d\n", is_there);
  }
  if (what == "deadlock" || what == "unseen-spin" || what == "plain-load" || what == "plain-store") {
    hipHostMalloc(&flag, 256);
    int rows = 10, columns = 1;
    double* pivot = reinterpret_cast<double*>(flag + 2);
    double* a = pivot;
    void* arguments[] = {&rows, &columns, &flag, &pivot, &a};
    hplcastNameKernel(reinterpret_cast<const void*>(panel), "panel", hplcast_accelerator::type_of(panel));
    hipLaunchCooperativeKernel(panel, dim3(4), dim3(256), arguments, 0, nullptr);
    if (what == "unseen-spin") spin_unseen(flag);
    if (what == "plain-load") __hip_atomic_store(flag, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    if (what == "plain-store")
      while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 0) *flag = 0;
    hipDeviceSynchronize();
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string what = argc > 1 ? argv[1] : "times";
  if (what == "times")
    times();
  else if (what == "content")
    content(rank);
  else if (what == "messages")
    messages(rank);
  else if (what == "handshake")
    handshake(rank, 10000, 3);
  else if (what == "determinant")
    handshake(rank, 2, 4);
  else if (what == "product")
    product();
  else if (what == "queries")
    spin_on_queries();
  else
    bad(what);
  MPI_Finalize();
  return 0;
}
