#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/smpi_models/hplcast_program.h"

namespace hplcast::smpi_models {

/// The code of each rank between two of its calls of MPI (core::StretchLevel): what it executes, and the model of that.
/// Polling calls (MPI_Iprobe, MPI_Test) and local functions are inside of stretches. Without SimGrid inside.
class Stretches {
 public:
  /// Makes the file of counts, if `settings` ask for one. @throws core::Error if it cannot.
  explicit Stretches(const core::ProgramSettings& settings);

  /// The program's, which must outlive this. Null: none.
  void set_models(const core::ProgramModel* program) { program_ = program; }
  /// Ranks come in the order of their numbers.
  void add_rank() { ranks_.emplace_back(); }
  /// If not, nothing below does anything.
  bool counts() const { return spends_ || file_.is_open(); }

  /// A stretch that is over.
  struct Ended {
    bool spends = false;                       ///< false: there is nothing, or its time is not asked for
    const core::KernelModel* model = nullptr;  ///< null: there is none
    core::StretchLevel level = core::StretchLevel::any;
    core::KernelShape shape;
  };
  /// As hplcast_comes_to(). @throws core::Error if the program does not count, or the file cannot be written.
  Ended comes_to(int rank, const char* function, const hplcast_frame& from, const std::uint64_t* instructions);
  /// Code that is not of a stretch begins, or is over: that of a region.
  void leave_out(int rank);
  void go_on(int rank);
  /// At the end. @throws core::Error if the file cannot be written.
  void finish();

 private:
  struct Rank {
    const std::uint64_t* counter = nullptr;
    std::uint64_t from = 0;                 ///< count without regions at the begin of the stretch, later by what polls
    std::uint64_t polled = 0;               ///< likewise at the last polling call
    std::uint64_t left_out = 0;             ///< counted in regions that are over
    std::optional<std::uint64_t> out_from;  ///< count at leave_out(), until go_on()
    bool has_polled = false;                ///< and nothing else since
    int call = 0;                           ///< before the stretch
  };
  struct Call {
    std::string function, site;
  };

  /// Where it was called, by which callers.
  using Path = std::array<const void*, 5>;
  static Path path_of(const hplcast_frame& from);
  int call_at(const char* function, const Path& path);
  const Ended& model_of(int before, int after);
  void require_file() const;

  const bool spends_;
  const std::string path_;
  std::ofstream file_;
  const core::ProgramModel* program_ = nullptr;
  std::vector<Rank> ranks_;
  std::vector<Call> calls_{{"start", ""}};  ///< by number
  std::map<Path, int> by_path_;
  std::unordered_map<std::string, int> by_name_;
  std::unordered_map<std::uint64_t, Ended> found_;  ///< by the two calls; no shape
};

}  // namespace hplcast::smpi_models
