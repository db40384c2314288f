#pragma once

#include <cstddef>
#include <memory>
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

}  // namespace hplcast::smpi_models
