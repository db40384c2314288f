#pragma once

#include <string>
#include <vector>

#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/kernel_table.hpp"
#include "hplcast/fit/network_fit.hpp"

/// Which rows of measurements tell what the calls of HPL cost. All fits ask here: `fit kernel` and `fit network` on
/// the files of an archive take the same rows as `fit cluster` on the archive.
namespace hplcast::fit {

/// Why a row does not count; empty: it counts. Rows whose matrices hold other than random numbers do not (with zeros
/// or constants a CPU draws less power and is faster; those of HPL are random). Neither do failed calls, nor
/// is_alone(), is_beside() and is_of_columns().
std::string reason_to_set_aside(const core::KernelMeasurement& row, bool all_contents = false);

/// True for a call of dgemm while the other ranks of its host slept (`hplcast-measure-dgemm --alone`).
inline bool is_alone(const core::KernelMeasurement& row) {
  return row.kernel == "dgemm_alone";
}

/// True for the same call while they computed: its neighbour in the file.
inline bool is_beside(const core::KernelMeasurement& row) {
  return row.kernel == "dgemm_beside";
}

/// True for a call of dgemm in a pair that differs in the leading dimension alone (role aliased of a design).
inline bool is_of_columns(const core::KernelMeasurement& row) {
  return row.kernel == "dgemm_columns";
}

/// True for HPL's calls without work (a size is 0), which are no kernel of their own: dgemm_empty.
bool is_empty(const core::KernelMeasurement& row);

/// True for a call of a design, which are in random order. The others are HPL's own: their sizes change with time.
bool is_designed(const core::KernelMeasurement& row);

/// Adds a row that counts; counts any other as set aside.
void add_row(const core::KernelMeasurement& row, KernelTable& table, bool all_contents = false);

/// True for a message that was measured as in HPL: while the other ranks compute and poll (background dgemm+iprobe).
inline bool is_loaded(const core::MpiMeasurement& row) {
  return row.background == "dgemm+iprobe";
}

/// The rows that tell what a message costs. Those of several pairs of ranks at once tell where bandwidth is shared
/// instead, and so do all rows of one_way. If some of an operation and scope were measured while the other ranks
/// compute and poll, as in HPL (background dgemm+iprobe), its others are left out unless `all_backgrounds`. `notes`
/// gets how many were left out, and why. Passes over `rows` once to count.
MpiRows rows_of_messages(const MpiRows& rows, bool all_backgrounds, std::vector<std::string>& notes);

/// Rows that lie in memory. They must outlive the result.
MpiRows rows_of(const std::vector<core::MpiMeasurement>& rows);

}  // namespace hplcast::fit
