#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hplcast/calibration/machine.hpp"

namespace hplcast::calibration {

/// MPI_Init and MPI_Finalize. One object per program, in main().
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// Ends all processes of the job with this exit code.
  [[noreturn]] static void abort(int code);
};

/// The ranks of MPI_COMM_WORLD and the hosts that they are on. Everything but the getters is collective.
class World {
 public:
  World();

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  /// Rank among those of the same host, in the order of their ranks.
  int local_rank() const noexcept { return local_rank_; }
  int local_size() const noexcept { return local_size_; }
  const std::string& host() const noexcept { return hosts_[static_cast<std::size_t>(rank_)]; }
  /// Host of every rank.
  const std::vector<std::string>& hosts() const noexcept { return hosts_; }

  void barrier() const;
  /// A barrier that does something again and again while it waits.
  void until_all_arrive(const std::function<void()>& meanwhile) const;
  /// A barrier that does not use the processor while it waits (MPI's own polls).
  void sleep_until_all_arrive() const;
  /// The text of one rank on all ranks.
  std::string broadcast(std::string text, int root = 0) const;
  /// The texts of all ranks on rank 0, in the order of the ranks; empty on the others.
  std::vector<std::string> gather(std::string text) const;
  /// On rank 0 what `write` writes on each rank, one after the other.
  std::string gather_rows(const std::function<void(std::ostream&)>& write) const;
  /// The texts of all ranks on all ranks.
  std::vector<std::string> gather_everywhere(const std::string& text) const;
  /// Largest value of all ranks.
  double max(double value) const;

 private:
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  std::vector<std::string> hosts_;
};

/// How ranks are placed on cores.
struct Binding {
  int threads = 1;                      ///< cores per rank
  bool bind = true;                     ///< false: leave the process where the launcher put it
  std::filesystem::path blas = {};      ///< the BLAS that the ranks have to call; empty: any
  bool allow_oversubscription = false;  ///< several ranks on one core: for tests of the programs only
};

/// Binds every rank to cores of its own (those the launcher bound it to, if they are as many as its threads), gives its
/// BLAS these threads, and returns the first core. Collective.
/// @throws core::InputError if two ranks of a host would share a core.
CorePlace bind_rank(const World& world, const Topology& topology, const Binding& binding);

/// Gives the BLAS of this rank the threads of bind_rank(), 1 before it, whatever others have set.
void use_blas_threads();

/// Collects the descriptions of all hosts, and MPI's and BLAS's own words about themselves, on rank 0. Collective.
core::MeasurementContext describe_context(const World& world, const Topology& topology, const CorePlace& place);

}  // namespace hplcast::calibration
