#include <hip/hip_runtime.h>
#include <rocblas/rocblas.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <numeric>
#include <random>
#include <sstream>

#include "cli/measure/accelerator_kernels.hpp"
#include "cli/support/options.hpp"
#include "cli/support/progress.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/process.hpp"

namespace {

using namespace hplcast;
using namespace hplcast::cli;
struct Options {
  int max_size = 4096, nb = 512, inner = 32, calls = 60, device = 0;
  double warm_up_s = 10, budget_s = 0;
  std::uint64_t seed = 1;
  bool fake = false;
  std::string output;
};

[[noreturn]] void fail_in(const std::string& call, const char* why) {
  throw core::Error(core::ExitCode::external_failure, call.substr(0, call.find('(')) + " failed: " + why);
}
#define HIP(call) \
  if (const hipError_t failed = (call); failed != hipSuccess) fail_in(#call, hipGetErrorString(failed))
#define BLAS(call)                                                            \
  if (const rocblas_status failed = (call); failed != rocblas_status_success) \
  fail_in(#call, rocblas_status_to_string(failed))

constexpr double zero = 0, one = 1, minus_one = -1, tiny = 1e-30;
constexpr double least_s = 1e-9;  ///< differences below are noise
constexpr int repetitions = 5;    ///< of a series of calls
constexpr unsigned threads = 64;  ///< of a block

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The second best of five: other programs of the machine come in between.
double second_best_s(const std::function<double()>& one_s) {
  std::array<double, repetitions> times_s{};
  for (double& time_s : times_s) time_s = one_s();
  std::sort(times_s.begin(), times_s.end());
  return times_s[1];
}

double waited_s(const std::function<void()>& call, int times = 1) {
  const double begin_s = now_s();
  for (int i = 0; i < times; ++i) call();
  return now_s() - begin_s;
}

dim3 grid_of(int rows, int columns) {
  return {(static_cast<unsigned>(rows) + threads - 1) / threads, static_cast<unsigned>(columns), 1};
}

/// It lives as long as the program.
template <typename T>
T* on_device(std::size_t count) {
  T* memory = nullptr;
  HIP(hipMalloc(&memory, count * sizeof(T)));
  return memory;
}

class AcceleratorMeasuring {
 public:
  explicit AcceleratorMeasuring(const Options& options);
  ~AcceleratorMeasuring() { rocblas_destroy_handle(blas_); }
  AcceleratorMeasuring(const AcceleratorMeasuring&) = delete;
  AcceleratorMeasuring& operator=(const AcceleratorMeasuring&) = delete;
  std::string rows();

 private:
  using Call = std::function<void()>;
  void fill(double* a, std::size_t count, double scale);
  void warm_up();
  void keep(const std::string& kernel, long m, long n, long k, double duration_s);
  int size(int most) { return std::uniform_int_distribution<int>(1, most)(random_); }
  int part() { return std::min(NB, size(NB + NB / 4)); }  ///< of NB; often all
  double* place(int rows, int columns, bool in_panel = false);
  void busy() const;
  double* panel(int rows);
  void updated(double* a, int rows, int columns, int ld, bool before);
  void draw_rows(int rows, int of, bool are_near);
  double in_stream_s(int calls, const Call& call) const;
  void time(const std::string& kernel, int m, int n, int k, const Call& call);
  void overheads(int);
  void flags(int);
  void product(int kind);
  void triangle(int kind);
  void vectors(int kind);
  void moves(int kind);
  void copy(int kind);

  const Options options_;
  const int NB;
  const long ld_;  ///< rows and columns of the matrix
  std::mt19937_64 random_;
  hipStream_t stream_ = nullptr;
  hipEvent_t begin_ = nullptr, end_ = nullptr;
  rocblas_handle blas_ = nullptr;
  double *a_ = nullptr, *u_ = nullptr, *panel_ = nullptr, *spare_ = nullptr, *pinned_ = nullptr;
  Call touch_;          ///< just before the calls of the present series; may be empty
  bool alone_ = false;  ///< one call each time: the next one would find full caches
  int moves_[4] = {};   ///< series of each kind of moves so far
  std::vector<double> pageable_;
  int *rows_ = nullptr, *found_ = nullptr, *flag_ = nullptr;  ///< rows_: lists of those that are moved
  int products_ = 1;                                          ///< that keep the stream busy
  double start_s_ = now_s();
  std::string where_;
  std::ostringstream csv_;
};

AcceleratorMeasuring::AcceleratorMeasuring(const Options& options)
    : options_(options), NB(options.nb), ld_(options.max_size + options.nb + 1), random_(options.seed) {
  int devices = 0;
  HIP(hipGetDeviceCount(&devices));  // an error if there is none
  if (options.device >= devices)
    throw InputError("--device " + std::to_string(options.device) + ": this host has " + std::to_string(devices) +
                     ", numbered from 0");
  HIP(hipSetDevice(options.device));
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, options.device));
  where_ = "," + core::csv_field(core::host_name()) + "," + std::to_string(options.device) + ",random," +
           core::csv_field(properties.name) + "," + std::to_string(properties.totalGlobalMem) + "," +
           std::to_string(properties.multiProcessorCount) + ",\n";
  std::size_t available = 0, total = 0;
  HIP(hipMemGetInfo(&available, &total));
  const auto ld = static_cast<std::size_t>(ld_), strip = ld * static_cast<std::size_t>(NB);
  const double needed = sizeof(double) * static_cast<double>(ld * ld + 3 * strip);
  if (needed > static_cast<double>(available))
    throw InputError("--max-size " + std::to_string(options.max_size) + " needs " + significant(needed / 1e9, 3) +
                     " GB of the accelerator's memory; " + significant(static_cast<double>(available) / 1e9, 3) +
                     " GB are free\n  hint: a smaller --max-size");
  HIP(hipStreamCreate(&stream_));
  for (hipEvent_t* const event : {&begin_, &end_}) HIP(hipEventCreate(event));
  BLAS(rocblas_create_handle(&blas_));
  BLAS(rocblas_set_stream(blas_, stream_));
  a_ = on_device<double>(ld * ld);
  for (double** const memory : {&u_, &panel_, &spare_}) *memory = on_device<double>(strip);
  HIP(hipHostMalloc(&pinned_, sizeof(double) * strip));
  HIP(hipHostMalloc(&flag_, sizeof(int), hipHostMallocCoherent));
  found_ = on_device<int>(1);
  pageable_.assign(strip, 1);
  rows_ = on_device<int>(repetitions * static_cast<std::size_t>(NB));
  fill(a_, ld * ld, 1);
  fill(u_, strip, 1);
  fill(panel_, strip, 1e-3);  // triangular systems of such elements do not grow
  HIP(hipDeviceSynchronize());
}

void AcceleratorMeasuring::fill(double* a, std::size_t count, double scale) {
  const unsigned long long elements = count, seed = random_();
  hipLaunchKernelGGL(fill_random, dim3(1024), dim3(256), 0, stream_, a, elements, scale, seed);
}

void AcceleratorMeasuring::keep(const std::string& kernel, long m, long n, long k, double duration_s) {
  csv_ << kernel << ',' << m << ',' << n << ',' << k << ',' << core::shortest(duration_s) << ','
       << core::shortest(now_s() - start_s_) << where_;
}

/// Another place of the matrix for each call, or of a panel of it, which may fit into caches.
double* AcceleratorMeasuring::place(int rows, int columns, bool in_panel) {
  const long width = in_panel ? NB : ld_ - 1;
  return a_ + size(static_cast<int>(ld_ - rows)) - 1 + (size(static_cast<int>(width - columns + 1)) - 1) * ld_;
}

/// Some milliseconds of work, behind which calls queue.
void AcceleratorMeasuring::busy() const {
  const auto op = rocblas_operation_none;
  const int ld = static_cast<int>(ld_);
  for (int i = 0; i < products_; ++i)
    BLAS(rocblas_dgemm(blas_, op, op, options_.max_size, NB, NB, &one, a_, ld, a_, ld, &zero, spare_, ld));
}

void AcceleratorMeasuring::warm_up() {
  const auto work = [&] {
    busy();
    HIP(hipStreamSynchronize(stream_));
  };
  constexpr double enough_s = 3e-3, most = 1000;
  work();  // the first call of a library takes longer
  products_ = static_cast<int>(std::clamp(enough_s / waited_s(work), 1.0, most));
  for (const double begin_s = now_s(); now_s() - begin_s < options_.warm_up_s;) work();
}

/// One more thing to update before the calls; `before` something else, since programs update all columns in turn.
void AcceleratorMeasuring::updated(double* a, int rows, int columns, int ld, bool before) {
  touch_ = [=, others = touch_] {
    if (others) others();
    BLAS(rocblas_dger(blas_, rows, columns, &tiny, panel_, 1, panel_, 1, a, ld));
    if (before) busy();
  };
}

/// Panels are in caches, as far as these are large enough, when programs come to their next call in them.
double* AcceleratorMeasuring::panel(int rows) {
  double* const begin = place(rows, NB, true);
  for (double* const a : {panel_, begin}) updated(a, rows, NB, static_cast<int>(ld_), false);
  return begin;
}

/// Mean of calls behind each other in a stream that is never empty, by events.
double AcceleratorMeasuring::in_stream_s(int calls, const Call& call) const {
  constexpr double s_per_ms = 1e-3;
  float milliseconds = 0;
  busy();
  if (touch_) touch_();
  HIP(hipEventRecord(begin_, stream_));
  for (int i = 0; i < calls; ++i) call();
  HIP(hipEventRecord(end_, stream_));
  HIP(hipEventSynchronize(end_));
  HIP(hipEventElapsedTime(&milliseconds, begin_, end_));
  return s_per_ms * static_cast<double>(milliseconds) / calls;
}

void AcceleratorMeasuring::time(const std::string& kernel, int m, int n, int k, const Call& call) {
  constexpr double large = 1e5;  // beyond caches
  const int calls = alone_ || static_cast<double>(m) * n * k > large ? 1 : 10;
  const double time_s = second_best_s([&] { return in_stream_s(calls, call); });
  if (time_s > 0) keep(kernel, m, n, k, time_s);
  touch_ = nullptr;
  alone_ = false;
}

void AcceleratorMeasuring::overheads(int) {
  constexpr int calls = 100;
  const auto empty = [&] { hipLaunchKernelGGL(nothing, dim3(1), dim3(threads), 0, stream_, 1); };
  const auto each_s = [&](const Call& call) { return waited_s(call, calls) / calls; };
  busy();
  const double launch_s = each_s(empty);
  const double record_s = each_s([&] { HIP(hipEventRecord(begin_, stream_)); });
  HIP(hipStreamSynchronize(stream_));
  const double gap_s = in_stream_s(calls, empty);
  const double turn_s = each_s([&] {
    empty();
    HIP(hipStreamSynchronize(stream_));
  });
  keep("launch", 1, 1, 1, launch_s);
  keep("record", 1, 1, 1, record_s);
  keep("gap", 1, 1, 1, std::max(gap_s, least_s));
  keep("wait", 1, 1, 1, std::max(turn_s - launch_s - gap_s, least_s));
}

/// Half of the way there and back of a flag in the host's memory, between the host and a kernel that runs.
void AcceleratorMeasuring::flags(int) {
  constexpr int turns = 100, most_s = 10;
  __hip_atomic_store(flag_, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  HIP(hipDeviceSynchronize());
  hipLaunchKernelGGL(answer_flag, dim3(1), dim3(1), 0, stream_, flag_, turns + 1);
  double begin_s = now_s();
  for (int turn = 0; turn <= turns; ++turn) {
    const double set_s = now_s();
    if (turn == 1) begin_s = set_s;  // the first one waits for the kernel to start
    __hip_atomic_store(flag_, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (__hip_atomic_load(flag_, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 0)
      if (now_s() - set_s > most_s)
        fail_in("answer_flag", "it has not seen a flag for 10 s: is memory of hipHostMalloc coherent here?");
  }
  keep("flag", 1, 1, 1, (now_s() - begin_s) / (2 * turns));
  HIP(hipDeviceSynchronize());
}

/// The update behind a panel (k is NB), or one in the panel.
void AcceleratorMeasuring::product(int kind) {
  const bool transposed = kind >= 2, in_panel = kind % 2 == 1;
  const int m = size(options_.max_size), n = in_panel ? part() : size(options_.max_size);
  const int k = in_panel ? std::min(NB, options_.inner << (size(4) - 1)) : NB, ld = static_cast<int>(ld_);
  const auto op = transposed ? rocblas_operation_transpose : rocblas_operation_none;
  double* const begin = in_panel ? panel(m) : nullptr;
  time(transposed ? "dgemm/NT" : "dgemm/NN", m, n, k, [=] {
    BLAS(rocblas_dgemm(blas_, rocblas_operation_none, op, m, n, k, &minus_one, panel_, ld, u_, transposed ? ld : NB,
                       &one, in_panel ? begin : place(m, n), ld));
  });
}

void AcceleratorMeasuring::triangle(int kind) {
  const bool is_left = kind < 2, in_panel = kind == 1;
  const int order = in_panel ? options_.inner : NB, other = size(in_panel ? NB : options_.max_size);
  const rocblas_side side = is_left ? rocblas_side_left : rocblas_side_right;
  const int m = is_left ? order : other, n = is_left ? other : order, ld = static_cast<int>(ld_);
  time(is_left ? "dtrsm/L" : "dtrsm/R", m, n, order, [=] {
    BLAS(rocblas_dtrsm(blas_, side, rocblas_fill_lower, rocblas_operation_none, rocblas_diagonal_unit, m, n, &one,
                       panel_, ld, u_, is_left ? NB : ld));
  });
}

void AcceleratorMeasuring::vectors(int kind) {
  const int m = size(options_.max_size), narrow = part(), ld = static_cast<int>(ld_);
  double* const begin = kind < 5 ? panel(m) : nullptr;
  const auto column = [=](int n) { return begin + (size(NB - n + 1) - 1) * ld_; };
  if (kind == 0) {
    const int n = size(options_.inner);
    time("dger", m, n, 1, [=] { BLAS(rocblas_dger(blas_, m, n, &minus_one, panel_, 1, u_, NB, column(n), ld)); });
  }
  if (kind == 1)  // by -1: a library may know that there is nothing to do by 1
    time("dscal", 1, m, 1, [=] { BLAS(rocblas_dscal(blas_, m, &minus_one, column(1), 1)); });
  if (kind == 2) time("daxpy", 1, m, 1, [=] { BLAS(rocblas_daxpy(blas_, m, &minus_one, panel_, 1, column(1), 1)); });
  if (kind == 3)
    time("dcopy", 1, narrow, 1, [=] { BLAS(rocblas_dcopy(blas_, narrow, begin + size(m) - 1, ld, u_, 1)); });
  if (kind == 4)  // its result stays on the device, so that nobody waits
    time("idamax", 1, m, 1, [=] {
      BLAS(rocblas_set_pointer_mode(blas_, rocblas_pointer_mode_device));
      BLAS(rocblas_idamax(blas_, m, column(1), 1, found_));
      BLAS(rocblas_set_pointer_mode(blas_, rocblas_pointer_mode_host));
    });
  if (kind == 5)
    time("dgemv/N", narrow, m, 1, [=] {
      BLAS(rocblas_dgemv(blas_, rocblas_operation_none, narrow, m, &minus_one, place(narrow, m), ld, panel_, 1, &zero,
                         spare_, 1));
    });
  if (kind == 6)
    time("dtrsv/N", narrow, narrow, 1, [=] {
      BLAS(rocblas_dtrsv(blas_, rocblas_fill_upper, rocblas_operation_none, rocblas_diagonal_unit, narrow, panel_, ld,
                         u_, 1));
    });
}

/// Lists of rows of a matrix: of anywhere, or those of a block in another order, which share lines of memory.
void AcceleratorMeasuring::draw_rows(int rows, int of, bool are_near) {
  std::vector<int> all, block(static_cast<std::size_t>(NB));
  std::iota(block.begin(), block.end(), 0);
  for (int call = 0; call < repetitions; ++call) {
    std::shuffle(block.begin(), block.end(), random_);
    const int begin = size(of - NB + 1) - 1;
    for (int i = 0; i < rows; ++i) all.push_back(are_near ? begin + block[static_cast<std::size_t>(i)] : size(of) - 1);
  }
  HIP(hipMemcpy(rows_, all.data(), sizeof(int) * all.size(), hipMemcpyHostToDevice));
}

/// Swaps gather rows of anywhere and those of a block, in turn, scatter them to anywhere, and put those of U in order;
/// blocks are copied from panels, and to where U stays. The columns have been updated before something else was, of up
/// to twice as many or as few rows, and any leading dimension: how much of them is in caches decides.
void AcceleratorMeasuring::moves(int kind) {
  static constexpr const char* names[] = {"gather_rows", "scatter_rows", "order_rows", "copy_block"};
  const int n = size(options_.max_size), narrow = part();
  const double shape = std::exp2(std::uniform_real_distribution<double>(-1, 1)(random_));
  const int left = std::clamp(static_cast<int>(n * shape), NB, options_.max_size);
  const bool is_odd = moves_[kind]++ % 2 != 0, in_u = kind == 2, of_panel = kind == 3 && is_odd;
  const int ld = in_u ? NB : left + size(static_cast<int>(ld_) - left) - 1, rows = of_panel ? left : narrow;
  double* const a = in_u ? u_ : a_;
  updated(a, in_u ? NB : left, n, ld, kind < 2);
  alone_ = true;
  if (kind == 3) {
    const double* const from = of_panel ? panel(left) : u_;
    const int columns = of_panel ? narrow : n, ld_from = of_panel ? static_cast<int>(ld_) : NB;
    return time(names[kind], rows, columns, 1, [=] {
      hipLaunchKernelGGL(copy_block, grid_of(rows, columns), dim3(threads), 0, stream_, rows, columns, from, ld_from,
                         of_panel ? u_ : a, of_panel ? left : ld);
    });
  }
  draw_rows(rows, in_u ? NB : left, in_u || (kind == 0 && is_odd));
  time(names[kind], rows, n, 1, [=, call = 0]() mutable {
    const int* const places = rows_ + static_cast<long>(call++ % repetitions) * rows;
    hipLaunchKernelGGL(move_rows, grid_of(n, rows), dim3(threads), 0, stream_, rows, n, a, ld, places, spare_,
                       kind == 0);
  });
}

/// Bytes as n: to the device, from it, within, and both with pageable memory, for which the host waits.
void AcceleratorMeasuring::copy(int kind) {
  const long most = static_cast<long>(ld_) * NB / 2;
  const double size_of_ten = std::exp2(std::uniform_real_distribution<double>(0, std::log2(double(most)))(random_));
  const std::size_t bytes = 2 * sizeof(double) * static_cast<std::size_t>(size_of_ten);
  const struct {
    const char* name;
    void* to;
    const void* from;
    hipMemcpyKind how;
  } all[] = {{"to_device", u_, pinned_, hipMemcpyHostToDevice},
             {"from_device", pinned_, u_, hipMemcpyDeviceToHost},
             {"within_device", spare_, u_, hipMemcpyDeviceToDevice},
             {"to_device_pageable", u_, pageable_.data(), hipMemcpyHostToDevice},
             {"from_device_pageable", pageable_.data(), u_, hipMemcpyDeviceToHost}};
  const auto& copied = all[kind];
  HIP(hipDeviceSynchronize());
  const double duration_s = second_best_s([&] {
    return kind < 3 ? in_stream_s(3, [&] { HIP(hipMemcpyAsync(copied.to, copied.from, bytes, copied.how, stream_)); })
                    : waited_s([&] { HIP(hipMemcpy(copied.to, copied.from, bytes, copied.how)); });
  });
  keep(copied.name, 1, static_cast<long>(bytes), 1, duration_s);
}

std::string AcceleratorMeasuring::rows() {
  using This = AcceleratorMeasuring;
  const std::pair<int, void (This::*)(int)> kinds[] = {{4, &This::product}, {3, &This::triangle}, {1, &This::overheads},
                                                       {1, &This::flags},   {7, &This::vectors},  {4, &This::moves},
                                                       {5, &This::copy}};
  std::vector<Call> order;
  for (const auto& kind : kinds)
    for (int i = 0; i < kind.first * options_.calls; ++i)
      order.emplace_back([this, kind, i] { (this->*kind.second)(i % kind.first); });
  std::shuffle(order.begin(), order.end(), random_);
  csv_ << "kernel,m,n,k,duration_s,start_s,host,cpu,content,accelerator,memory_bytes,compute_units,error\n";
  warm_up();
  Progress progress;
  const double begin_s = now_s();
  std::size_t done = 0;
  for (; done < order.size() && !(options_.budget_s > 0 && now_s() - begin_s > options_.budget_s); ++done) {
    order[done]();
    progress.update(static_cast<double>(done) / static_cast<double>(order.size()), "calls");
  }
  progress.clear();
  std::cerr << "measured " << done << " of " << order.size() << " series of calls\n";
  return csv_.str();
}

void run(const Options& options) {
  if (!(options.inner <= options.nb && options.nb <= options.max_size))
    throw core::UsageError(core::printed("--inner %d, --nb %d, --max-size %d; expected inner <= nb <= largest size",
                                         options.inner, options.nb, options.max_size));
  if (is_fake && !options.fake)
    throw core::Error(core::ExitCode::external_failure,
                      "this program was built where ROCm is not, and can measure no accelerator\n  hint: build hplcast "
                      "where hipcc and rocBLAS are; --fake: threads of this CPU in the place of one, for tests");
  if (!is_fake && options.fake) throw core::UsageError("--fake: this program was built for real accelerators");
  require_writable(options.output);
  write_rows(options.output, AcceleratorMeasuring(options).rows());
}

}  // namespace

int main(int argc, char** argv) {
  Command app(
      "Measures rocBLAS, row swaps, copies, launches and flags of an accelerator, in random order, with sizes drawn.",
      "hplcast-measure-accelerator");
  set_example(app,
              "hplcast-measure-accelerator --fake --max-size 256 --nb 64 --calls 3 --warm-up 0s -o accelerator.csv");
  Options options;
  constexpr int most = 1000000;
  app.add_option("--max-size", options.max_size, "largest number of local rows and columns", between(16, most),
                 with_default);
  app.add_option("--nb", options.nb, "block size of the program to predict", between(1, most), with_default);
  app.add_option("--inner", options.inner, "columns of the smallest parts of its panels (NBMIN)", between(1, most),
                 with_default);
  app.add_option("--calls", options.calls, "series of calls of each kind", between(1, most), with_default);
  app.add_option("--device", options.device, "number of the accelerator on this host", between(0, most), with_default);
  app.add_option("--warm-up", options.warm_up_s, "dgemm before the first recorded call: clocks and temperatures settle",
                 as_seconds, with_default);
  app.add_option("--budget", options.budget_s, "stop after this time, even if not all is measured (0: never)",
                 as_seconds, with_default);
  add_seed(app, options.seed, "of order, sizes and contents");
  app.add_flag("--fake", options.fake, "threads of this CPU in the place of an accelerator, where ROCm is missing");
  app.add_output(options.output, "CSV to write (default: standard output)");
  app.callback([&] { run(options); });
  return run_program(app, argc, argv);
}
