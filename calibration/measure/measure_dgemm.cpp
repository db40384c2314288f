#include "hplcast/calibration/measure_dgemm.hpp"

#include <cblas.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <ostream>
#include <set>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

constexpr std::size_t generations = 2;       // HPL keeps DEPTH + 1 panels: two with a look-ahead of one
constexpr std::size_t doubles_per_line = 8;  // 64 B
constexpr std::size_t doubles_per_page = 512;

std::size_t product(long a, long b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

std::size_t padded(std::size_t rows) {
  const std::size_t aligned = (rows + doubles_per_line - 1) / doubles_per_line * doubles_per_line;
  return aligned % doubles_per_page == 0 ? aligned + doubles_per_line : aligned;
}

/// An odd multiple of 4, 8 or 16 KiB that holds so many rows, or one line more: of the role aliased.
std::size_t aliased_dimension(std::size_t rows, const DgemmCall& call) {
  const std::size_t apart = doubles_per_page << (call.shape.m + call.shape.n) % 3;
  return ((rows + apart - 1) / apart | 1) * apart + (call.repetition == 0 ? 0 : doubles_per_line);
}

/// All ranks look at the memory before any of them takes some. `each`: for each call alone.
void require_memory(const World& world, const DgemmDesign& design, double footprint_bytes, bool each) {
  std::set<std::string> contents;
  const DgemmCall* largest = &design.front();
  for (const DgemmCall& call : design) {
    contents.insert(to_string(call.content));
    if (arena_sizes({call}, 0).bytes() > arena_sizes({*largest}, 0).bytes()) largest = &call;
  }
  const double needed = arena_sizes(each ? DgemmDesign{*largest} : design, footprint_bytes).bytes() *
                        (each ? 1 : static_cast<double>(contents.size()));
  const double available = available_memory_bytes() / world.local_size();
  world.barrier();
  if (needed <= available) return;
  throw core::InputError(
      core::printed("the matrices of the design need %.3g GiB in each rank, %.3g GiB are available on %s; the largest "
                    "call is row %zu: m=%ld, n=%ld, k=%ld",
                    needed / core::gibibyte, available / core::gibibyte, world.host().c_str(),
                    static_cast<std::size_t>(largest - &design.front()), largest->shape.m, largest->shape.n,
                    largest->shape.k) +
      "\n  hint: make a design of smaller sizes, lower the footprint, or start fewer ranks per host");
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
    while (now_s() - begin_s < options_.warm_up_s) call_next();
    world_.barrier();
    start_s_ = now_s();
    if (options_.alone) return in_pairs();
    std::vector<DgemmRow> rows;
    rows.reserve(design_.size());
    for (std::size_t step = 0; step < design_.size() && !out_of_time(); ++step) {
      rows.push_back(measured(row_of(step), "dgemm"));
      tell_progress(step);
    }
    world_.until_all_arrive([&] { call_next(); });
    return rows;
  }

 private:
  std::size_t row_of(std::size_t step) const {
    const std::size_t first =
        design_.size() * static_cast<std::size_t>(world_.rank()) / static_cast<std::size_t>(world_.size());
    return (first + step) % design_.size();
  }

  /// Each row twice on one rank of each host, the others of which sleep, then compute, or the other way round: what
  /// else changes the machine meets both calls.
  std::vector<DgemmRow> in_pairs() {
    std::vector<DgemmRow> rows;
    for (std::size_t step = 0; step < design_.size() && world_.max(out_of_time() ? 1 : 0) == 0; ++step) {
      for (const bool others_sleep : {step % 2 == 0, step % 2 != 0}) {
        world_.barrier();
        if (world_.local_rank() == 0)
          rows.push_back(measured(row_of(step), others_sleep ? "dgemm_alone" : "dgemm_beside"));
        if (others_sleep)
          world_.sleep_until_all_arrive();
        else
          world_.until_all_arrive([&] { call_next(); });
      }
      tell_progress(step);
    }
    return rows;
  }

  void tell_progress(std::size_t step) const {
    if (options_.progress) options_.progress(static_cast<double>(step + 1) / static_cast<double>(design_.size()));
  }

  /// A call that is not recorded.
  void call_next() { call(row_of(next_++)); }

  bool out_of_time() const { return options_.budget_s > 0 && now_s() - start_s_ > options_.budget_s; }

  /// Start and end of one call.
  std::pair<double, double> call(std::size_t row) {
    const DgemmCall& what = design_[row];
    const DgemmOperands at = arena_of_row_[row]->next(what);
    leading_dimension_ = what.role == DgemmRole::aliased ? at.ldc : 0;
    const double begin_s = now_s();
    call_dgemm(what.shape, at);
    return {begin_s, now_s()};
  }

  DgemmRow measured(std::size_t row, const char* kernel) {
    const auto [begin_s, end_s] = call(row);
    const DgemmCall& what = design_[row];
    DgemmRow result;
    result.order = row;
    core::KernelMeasurement& measurement = result.measurement;
    measurement.kernel = what.role == DgemmRole::aliased ? "dgemm_columns" : kernel;
    measurement.leading_dimension = leading_dimension_;
    measurement.shape = {static_cast<double>(what.shape.m), static_cast<double>(what.shape.n),
                         static_cast<double>(what.shape.k)};
    measurement.duration_s = end_s - begin_s;
    measurement.start_s = begin_s - (options_.epoch_s > 0 ? options_.epoch_s : start_s_);
    measurement.host = world_.host();
    measurement.cpu = place_.cpu;
    measurement.core = place_.core;
    measurement.content = to_string(what.content);
    measurement.busy_ranks = measurement.kernel == "dgemm_alone" ? 1 : world_.local_size();
    if (!(measurement.duration_s > 0)) measurement.error = "the clock did not advance";
    return result;
  }

  const World& world_;
  const CorePlace& place_;
  const DgemmDesign& design_;
  const DgemmMeasureOptions& options_;
  std::map<std::string, std::unique_ptr<DgemmArena>> arenas_;  // one a content
  std::vector<DgemmArena*> arena_of_row_;
  double start_s_ = 0;
  std::size_t next_ = 0;
  int leading_dimension_ = 0;  // of the last call of the role aliased; else 0
};

}  // namespace

