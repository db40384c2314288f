#pragma once

#include <smpi/smpi.h>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "hplcast/smpi_models/hplcast_smpi.h"

namespace hplcast::smpi_models {

/// A communicator of the simulated program, one object for all of its ranks. SMPI's have an object per rank with all
/// ranks in it, and are made by messages through one rank: time and memory that grow with the square of the ranks.
class Communicator : public hplcast_communicator {
 public:
  /// `ranks`: numbers in MPI_COMM_WORLD in the order of the communicator, each once.
  explicit Communicator(std::vector<int> ranks);

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Number in it of a rank of MPI_COMM_WORLD. @throws core::DomainError if that is not one of its ranks.
  int number_of(int world_rank) const;

  /// As MPI_Comm_split by its rank `number`: blocks until all ranks of this have called it, which takes no simulated
  /// time otherwise. Null for a color < 0 (MPI_UNDEFINED).
  Communicator* split(int number, int color, int key);

  /// As MPI_Comm_free by one of its ranks: gone when all of them have called it. Not for the world.
  void free();

 private:
  struct Splitting;

  std::vector<int> world_ranks_;
  std::unordered_map<int, int> numbers_;  // by number in the world
  std::shared_ptr<Splitting> splitting_;  // while some of its ranks, but not all, have called split()
  std::size_t freed_ = 0;                 // by how many ranks
};

/// A communicator of SMPI as messages need it, one object for all of its ranks.
struct ProgramCommunicator {
  ProgramCommunicator(int its_context, std::vector<int> world_ranks)
      : context(its_context), ranks(std::move(world_ranks)) {}
  int context;  ///< no other communicator ever has it
  Communicator ranks;
};

/// The communicators of a program. SMPI has an object per rank for each; here its ranks agree on one without messages:
/// they all made it by the same call, counted among those on the communicator that it comes from, and it is told from
/// others of that call (MPI_Comm_split) by its first rank.
class ProgramCommunicators {
 public:
  /// `world`: must outlive this.
  explicit ProgramCommunicators(const Communicator& world);

  using Pointer = std::shared_ptr<const ProgramCommunicator>;
  /// Communicator of the calling rank. @throws Error for one whose making was not told.
  const Pointer& find(std::size_t rank, MPI_Comm handle) { return known(rank, handle).communicator; }
  /// The same; null for one whose making was not told.
  Pointer find_if_known(std::size_t rank, MPI_Comm handle);
  /// All ranks of `parent` have made `child` by one call, which gave the rank none if it is MPI_COMM_NULL.
  void made(std::size_t rank, MPI_Comm parent, MPI_Comm child);
  /// The same, but only the ranks of `child` have called (MPI_Comm_create_group).
  void made_by_group(std::size_t rank, MPI_Comm parent, int tag, MPI_Comm child);
  void freed(std::size_t rank, MPI_Comm handle);

 private:
  /// A communicator as one rank knows it.
  struct Known {
    Pointer communicator;
    std::uint64_t calls = 0;  ///< that made others of it
  };
  Known& known(std::size_t rank, MPI_Comm handle);
  Pointer agree(const std::string& name, MPI_Comm child);

  int contexts_ = 0;  ///< given until now
  Pointer world_;
  std::vector<std::unordered_map<MPI_Comm, Known>> known_;  // by rank
  struct Last {
    MPI_Comm handle = MPI_COMM_NULL;
    Known* known = nullptr;
  };
  std::vector<Last> last_;  ///< that each rank asked for: mostly the same again
  struct Agreed {
    Pointer communicator;
    std::size_t ranks = 0;  ///< that know it
  };
  std::unordered_map<std::string, Agreed> agreed_;  // until all of its ranks know it
  std::map<std::string, std::uint64_t> groups_;     // calls of MPI_Comm_create_group that look alike, by rank and all
};

}  // namespace hplcast::smpi_models
