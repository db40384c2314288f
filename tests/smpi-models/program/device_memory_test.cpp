// Memory of simulated accelerators: which contents are kept, and go along.
#include "smpi-models/program/device_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace hplcast::smpi_models {
namespace {

std::vector<char> numbered(std::size_t bytes) {
  std::vector<char> content(bytes);
  for (std::size_t i = 0; i < bytes; ++i) content[i] = static_cast<char>(i % 101 + 1);
  return content;
}

TEST(DeviceMemory, KnowsWhatItHasAllocated) {
  DeviceMemory memory;
  char* const one = static_cast<char*>(memory.allocate(std::size_t{1} << 36));  // more than this machine has
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(memory.bytes_from(one + 6), (std::size_t{1} << 36) - 6);
  EXPECT_TRUE(memory.has(one + (std::size_t{1} << 36) - 1));
  EXPECT_FALSE(memory.has(&memory));
  EXPECT_EQ(memory.release(one + 1), 0u);
  EXPECT_EQ(memory.release(one), std::size_t{1} << 36);
  EXPECT_EQ(memory.release(one), 0u);
}

TEST(DeviceMemory, SmallContentsGoAlongWithLongCopiesThatCoverThem) {
  DeviceMemory memory;
  constexpr std::size_t size = std::size_t{1} << 30;
  char* const one = static_cast<char*>(memory.allocate(size));
  char* const other = static_cast<char*>(memory.allocate(size));
  const std::vector<char> list = numbered(1000);
  memory.copy(one + 12345, list.data(), list.size(), list.size());
  memory.copy(other + 7, one + 10000, size / 2, size / 2);  // within the device
  std::vector<char> back(5000, 'x');
  memory.copy(back.data(), other + 7, back.size(), back.size());
  EXPECT_TRUE(std::equal(list.begin(), list.end(), back.begin() + 2345));
  // A long copy to the host has what is kept, and nothing else.
  std::vector<char> much(200000, 'x');
  memory.copy(much.data(), other + 7, much.size(), much.size());
  EXPECT_TRUE(std::equal(list.begin(), list.end(), much.begin() + 2345));
  EXPECT_EQ(std::count(much.begin(), much.end(), 'x'), 199000);
  // What is overwritten by something without content is gone.
  memory.copy(other, one, size / 4, size / 4);
  EXPECT_EQ(memory.content(other, size).size(), 1u);
  EXPECT_EQ(memory.content(other, size)[0].offset, 12345u);
  memory.copy(other, much.data(), much.size(), much.size());
  EXPECT_TRUE(memory.content(other, size).empty());
  memory.copy(back.data(), other + 7, back.size(), back.size());
  EXPECT_EQ(std::count(back.begin(), back.end(), 0), 5000) << "what was there before";
}

TEST(DeviceMemory, RowsOfALongCopyHaveNoContent) {
  DeviceMemory memory;
  constexpr std::size_t pitch = 4000, rows = 100;
  char* const device = static_cast<char*>(memory.allocate(pitch * rows));
  const std::vector<char> row = numbered(1000);
  const auto copy_rows = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) memory.copy(device + i * pitch, row.data(), row.size(), count * row.size());
  };
  copy_rows(10);
  EXPECT_EQ(memory.content(device, pitch * rows).size(), 10u);
  copy_rows(rows);
  EXPECT_TRUE(memory.content(device, pitch * rows).empty());
  std::vector<char> back(row.size(), 'x');
  memory.copy(back.data(), device, back.size(), rows * back.size());
  EXPECT_EQ(std::count(back.begin(), back.end(), 'x'), 1000) << "nothing is brought along";
}

TEST(DeviceMemory, KeepsWhatAnArrayOfBytesWouldKeep) {
  // 20,000 random operations beside a plain array with a mark per byte.
  DeviceMemory memory;
  constexpr std::size_t size = 3000;
  char* const device = static_cast<char*>(memory.allocate(size));
  std::vector<int> kept(size, -1);
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const std::size_t from = random() % size, bytes = random() % std::min<std::size_t>(size - from + 1, 200);
    if (random() % 2 == 0) {
      const std::vector<char> content = numbered(bytes);
      memory.copy(device + from, content.data(), bytes, bytes);
      std::copy(content.begin(), content.end(), kept.begin() + static_cast<std::ptrdiff_t>(from));
    } else {
      memory.put(device + from, bytes, {});
      std::fill_n(kept.begin() + static_cast<std::ptrdiff_t>(from), bytes, -1);
    }
    if (i % 100 != 0) continue;
    std::vector<int> found(size, -1);
    for (const ContentPiece& piece : memory.content(device, size))
      std::copy(piece.bytes.begin(), piece.bytes.end(), found.begin() + static_cast<std::ptrdiff_t>(piece.offset));
    ASSERT_EQ(found, kept) << i;
  }
}

TEST(DeviceMemory, ThatIsRealIsMemoryLikeAnyOther) {
  DeviceMemory memory;
  memory.become_real();
  char* const device = static_cast<char*>(memory.allocate(1 << 20));
  const std::vector<char> content = numbered(1 << 20);
  memory.copy(device, content.data(), content.size(), content.size());
  EXPECT_FALSE(memory.has(device));
  EXPECT_EQ(std::memcmp(device, content.data(), content.size()), 0);
}

}  // namespace
}  // namespace hplcast::smpi_models
