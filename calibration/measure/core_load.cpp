#include "calibration/measure/core_load.hpp"

#include <cblas.h>
#include <mpi.h>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "calibration/measure/mpi_exchange.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

/// A panel of HPL at work: 128 columns, and a trailing matrix that no cache holds.
constexpr int rows = 2048, columns = 1024, width = 128;
constexpr std::size_t matrix_size = std::size_t{rows} * columns, panel_size = std::size_t{rows} * width;
/// So small that sums do not change by a bit, and kernels do all of their work.

class KernelLoad : public CoreLoad {
 public:
  KernelLoad(const std::string& kernel, std::shared_ptr<KernelMatrices> matrices)
      : matrices_(std::move(matrices)), call_(call_of(kernel)) {
    openblas_set_num_threads(1);
  }

  void run_until(double end_s) override {
    while (now_s() < end_s) call_();
  }

 private:
  using Call = std::function<void()>;

  double* a() { return matrices_->matrix.data(); }
  double* b() { return matrices_->other.data(); }
  double* p() { return matrices_->panel.data(); }
  double* t() { return matrices_->triangle.data(); }

  /// Vectors of level 1 move over the matrix, as HPL's rows and columns do.
  double* next_column() {
    column_ = (column_ + 1) % columns;
    return a() + std::size_t{rows} * static_cast<std::size_t>(column_);
  }

  Call call_of(const std::string& kernel) {
    const auto& all = calls();
    const auto found = all.find(kernel);
    if (found == all.end()) throw core::DomainError("kernel", kernel, "one that hplcast-measure-power can run");
    return found->second;
  }

  std::map<std::string, Call> calls() {
    std::map<std::string, Call> all;
    all["dgemm"] = [this] {
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, width, harmless_alpha, p(), rows, b(),
                  columns, 1.0, a(), rows);
    };
    all["dtrsm"] = [this] {
      cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, width, columns, 1.0, t(), width, a(),
                  rows);
    };
    all["dgemv"] = [this] {
      cblas_dgemv(CblasColMajor, CblasNoTrans, rows, width, harmless_alpha, p(), rows, b(), 1, 1.0, next_column(), 1);
    };
    all["dger"] = [this] { cblas_dger(CblasColMajor, rows, width, harmless_alpha, b(), 1, b() + rows, 1, p(), rows); };
    all["dtrsv"] = [this] {
      cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasUnit, width, t(), width, next_column(), 1);
    };
    all["daxpy"] = [this] { cblas_daxpy(rows, harmless_alpha, b(), 1, next_column(), 1); };
    all["dscal"] = [this] { cblas_dscal(rows, -1.0, next_column(), 1); };
    all["dswap"] = [this] {
      double* const row = a() + column_;
      next_column();
      cblas_dswap(columns, row, rows, a() + column_, rows);
    };
    all["dcopy"] = [this] { cblas_dcopy(rows, next_column(), 1, b(), 1); };
    all["idamax"] = [this] { found_ = found_ + cblas_idamax(rows, next_column(), 1); };
    all["dlacpy"] = [this] { std::copy_n(a(), matrix_size, b()); };
    all["dlatcpy"] = [this] {
      for (int i = 0; i < width; ++i)
        for (int j = 0; j < columns; ++j)
          b()[static_cast<std::size_t>(i) * columns + static_cast<std::size_t>(j)] =
              a()[static_cast<std::size_t>(j) * rows + static_cast<std::size_t>(i)];
    };
    return all;
  }

  std::shared_ptr<KernelMatrices> matrices_;
  int column_ = 0;
  volatile std::size_t found_ = 0;
  Call call_;
};

class PollingLoad : public CoreLoad {
 public:
  void run_until(double end_s) override {
    constexpr int polls = 100;
    while (now_s() < end_s)
      for (int i = 0; i < polls; ++i) {
        int there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, tag_never_sent, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
      }
  }
};

class BlockedLoad : public CoreLoad {
 public:
  explicit BlockedLoad(int releaser) : releaser_(releaser) {}
  void run_until(double) override { receive_signal(releaser_, tag_stop); }

 private:
  int releaser_;
};

class MessagesLoad : public CoreLoad {
 public:
  MessagesLoad(const LoadPartners& partners, std::uint64_t seed) : partners_(partners), out_(bytes), in_(bytes) {
    std::vector<double> numbers(bytes / sizeof(double));
    fill(numbers.data(), numbers.size(), Content::random(), seed);
    std::copy_n(reinterpret_cast<const char*>(numbers.data()), bytes, out_.begin());
  }

  void run_until(double end_s) override {
    for (bool more = true; more;) {
      out_[0] = partners_.leads && now_s() >= end_s ? stop : go;
      MPI_Sendrecv(out_.data(), bytes, MPI_BYTE, partners_.partner, tag_data, in_.data(), bytes, MPI_BYTE,
                   partners_.partner, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      more = (partners_.leads ? out_ : in_)[0] == go;
    }
  }

 private:
  static constexpr int bytes = 1 << 20;
  static constexpr char go = 1, stop = 2;
  LoadPartners partners_;
  std::vector<char> out_, in_;
};

}  // namespace

KernelMatrices::KernelMatrices(std::uint64_t seed)
    : matrix(matrix_size), other(matrix_size), panel(panel_size), triangle(std::size_t{width} * width) {
  const Content content = Content::random();
  fill(matrix.data(), matrix.size(), content, seed);
  fill(other.data(), other.size(), content, seed + 1);
  fill(panel.data(), panel.size(), content, seed + 2);
  fill(triangle.data(), triangle.size(), content, seed + 3);
  for (double& value : triangle) value *= harmless_alpha;
}

std::unique_ptr<CoreLoad> kernel_load(const std::string& kernel, std::shared_ptr<KernelMatrices> matrices) {
  return std::make_unique<KernelLoad>(kernel, std::move(matrices));
}

std::unique_ptr<CoreLoad> polling_load() {
  return std::make_unique<PollingLoad>();
}

std::unique_ptr<CoreLoad> blocked_load(int releaser) {
  return std::make_unique<BlockedLoad>(releaser);
}

std::unique_ptr<CoreLoad> messages_load(const LoadPartners& partners, std::uint64_t seed) {
  return std::make_unique<MessagesLoad>(partners, seed);
}

namespace {

/// What HPL updates between two probes for the next panel: one block column.
constexpr DgemmShape block_column{1024, 128, 128};
constexpr double footprint_bytes = 64.0 * 1024 * 1024;

}  // namespace

BackgroundLoad::BackgroundLoad(Background background, std::uint64_t seed) : background_(background), call_(1) {
  call_.front().shape = block_column;
  if (!computes(background)) return;
  openblas_set_num_threads(1);
  arena_.emplace(arena_sizes(call_, footprint_bytes), Content::random(), seed);
}

void BackgroundLoad::compute() {
  if (!arena_) return;
  const DgemmOperands at = arena_->next(call_.front());
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, static_cast<int>(block_column.m),
              static_cast<int>(block_column.n), static_cast<int>(block_column.k), harmless_alpha, at.a, at.lda, at.b,
              at.ldb, 1.0, at.c, at.ldc);
}

void BackgroundLoad::until(const std::function<bool()>& arrived, bool may_sleep) {
  while (!arrived()) {
    if (background_ == Background::none && may_sleep) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (!computes(background_)) continue;
    const double begin_s = now_s();
    compute();
    if (!polls(background_)) continue;
    const double end_s = now_s() + (now_s() - begin_s);  // polls as long as it computed
    while (now_s() < end_s) {
      if (arrived()) return;
    }
  }
}

}  // namespace hplcast::calibration
