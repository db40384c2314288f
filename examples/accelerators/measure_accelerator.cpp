/* What the calls of block_lu.cpp take on an accelerator: CSV on the standard output, for `hplcast fit kernel`.
 *
 *     measure_accelerator N NB [INNER [CALLS [SEED]]]
 *
 * N: largest number of local rows and columns; NB, INNER: as of block_lu. Rows: kernel, m, n, k, duration_s. CALLS of
 * each kernel (60), in random order, sizes drawn between 1 and N. Durations are those in a stream that is never empty,
 * by events: with the gap between two kernels. Rows without sizes: launch, record (of the host, per call), gap (an
 * empty kernel), wait (of the host: an empty kernel in an idle stream and hipStreamSynchronize, less launch and gap).
 * Copies have bytes as n. */
#include <rocblas/rocblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels.hpp"

__global__ void nothing(int) {}
#ifdef HPLCAST_ACCELERATOR
void nothing_on_host(int) {}
HPLCAST_HOST_KERNEL(nothing, nothing_on_host);
#endif

namespace {

void require(bool is_fine, const char* what) {
  if (is_fine) return;
  std::fprintf(stderr, "measure_accelerator: %s failed\n", what);
  std::exit(1);
}
#define HIP(call) require((call) == hipSuccess, #call)
#define BLAS(call) require((call) == rocblas_status_success, #call)

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print(const char* kernel, long m, long n, long k, double duration_s) {
  std::printf("%s,%ld,%ld,%ld,%.9g\n", kernel, m, n, k, duration_s);
}

template <typename T>
T* on_device(std::size_t count) {
  T* memory = nullptr;
  HIP(hipMalloc(&memory, count * sizeof(T)));
  return memory;
}

class Measuring {
 public:
  Measuring(int N, int NB, int inner, unsigned seed);
  void overheads();
  void all(int calls);

 private:
  /// A call with its sizes: printed, and made at a place of the matrix that is another one each time.
  struct Call {
    const char* kernel;
    int m, n, k;
    std::function<void()> make;
  };
  void time(const Call& call);
  Call draw(int kind);
  int size(int most) { return std::uniform_int_distribution<int>(1, most)(random_); }
  /// Another place each time: of the matrix, or of a panel, which fits into caches.
  double* place(int rows, int columns, bool in_panel = false) {
    const int width = in_panel ? NB : ld_ - 1;
    return a_ + size(ld_ - rows) - 1 + static_cast<std::size_t>(size(width - columns + 1) - 1) * ld_;
  }
  double in_stream_s(int calls, const std::function<void()>& make);
  void busy();

