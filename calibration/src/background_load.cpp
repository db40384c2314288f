#include "background_load.hpp"

#include <cblas.h>

#include <chrono>
#include <thread>

#include "hplcast/calibration/clock.hpp"

namespace hplcast::calibration {

namespace {

/// What HPL updates between two probes for the next panel: one block column.
constexpr DgemmShape block_column{1024, 128, 128};
constexpr double footprint_bytes = 64.0 * 1024 * 1024;
constexpr double alpha = -0x1.0p-120;  // the matrices never change, see measure_dgemm.cpp

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
              static_cast<int>(block_column.n), static_cast<int>(block_column.k), alpha, at.a, at.lda, at.b, at.ldb,
              1.0, at.c, at.ldc);
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
