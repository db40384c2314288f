#include "smpi-models/platform/network_costs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace hplcast::smpi_models {
namespace {

// Enough names that the table grows several times between two sendings of one name.
TEST(SendingNumbers, CountEachDestinationAndTagByItself) {
  SendingNumbers numbers;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
  std::mt19937 engine(1);
  std::uniform_int_distribution<std::uint32_t> destination(0, 40), tag(0, 50);
  for (int i = 0; i < 20000; ++i) {
    const std::pair name(destination(engine), tag(engine) == 0 ? 0xffffffffU : tag(engine));
    ASSERT_EQ(numbers.next(name.first, name.second), expected[name]++) << name.first << ", " << name.second;
  }
}

}  // namespace
}  // namespace hplcast::smpi_models