  int N, NB, inner_, ld_;
  std::mt19937 random_;
  hipStream_t stream_;
  hipEvent_t begin_, end_;
  rocblas_handle blas_;
  double *a_, *u_, *panel_, *spare_, *pinned_;
  int* rows_;
};

Measuring::Measuring(int N_, int NB_, int inner, unsigned seed)
    : N(N_), NB(NB_), inner_(inner), ld_(N + NB + 1), random_(seed) {
  HIP(hipStreamCreate(&stream_));
  HIP(hipEventCreate(&begin_));
  HIP(hipEventCreate(&end_));
  BLAS(rocblas_create_handle(&blas_));
  BLAS(rocblas_set_stream(blas_, stream_));
  a_ = on_device<double>(static_cast<std::size_t>(ld_) * ld_);
  u_ = on_device<double>(static_cast<std::size_t>(ld_) * NB);
  panel_ = on_device<double>(static_cast<std::size_t>(ld_) * NB);
  spare_ = on_device<double>(static_cast<std::size_t>(ld_) * NB);
  HIP(hipHostMalloc(&pinned_, sizeof(double) * 1024 * 1024));
  std::vector<int> rows(NB);
  for (int& row : rows) row = size(N) - 1;
  rows_ = on_device<int>(NB);
  HIP(hipMemcpy(rows_, rows.data(), sizeof(int) * NB, hipMemcpyHostToDevice));
  for (const auto& [memory, columns] : {std::pair(a_, ld_), {u_, NB}, {panel_, NB}})
    hipLaunchKernelGGL(fill, grid_of(ld_, columns), dim3(64), 0, stream_, ld_, columns, memory, ld_, ld_, 0, 1, 0, 1);
  const double small = 1e-3;  // triangular systems of it are tame
  BLAS(rocblas_dscal(blas_, ld_ * NB, &small, panel_, 1));
  HIP(hipDeviceSynchronize());
}

/// Some milliseconds of work, behind which calls queue.
void Measuring::busy() {
  const double one = 1, zero = 0;
  const int n = std::min(N, 600);
  BLAS(rocblas_dgemm(blas_, rocblas_operation_none, rocblas_operation_none, n, std::min(n, NB), n, &one, a_, ld_, a_,
                     ld_, &zero, spare_, ld_));
}

double Measuring::in_stream_s(int calls, const std::function<void()>& make) {
  float milliseconds = 0;
  busy();
  HIP(hipEventRecord(begin_, stream_));
  for (int i = 0; i < calls; ++i) make();
  HIP(hipEventRecord(end_, stream_));
  HIP(hipEventSynchronize(end_));
  HIP(hipEventElapsedTime(&milliseconds, begin_, end_));
  return 1e-3 * milliseconds / calls;
}

void Measuring::overheads() {
  const auto empty = [&] { hipLaunchKernelGGL(nothing, dim3(1), dim3(64), 0, stream_, 1); };
  for (int repeat = 0; repeat < 20; ++repeat) {
    constexpr int calls = 100;
    busy();
    double begin_s = now_s();
    for (int i = 0; i < calls; ++i) empty();
    const double launch_s = (now_s() - begin_s) / calls;
    begin_s = now_s();
    for (int i = 0; i < calls; ++i) HIP(hipEventRecord(begin_, stream_));
    const double record_s = (now_s() - begin_s) / calls;
    HIP(hipStreamSynchronize(stream_));
    const double gap_s = in_stream_s(calls, empty);
    begin_s = now_s();
    for (int i = 0; i < calls; ++i) {
      empty();
      HIP(hipStreamSynchronize(stream_));
    }
    const double turn_s = (now_s() - begin_s) / calls;
    print("launch", 1, 1, 1, launch_s);
    print("record", 1, 1, 1, record_s);
    print("gap", 1, 1, 1, gap_s);
    print("wait", 1, 1, 1, std::max(turn_s - launch_s - gap_s, 1e-9));
  }
}

/// One of the calls of block_lu.
Measuring::Call Measuring::draw(int kind) {
  static const double minus_one = -1, one = 1, zero = 0;
  const auto none = rocblas_operation_none;
  const int m = size(N), n = size(N), narrow = size(NB);
  switch (kind) {
    case 0:  // update
      return {"dgemm", m, n, NB, [=] {
                double* const c = place(m, n);
                BLAS(rocblas_dgemm(blas_, none, none, m, n, NB, &minus_one, panel_, ld_, u_, NB, &one, c, ld_));
              }};
    case 1:  // in the panel
      return {
          "dgemm", m, narrow, inner_, [=] {
            double* const c = place(m, narrow, true);
            BLAS(rocblas_dgemm(blas_, none, none, m, narrow, inner_, &minus_one, panel_, ld_, u_, NB, &one, c, ld_));
          }};
    case 2:
    case 3: {
      const int rows = kind == 2 ? NB : inner_, columns = kind == 2 ? n : narrow;
      return {"dtrsm", rows, columns, rows, [=] {
                BLAS(rocblas_dtrsm(blas_, rocblas_side_left, rocblas_fill_lower, none, rocblas_diagonal_unit, rows,
                                   columns, &one, panel_, ld_, u_, NB));
              }};
    }
    case 4: {
      const int columns = size(inner_);
      return {"dger", m, columns, 1, [=] {
                double* const c = place(m, columns, true);
                BLAS(rocblas_dger(blas_, m, columns, &minus_one, panel_, 1, u_, NB, c, ld_));
              }};
    }
    case 5:
      return {"dscal", 1, n, 1, [=] {
                double* const x = place(n, 1, true);
                BLAS(rocblas_dscal(blas_, n, &one, x, 1));
              }};
    case 6:
      return {"dcopy", 1, NB, 1, [=] {
                double* const x = place(1, NB, true);
                BLAS(rocblas_dcopy(blas_, NB, x, ld_, u_, 1));
              }};
    case 7:
      return {"dgemv", NB, n, 1, [=] {
                double* const x = place(NB, n);
                BLAS(rocblas_dgemv(blas_, none, NB, n, &minus_one, x, ld_, panel_, 1, &zero, u_, 1));
              }};
    case 8:
      return {"dtrsv", 1, NB, 1, [=] {
                BLAS(rocblas_dtrsv(blas_, rocblas_fill_upper, none, rocblas_diagonal_unit, NB, panel_, ld_, u_, 1));
              }};
    case 9:
      return {"pack_rows", narrow, n, 1, [=] {
                double* const c = place(1, n);
                hipLaunchKernelGGL(pack_rows, grid_of(n, narrow), dim3(64), 0, stream_, narrow, n, c, ld_, rows_, u_);
              }};
    case 10:
      return {"unpack_rows", narrow, n, 1, [=] {
                double* const c = place(1, n);
                hipLaunchKernelGGL(unpack_rows, grid_of(n, narrow), dim3(64), 0, stream_, narrow, n, c, ld_, rows_, u_);
              }};
    case 11:
      return {"copy_block", m, NB, 1, [=] {
                double* const c = place(m, NB, true);
                hipLaunchKernelGGL(copy_block, grid_of(m, NB), dim3(64), 0, stream_, m, NB, c, ld_, spare_, m);
              }};
    case 12:
      return {"copy_block", NB, n, 1, [=] {
                double* const c = place(NB, n);
                hipLaunchKernelGGL(copy_block, grid_of(NB, n), dim3(64), 0, stream_, NB, n, u_, NB, c, ld_);
              }};
    default: {
      const int count = 2 * size(4 * NB);
      const bool to_device = kind == 13;
      const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(count);
      return {to_device ? "to_device" : "from_device", 1, static_cast<int>(bytes), 1, [=] {
                HIP(hipMemcpyAsync(to_device ? u_ : pinned_, to_device ? pinned_ : u_, bytes,
                                   to_device ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost, stream_));
              }};
    }
  }
}

void Measuring::time(const Call& call) {
  const double work = static_cast<double>(call.m) * call.n * call.k;
  // The median of three: other programs of the machine come in between.
  double times_s[3];
  for (double& one : times_s) one = in_stream_s(work > 1e6 ? 1 : 10, call.make);
  std::sort(times_s, times_s + 3);
  print(call.kernel, call.m, call.n, call.k, times_s[1]);
}

void Measuring::all(int calls) {
  constexpr int kinds = 15;
  std::vector<int> order;
  for (int kind = 0; kind < kinds; ++kind) order.insert(order.end(), static_cast<std::size_t>(calls), kind);
  std::shuffle(order.begin(), order.end(), random_);
  for (const int kind : order) time(draw(kind));
  // The search waits for its result: what it takes beyond one of a single element.
  const auto search_s = [&](int n) {
    rocblas_int found = 0;
    const double begin_s = now_s();
    BLAS(rocblas_idamax(blas_, n, place(n, 1, true), 1, &found));
    return now_s() - begin_s;
  };
  const auto median_s = [&](int n, int times) {
    std::vector<double> all_s;
    for (int i = 0; i < times; ++i) all_s.push_back(search_s(n));
    std::nth_element(all_s.begin(), all_s.begin() + times / 2, all_s.end());
    return all_s[static_cast<std::size_t>(times) / 2];
  };
  const double alone_s = median_s(1, 101);
  for (int i = 0; i < 2 * calls; ++i) {
    const int n = size(N);
    print("idamax", 1, n, 1, std::max(median_s(n, 5) - alone_s, 1e-9));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int place, int otherwise) { return argc > place ? std::atoi(argv[place]) : otherwise; };
  const int N = number(1, 0), NB = number(2, 0), inner = number(3, 32), calls = number(4, 60);
  if (N < 1 || NB < 1 || NB > N || inner < 1 || inner > NB || calls < 1) {
    std::fprintf(stderr, "usage: measure_accelerator N NB [INNER [CALLS [SEED]]]: INNER <= NB <= N\n");
    return 2;
  }
  Measuring measuring(N, NB, inner, static_cast<unsigned>(number(5, 1)));
  std::printf("kernel,m,n,k,duration_s\n");
  measuring.overheads();
  measuring.all(calls);
  return 0;
}
