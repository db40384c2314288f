#pragma once

#include <utility>
#include <variant>
#include <vector>

namespace hplcast::smpi_models {

/// The networks of several levels that SimGrid knows.
struct Torus {
  std::vector<unsigned long> dimensions;
};
struct FatTree {
  unsigned levels = 0;
  std::vector<unsigned> children, parents, links;  ///< of each level
};
struct Dragonfly {
  std::pair<unsigned, unsigned> groups, chassis, routers;  ///< with their links
  unsigned nodes = 0;
};
using Hierarchy = std::variant<Torus, FatTree, Dragonfly>;

}  // namespace hplcast::smpi_models
