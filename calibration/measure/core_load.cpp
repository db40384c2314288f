#include "calibration/measure/core_load.hpp"

#include <cblas.h>
#include <mpi.h>
#include <algorithm>
#include <map>
#include <utility>

#include "calibration/measure/mpi_exchange.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

/// A panel of HPL at work: 128 columns, and a trailing matrix that no cache holds.
constexpr int matrix_rows = 2048, matrix_columns = 1024, panel_width = 128;
constexpr std::size_t matrix_size = std::size_t{matrix_rows} * matrix_columns,
                      panel_size = std::size_t{matrix_rows} * panel_width;

/// HPL's update between two probes for the next panel: one block column.
const DgemmCall block_column{{1024, 128, 128}};
constexpr double background_bytes = 64.0 * 1024 * 1024;

/// The operands of the calls of kernels.
class KernelOperands {
 public:
  explicit KernelOperands(std::shared_ptr<KernelMatrices> matrices) : matrices_(std::move(matrices)) {}

  double* a() { return matrices_->matrix.data(); }
  double* b() { return matrices_->other.data(); }
  double* p() { return matrices_->panel.data(); }
  double* t() { return matrices_->triangle.data(); }

  /// Vectors of level 1 move over the matrix, as HPL's rows and columns do.
  double* next_column() {
    column_ = (column_ + 1) % matrix_columns;
    return a() + std::size_t{matrix_rows} * static_cast<std::size_t>(column_);
  }
  void swap_rows() {
    double* const row = a() + column_;
    next_column();
    cblas_dswap(matrix_columns, row, matrix_rows, a() + column_, matrix_rows);
  }
  void transpose_panel() {
    for (int i = 0; i < panel_width; ++i)
      for (int j = 0; j < matrix_columns; ++j)
        b()[static_cast<std::size_t>(i) * matrix_columns + static_cast<std::size_t>(j)] =
            a()[static_cast<std::size_t>(j) * matrix_rows + static_cast<std::size_t>(i)];
  }

  volatile std::size_t found = 0;  ///< somebody might read it: the search is not left out

 private:
  std::shared_ptr<KernelMatrices> matrices_;
  int column_ = 0;
};

using KernelCall = void (*)(KernelOperands& at);
const std::map<std::string, KernelCall> kernel_calls = {
    {"dgemm",
     [](KernelOperands& at) {
       cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, matrix_rows, matrix_columns, panel_width, harmless_alpha,
                   at.p(), matrix_rows, at.b(), matrix_columns, 1.0, at.a(), matrix_rows);
     }},
    {"dtrsm",
     [](KernelOperands& at) {
       cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, panel_width, matrix_columns, 1.0,
                   at.t(), panel_width, at.a(), matrix_rows);
     }},
    {"dgemv",
     [](KernelOperands& at) {
       cblas_dgemv(CblasColMajor, CblasNoTrans, matrix_rows, panel_width, harmless_alpha, at.p(), matrix_rows, at.b(),
                   1, 1.0, at.next_column(), 1);
     }},
    {"dger",
     [](KernelOperands& at) {
       cblas_dger(CblasColMajor, matrix_rows, panel_width, harmless_alpha, at.b(), 1, at.b() + matrix_rows, 1, at.p(),
                  matrix_rows);
     }},
    {"dtrsv",
     [](KernelOperands& at) {
       cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasUnit, panel_width, at.t(), panel_width,
                   at.next_column(), 1);
     }},
    {"daxpy", [](KernelOperands& at) { cblas_daxpy(matrix_rows, harmless_alpha, at.b(), 1, at.next_column(), 1); }},
    {"dscal", [](KernelOperands& at) { cblas_dscal(matrix_rows, -1.0, at.next_column(), 1); }},
    {"dswap", [](KernelOperands& at) { at.swap_rows(); }},
    {"dcopy", [](KernelOperands& at) { cblas_dcopy(matrix_rows, at.next_column(), 1, at.b(), 1); }},
    {"idamax", [](KernelOperands& at) { at.found = at.found + cblas_idamax(matrix_rows, at.next_column(), 1); }},
    {"dlacpy", [](KernelOperands& at) { std::copy_n(at.a(), matrix_size, at.b()); }},
    {"dlatcpy", [](KernelOperands& at) { at.transpose_panel(); }},
};

}  // namespace

KernelMatrices::KernelMatrices(std::uint64_t seed)
    : matrix(matrix_size), other(matrix_size), panel(panel_size), triangle(std::size_t{panel_width} * panel_width) {
  for (std::vector<double>* numbers : {&matrix, &other, &panel, &triangle})
    fill(numbers->data(), numbers->size(), Content::random(), seed++);
  for (double& value : triangle) value *= harmless_alpha;
}

CoreLoad kernel_load(const std::string& kernel, std::shared_ptr<KernelMatrices> matrices) {
  const auto known = kernel_calls.find(kernel);
  if (known == kernel_calls.end()) throw core::DomainError("kernel", kernel, "one that hplcast-measure-power can run");
  use_blas_threads();
  return [call = known->second, operands = std::make_shared<KernelOperands>(std::move(matrices))](double end_s) {
    while (now_s() < end_s) call(*operands);
  };
}

std::function<void()> repeated_dgemm(const DgemmCall& call, double footprint_bytes, std::uint64_t seed) {
  use_blas_threads();
  const auto arena = std::make_shared<DgemmArena>(arena_sizes({call}, footprint_bytes), Content::random(), seed);
  return [call, arena] { call_dgemm(call.shape, arena->next(call)); };
}

void poll_until(double end_s) {
  constexpr int polls = 100;
  while (now_s() < end_s)
    for (int i = 0; i < polls; ++i) {
      int there = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, tag_never_sent, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
}

void exchange_until(double end_s, int partner, bool leads, std::uint64_t seed) {
  constexpr int bytes = 1 << 20;
  constexpr char go = 1, stop = 2;
  std::vector<double> numbers(bytes / sizeof(double)), received(numbers.size());
  fill(numbers.data(), numbers.size(), Content::random(), seed);
  char* const out = reinterpret_cast<char*>(numbers.data());
  char* const in = reinterpret_cast<char*>(received.data());
  for (bool more = true; more;) {
    out[0] = leads && now_s() >= end_s ? stop : go;
    MPI_Sendrecv(out, bytes, MPI_BYTE, partner, tag_data, in, bytes, MPI_BYTE, partner, tag_data, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    more = (leads ? out : in)[0] == go;
  }
}

BackgroundLoad::BackgroundLoad(Background background, std::uint64_t seed) : background_(background) {
  if (computes(background)) compute_ = repeated_dgemm(block_column, background_bytes, seed);
}

void BackgroundLoad::compute() {
  if (compute_) compute_();
}

void BackgroundLoad::until(const std::function<bool()>& arrived, bool may_sleep) {
  while (!arrived()) {
    if (background_ == Background::none && may_sleep) sleep_s(200e-6);
    if (!computes(background_)) continue;
    const double begin_s = now_s();
    compute();
    if (!polls(background_)) continue;
    const double end_s = now_s() + (now_s() - begin_s);  // polls as long as it computed
    while (now_s() < end_s)
      if (arrived()) return;
  }
}

}  // namespace hplcast::calibration
