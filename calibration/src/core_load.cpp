#include "core_load.hpp"

#include <cblas.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/content.hpp"
#include "hplcast/core/errors.hpp"
#include "messages.hpp"

namespace hplcast::calibration {

namespace {

/// A panel of HPL at work: 128 columns, and a trailing matrix that no cache holds.
constexpr int rows = 2048, columns = 1024, width = 128;
constexpr std::size_t matrix_size = std::size_t{rows} * columns, panel_size = std::size_t{rows} * width;
/// So small that sums do not change by a bit, and kernels do all of their work.
constexpr double tiny = -0x1.0p-120;

class KernelLoad : public CoreLoad {
 public:
  KernelLoad(const std::string& kernel, std::uint64_t seed)
      : matrix_(matrix_size), panel_(panel_size), other_(matrix_size), call_(call_of(kernel)) {
    const Content content = Content::random();
    fill(matrix_.data(), matrix_.size(), content, seed);
    fill(panel_.data(), panel_.size(), content, seed + 1);
    fill(other_.data(), other_.size(), content, seed + 2);
    // Triangular solves neither grow nor shrink what they solve.
    for (std::size_t i = 0; i < panel_.size(); ++i) panel_[i] *= 1e-3;
    openblas_set_num_threads(1);
  }

  void run_until(double end_s) override {
    while (now_s() < end_s) call_();
  }

 private:
  using Call = std::function<void()>;

  double* a() { return matrix_.data(); }
  double* b() { return other_.data(); }
  double* p() { return panel_.data(); }

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
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, width, tiny, p(), rows, b(), columns, 1.0,
                  a(), rows);
    };
    all["dtrsm"] = [this] {
      cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, width, columns, 1.0, p(), rows, a(),
                  rows);
    };
    all["dgemv"] = [this] {
      cblas_dgemv(CblasColMajor, CblasNoTrans, rows, width, tiny, p(), rows, b(), 1, 1.0, next_column(), 1);
    };
    all["dger"] = [this] { cblas_dger(CblasColMajor, rows, width, tiny, b(), 1, b() + rows, 1, p(), rows); };
    all["dtrsv"] = [this] {
      cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasUnit, width, p(), rows, next_column(), 1);
    };
    all["daxpy"] = [this] { cblas_daxpy(rows, tiny, b(), 1, next_column(), 1); };
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

  std::vector<double> matrix_, panel_, other_;
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

std::unique_ptr<CoreLoad> kernel_load(const std::string& kernel, std::uint64_t seed) {
  return std::make_unique<KernelLoad>(kernel, seed);
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

}  // namespace hplcast::calibration
