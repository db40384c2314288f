#include "smpi-models/messages/communicators.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

/// One call of split() by all ranks of a communicator.
struct Communicator::Splitting {
  struct Caller {
    int color;
    int key;
    int number;  // in the communicator that is split: the order of equal keys
  };
  std::vector<Caller> callers;
  std::unordered_map<int, Communicator*> parts;  // by color
  std::unique_ptr<port::Barrier> all_are_here;

  void make_parts(const std::vector<int>& world_ranks);
};

void Communicator::Splitting::make_parts(const std::vector<int>& world_ranks) {
  std::sort(callers.begin(), callers.end(), [](const Caller& a, const Caller& b) {
    return std::tie(a.color, a.key, a.number) < std::tie(b.color, b.key, b.number);
  });
  for (auto first = callers.begin(); first != callers.end();) {
    const auto end = std::find_if(first, callers.end(), [&](const Caller& c) { return c.color != first->color; });
    std::vector<int> members;
    std::transform(first, end, std::back_inserter(members),
                   [&](const Caller& c) { return world_ranks[static_cast<std::size_t>(c.number)]; });
    if (first->color >= 0) parts[first->color] = new Communicator(std::move(members));  // until free()
    first = end;
  }
}

Communicator::Communicator(std::vector<int> ranks) : hplcast_communicator{}, world_ranks_(std::move(ranks)) {
  world_ranks = world_ranks_.data();
  size = static_cast<int>(world_ranks_.size());
  numbers_.reserve(world_ranks_.size());
  for (int number = 0; number < size; ++number)
    numbers_.emplace(world_ranks_[static_cast<std::size_t>(number)], number);
}

int Communicator::number_of(int world_rank) const {
  const auto found = numbers_.find(world_rank);
  if (found == numbers_.end()) throw core::DomainError("rank of a communicator", world_rank, "one of its ranks");
  return found->second;
}

Communicator* Communicator::split(int number, int color, int key) {
  if (splitting_ == nullptr) {
    splitting_ = std::make_shared<Splitting>();
    splitting_->all_are_here = std::make_unique<port::Barrier>(world_ranks_.size());
  }
  const std::shared_ptr<Splitting> mine = splitting_;
  mine->callers.push_back({color, key, number});
  if (mine->callers.size() == world_ranks_.size()) {
    mine->make_parts(world_ranks_);
    splitting_ = nullptr;  // the next call splits anew
  }
  mine->all_are_here->wait();
  return color < 0 ? nullptr : mine->parts.at(color);
}

void Communicator::free() {
  if (++freed_ == world_ranks_.size()) delete this;
}

namespace {

/// Numbers in MPI_COMM_WORLD of the first `count` ranks of a communicator.
std::vector<int> world_ranks(MPI_Comm communicator, std::size_t count) {
  std::vector<int> numbers(count), in_world(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  PMPI_Comm_group(communicator, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, static_cast<int>(count), numbers.data(), world, in_world.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return in_world;
}

std::size_t size_of(MPI_Comm communicator) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  return static_cast<std::size_t>(size);
}

}  // namespace

ProgramCommunicators::ProgramCommunicators(const Communicator& world)
    : world_(std::make_shared<ProgramCommunicator>(
          contexts_++, std::vector<int>(world.world_ranks, world.world_ranks + world.size))),
      known_(static_cast<std::size_t>(world.size)),
      last_(known_.size()) {}

ProgramCommunicators::Known& ProgramCommunicators::known(std::size_t rank, MPI_Comm handle) {
  Last& last = last_[rank];
  if (handle == last.handle && last.known != nullptr) return *last.known;
  auto& mine = known_[rank];
  const auto found = mine.find(handle);
  if (found != mine.end()) {
    last = {handle, &found->second};
    return found->second;
  }
  if (handle == MPI_COMM_WORLD) return mine[handle] = {world_};
  if (handle == MPI_COMM_SELF) return mine[handle] = {agree("self " + std::to_string(rank), handle)};
  throw core::InputError(
      "rank " + std::to_string(rank) +
      " uses a communicator between groups, or one that is not made by MPI_Comm_dup, MPI_Comm_split, "
      "MPI_Comm_create or a topology; `hplcast run --messages smpi` leaves messages to SMPI");
}

ProgramCommunicators::Pointer ProgramCommunicators::find_if_known(std::size_t rank, MPI_Comm handle) {
  const bool is_known = handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF || known_[rank].count(handle) > 0;
  return is_known ? find(rank, handle) : nullptr;
}

ProgramCommunicators::Pointer ProgramCommunicators::agree(const std::string& name, MPI_Comm child) {
  Agreed& agreed = agreed_[name];
  if (agreed.communicator == nullptr)
    agreed.communicator = std::make_shared<ProgramCommunicator>(contexts_++, world_ranks(child, size_of(child)));
  Pointer result = agreed.communicator;
  if (++agreed.ranks == static_cast<std::size_t>(result->ranks.size)) agreed_.erase(name);
  return result;
}

void ProgramCommunicators::made(std::size_t rank, MPI_Comm parent, MPI_Comm child) {
  Known& from = known(rank, parent);
  const std::uint64_t call = from.calls++;
  if (child == MPI_COMM_NULL) return;
  const std::string name = std::to_string(from.communicator->context) + " " + std::to_string(call) + " " +
                           std::to_string(world_ranks(child, 1).front());
  known_[rank][child] = {agree(name, child)};
}

void ProgramCommunicators::made_by_group(std::size_t rank, MPI_Comm parent, int tag, MPI_Comm child) {
  const int context = known(rank, parent).communicator->context;
  if (child == MPI_COMM_NULL) return;
  std::string name = "group " + std::to_string(context) + " " + std::to_string(tag);
  for (const int member : world_ranks(child, size_of(child))) name += " " + std::to_string(member);
  // The same members may do it again with the same tag, one call after the other.
  const std::uint64_t call = groups_[std::to_string(rank) + " of " + name]++;
  known_[rank][child] = {agree(name + " call " + std::to_string(call), child)};
}

void ProgramCommunicators::freed(std::size_t rank, MPI_Comm handle) {
  last_[rank] = {};
  known_[rank].erase(handle);
}

}  // namespace hplcast::smpi_models
