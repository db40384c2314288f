#include "hplcast/calibration/measure_dgemm.hpp"

#include <cblas.h>
#include <mpi.h>

#include <cstdio>
#include <map>
#include <memory>
#include <ostream>
#include <set>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/dgemm_arena.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

/// HPL calls dgemm with alpha = -1. With this alpha the kernels do the same work, but C does not change by a single bit
/// (unless an element is below 2^-60), so the contents stay what the design says, call after call.
constexpr double alpha = -0x1.0p-120;
constexpr double gib = 1024.0 * 1024 * 1024;

/// All ranks look at the memory before any of them takes some.
void require_memory(const World& world, const DgemmDesign& design, double footprint_bytes) {
  std::set<std::string> contents;
  const DgemmCall* largest = &design.front();
  for (const DgemmCall& call : design) {
    contents.insert(to_string(call.content));
    if (arena_sizes({call}, 0).bytes() > arena_sizes({*largest}, 0).bytes()) largest = &call;
  }
  const double needed = arena_sizes(design, footprint_bytes).bytes() * static_cast<double>(contents.size());
  const double available = available_memory_bytes() / world.local_size();
  world.barrier();
  if (needed <= available) return;
  char text[256];
  std::snprintf(
      text, sizeof text,
      "the matrices of the design need %.3g GiB in each rank, %.3g GiB are available on %s; the largest call is "
      "row %zu: m=%ld, n=%ld, k=%ld",
      needed / gib, available / gib, world.host().c_str(), static_cast<std::size_t>(largest - &design.front()),
      largest->shape.m, largest->shape.n, largest->shape.k);
  throw core::Error(core::ExitCode::bad_input,
                    std::string(text) +
                        "\n  hint: make a design of smaller sizes, lower the footprint, or start "
                        "fewer ranks per host");
}

/// Makes the calls of a design on one rank.
class DgemmRunner {
 public:
  DgemmRunner(const World& world, const CorePlace& place, const DgemmDesign& design, const DgemmMeasureOptions& options)
      : world_(world), place_(place), design_(design), options_(options) {
    const ArenaSizes sizes = arena_sizes(design, options.footprint_bytes);
    const std::uint64_t seed = options.seed * 1000003 + static_cast<std::uint64_t>(world.rank()) * 16;
    arena_of_row_.reserve(design.size());
    for (const DgemmCall& call : design) {
      std::unique_ptr<DgemmArena>& arena = arenas_[to_string(call.content)];
      if (!arena) arena = std::make_unique<DgemmArena>(sizes, call.content, seed);
      arena_of_row_.push_back(arena.get());
    }
  }

  std::vector<DgemmRow> run() {
    world_.barrier();
    const double begin_s = now_s();
    std::size_t warm = 0;
    while (now_s() - begin_s < options_.warm_up_s) call(row_of(warm++));
    world_.barrier();
    start_s_ = now_s();
    std::vector<DgemmRow> rows;
    rows.reserve(design_.size());
    for (std::size_t step = 0; step < design_.size() && !out_of_time(); ++step) {
      rows.push_back(measured(row_of(step)));
      if (options_.progress) options_.progress(static_cast<double>(step + 1) / static_cast<double>(design_.size()));
    }
    stay_busy();
    return rows;
  }

 private:
  std::size_t row_of(std::size_t step) const {
    const std::size_t first =
        design_.size() * static_cast<std::size_t>(world_.rank()) / static_cast<std::size_t>(world_.size());
    return (first + step) % design_.size();
  }

  bool out_of_time() const { return options_.budget_s > 0 && now_s() - start_s_ > options_.budget_s; }

  /// Start and end of one call.
  std::pair<double, double> call(std::size_t row) {
    const DgemmCall& what = design_[row];
    const DgemmOperands at = arena_of_row_[row]->next(what);
    const double begin_s = now_s();
    cblas_dgemm(CblasColMajor, CblasNoTrans, at.transposed ? CblasTrans : CblasNoTrans, static_cast<int>(what.shape.m),
                static_cast<int>(what.shape.n), static_cast<int>(what.shape.k), alpha, at.a, at.lda, at.b, at.ldb, 1.0,
                at.c, at.ldc);
    return {begin_s, now_s()};
  }

  DgemmRow measured(std::size_t row) {
    const auto [begin_s, end_s] = call(row);
    const DgemmCall& what = design_[row];
    DgemmRow result;
    result.order = row;
    core::KernelMeasurement& measurement = result.measurement;
    measurement.kernel = "dgemm";
    measurement.shape = {static_cast<double>(what.shape.m), static_cast<double>(what.shape.n),
                         static_cast<double>(what.shape.k)};
    measurement.duration_s = end_s - begin_s;
    measurement.start_s = begin_s - (options_.epoch_s > 0 ? options_.epoch_s : start_s_);
    measurement.host = world_.host();
    measurement.cpu = place_.cpu;
    measurement.core = place_.core;
    measurement.content = to_string(what.content);
    if (!(measurement.duration_s > 0)) measurement.error = "the clock did not advance";
    return result;
  }

  /// Goes on calling until the last rank is done.
  void stay_busy() {
    MPI_Request all_done = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all_done);
    int done = 0;
    MPI_Test(&all_done, &done, MPI_STATUS_IGNORE);
    for (std::size_t step = 0; done == 0; ++step) {
      call(row_of(step));
      MPI_Test(&all_done, &done, MPI_STATUS_IGNORE);
    }
  }

  const World& world_;
  const CorePlace& place_;
  const DgemmDesign& design_;
  const DgemmMeasureOptions& options_;
  std::map<std::string, std::unique_ptr<DgemmArena>> arenas_;  // one a content
  std::vector<DgemmArena*> arena_of_row_;
  double start_s_ = 0;
};

}  // namespace

std::vector<DgemmRow> measure_dgemm(const World& world, const CorePlace& place, const DgemmDesign& design,
                                    const DgemmMeasureOptions& options) {
  if (design.empty()) throw core::DomainError("rows of the design", 0.0, "at least 1");
  require_memory(world, design, options.footprint_bytes);
  openblas_set_num_threads(options.threads);
  return DgemmRunner(world, place, design, options).run();
}

void write_dgemm_header(std::ostream& out) {
  out << "rank,order," << core::kernel_csv_header << '\n';
}

void write_dgemm_rows(std::ostream& out, int rank, const std::vector<DgemmRow>& rows) {
  for (const DgemmRow& row : rows) {
    out << rank << ',' << row.order << ',';
    core::write_row(out, row.measurement);
  }
}

}  // namespace hplcast::calibration
