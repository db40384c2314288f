#include "communicators.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "simgrid_port/simgrid_port.hpp"

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
  simgrid::s4u::BarrierPtr all_are_here;

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
    splitting_->all_are_here = simgrid::s4u::Barrier::create(static_cast<unsigned>(size));
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

}  // namespace hplcast::smpi_models