double ArenaSizes::bytes() const noexcept {
  const double matrix = static_cast<double>(leading_dimension) * static_cast<double>(columns);
  const double others = static_cast<double>(generations * (panel + row_block) + l1);
  return sizeof(double) * (matrix + others);
}

ArenaSizes arena_sizes(const DgemmDesign& design, double footprint_bytes) {
  ArenaSizes sizes;
  long rows = 1, columns = 1, l1_rows = 1, l1_columns = 1, aliased = 0;
  for (const DgemmCall& call : design) {
    const DgemmShape& shape = call.shape;
    const bool panel = call.role == DgemmRole::panel;
    const bool b_above_c = !panel && !call.transposed;
    rows = std::max(rows, b_above_c ? shape.m + shape.k : shape.m);
    columns = std::max(columns, panel ? shape.n + shape.k : shape.n);
    if (call.role == DgemmRole::aliased) aliased = std::max(aliased, shape.n);
    if (panel) {
      l1_rows = std::max(l1_rows, shape.n);
      l1_columns = std::max(l1_columns, shape.k);
    } else {
      sizes.panel = std::max(sizes.panel, product(shape.m, shape.k));
      if (call.transposed) sizes.row_block = std::max(sizes.row_block, product(shape.n, shape.k));
    }
  }
  sizes.leading_dimension = padded(static_cast<std::size_t>(rows));
  const double column_bytes = sizeof(double) * static_cast<double>(sizes.leading_dimension);
  // Aliased columns have at most 4104 doubles more.
  columns = std::max(columns, aliased + aliased * 4104 / static_cast<long>(sizes.leading_dimension) + 1);
  sizes.columns = std::max(static_cast<std::size_t>(columns),
                           static_cast<std::size_t>(std::ceil(std::max(0.0, footprint_bytes) / column_bytes)));
  sizes.l1_leading_dimension = static_cast<std::size_t>(l1_rows);
  sizes.l1 = product(l1_rows, l1_columns);
  return sizes;
}

void call_dgemm(const DgemmShape& shape, const DgemmOperands& at) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, at.transposed ? CblasTrans : CblasNoTrans, static_cast<int>(shape.m),
              static_cast<int>(shape.n), static_cast<int>(shape.k), harmless_alpha, at.a, at.lda, at.b, at.ldb, 1.0,
              at.c, at.ldc);
}

DgemmArena::DgemmArena(const ArenaSizes& sizes, const Content& content, std::uint64_t seed)
    : sizes_(sizes),
      matrix_(sizes.leading_dimension * sizes.columns),
      panels_(generations * sizes.panel),
      row_blocks_(generations * sizes.row_block),
      l1_(sizes.l1) {
  std::uint64_t stream = seed;
  for (std::vector<double>* buffer : {&matrix_, &panels_, &row_blocks_, &l1_})
    fill(buffer->data(), buffer->size(), content, stream++);
}

DgemmOperands DgemmArena::next(const DgemmCall& call) {
  const DgemmShape& shape = call.shape;
  const std::size_t generation = ++calls_ % generations;
  DgemmOperands operands;
  operands.ldc = static_cast<int>(call.role == DgemmRole::aliased ? aliased_dimension(sizes_.leading_dimension, call)
                                                                  : sizes_.leading_dimension);
  if (call.role == DgemmRole::panel) {
    double* const first = block(shape.m, shape.k + shape.n, sizes_.leading_dimension);
    operands.transposed = true;
    operands.a = first;
    operands.lda = operands.ldc;
    operands.b = l1_.data();
    operands.ldb = static_cast<int>(sizes_.l1_leading_dimension);
    operands.c = first + static_cast<std::size_t>(shape.k) * sizes_.leading_dimension;
    return operands;
  }
  operands.transposed = call.transposed;
  operands.a = panels_.data() + generation * sizes_.panel;
  operands.lda = static_cast<int>(shape.m);
  if (call.transposed) {
    operands.b = row_blocks_.data() + generation * sizes_.row_block;
    operands.ldb = static_cast<int>(shape.n);
    operands.c = block(shape.m, shape.n, static_cast<std::size_t>(operands.ldc));
  } else {
    double* const first = block(shape.m + shape.k, shape.n, sizes_.leading_dimension);
    operands.b = first;
    operands.ldb = operands.ldc;
    operands.c = first + shape.k;
  }
  return operands;
}

double* DgemmArena::block(long rows, long columns, std::size_t leading_dimension) {
  const std::size_t width = static_cast<std::size_t>(columns);
  if (next_column_ + width > matrix_.size() / leading_dimension) next_column_ = 0;
  const std::size_t column = next_column_;
  next_column_ += width;
  // The trailing matrix of HPL ends at the last row.
  const std::size_t free_rows = leading_dimension - static_cast<std::size_t>(rows);
  const std::size_t row = free_rows / doubles_per_line * doubles_per_line;
  return matrix_.data() + column * leading_dimension + row;
}

std::vector<DgemmRow> measure_dgemm(const World& world, const CorePlace& place, const DgemmDesign& design,
                                    const DgemmMeasureOptions& options) {
  if (design.empty()) throw core::DomainError("rows of the design", 0.0, "at least 1");
  require_memory(world, design, options.footprint_bytes, options.check);
  if (options.check) return {};
  use_blas_threads();
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
