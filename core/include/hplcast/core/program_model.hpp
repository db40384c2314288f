#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hplcast/core/kernel_model.hpp"

namespace hplcast::core {

/// How the code between two marks of a program is simulated (docs/models/any-program.md).
enum class RegionMode { model, factor, bench, skip };

const char* to_string(RegionMode mode);
/// @throws DomainError for an unknown name.
RegionMode region_mode_from_name(const std::string& name);

/// A region of a program, marked by HPLCAST_REGION_BEGIN and HPLCAST_REGION_END.
struct RegionModel {
  RegionMode mode = RegionMode::skip;
  double factor = 1;  ///< RegionMode::factor: simulated CPU time times this is its duration; above 0
  KernelModel model;  ///< RegionMode::model: its duration by the sizes m, n, k of the mark
  long calls = 0;     ///< observed
  double time_s = 0;  ///< CPU time observed in it, without routines and MPI
};

/// Where the CPU time of the observed runs went, in s, summed over ranks.
struct ObservedTime {
  double total_s = 0;
  double routines_s = 0;
  double mpi_s = 0;
  double rest_s = 0;  ///< neither routines nor MPI nor regions
};

/// What `hplcast fit program` knows of a program: part of cluster.json.
struct ProgramModel {
  std::string command;                          ///< that was observed
  std::map<std::string, KernelModel> routines;  ///< by free names: "dgemm", "dgemv/T", "dswap/strided"
  std::map<std::string, RegionModel> regions;   ///< by name
  ObservedTime observed;
  /// `--rest model`: code that is neither routine nor region, per call of a routine, and per element of the largest
  /// face of its operands (largest_face()); at least 0.
  double rest_s_per_call = 0;
  double rest_s_per_element = 0;
};

/// Whether routines of this name have vectors whose elements are k apart: "dswap/strided"; "dswap/aliased", where that
/// is a multiple of 4096 bytes; "dswap/half-aliased", where it is an odd multiple of 2048.
bool is_strided(std::string_view routine) noexcept;

/// Local functions of MPI are among the routines: MPI_Pack, MPI_Type_vector.
bool is_mpi_function(std::string_view routine) noexcept;

/// The product of the two larger sizes: code around a call copies or packs about as many elements.
double largest_face(const KernelShape& shape) noexcept;

}  // namespace hplcast::core
