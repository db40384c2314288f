#include "smpi-models/program/program_messages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "smpi-models/program/shared_memory.hpp"

namespace hplcast::smpi_models {

namespace {

std::ptrdiff_t extent_of(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  PMPI_Type_get_extent(type, &low, &extent);
  return extent;
}

DatatypeLayout element_of(std::ptrdiff_t bytes) {
  return {1, bytes, bytes, bytes};
}

/// One after the other; null if what they are made of is not known, or has gaps.
std::optional<DatatypeLayout> repeated(std::ptrdiff_t blocks, std::ptrdiff_t length, std::ptrdiff_t stride_bytes,
                                       MPI_Datatype of, MPI_Datatype type) {
  const std::optional<DatatypeLayout> element = layout_of(of);
  if (blocks == 1 && length == 1) return element;
  if (!element || !element->is_contiguous()) return std::nullopt;
  return DatatypeLayout{blocks, length * element->size(), stride_bytes, extent_of(type)};
}

/// Calls copy(address, bytes) for the blocks of a buffer, in the order of packed content.
template <typename Copy>
void for_each_block(const DatatypeLayout& layout, std::size_t elements, char* buffer, const Copy& copy) {
  if (layout.is_contiguous()) return copy(buffer, elements * static_cast<std::size_t>(layout.size()));
  for (std::size_t i = 0; i < elements; ++i) {
    char* block = buffer + static_cast<std::ptrdiff_t>(i) * layout.extent_bytes;
    for (std::ptrdiff_t j = 0; j < layout.blocks; ++j, block += layout.stride_bytes)
      copy(block, static_cast<std::size_t>(layout.block_bytes));
  }
}

std::size_t size_of(MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(size);
}

/// Predefined types are never freed: their handles stay theirs.
std::unordered_map<MPI_Datatype, DatatypeLayout>& predefined_layouts() {
  static auto* const layouts = new std::unordered_map<MPI_Datatype, DatatypeLayout>();
  return *layouts;
}

int combiner_of(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner;
}

bool is_left_out(const hplcast_end& end) {
  return end.buffer == nullptr || shared_memory().shares(end.buffer);
}

void gather(const DatatypeLayout& layout, const hplcast_end& from, char* to) {
  for_each_block(layout, static_cast<std::size_t>(from.count), static_cast<char*>(from.buffer),
                 [&](const char* block, std::size_t bytes) {
                   std::memcpy(to, block, bytes);
                   to += bytes;
                 });
}

void scatter(const char* from, std::size_t elements, const DatatypeLayout& layout, void* to) {
  for_each_block(layout, elements, static_cast<char*>(to), [&](char* block, std::size_t bytes) {
    std::memcpy(block, from, bytes);
    from += bytes;
  });
}

}  // namespace

bool is_predefined(MPI_Datatype type) {
  return predefined_layouts().count(type) > 0 || combiner_of(type) == MPI_COMBINER_NAMED;
}

std::optional<DatatypeLayout> layout_of(MPI_Datatype type) {
  auto& predefined = predefined_layouts();
  if (const auto found = predefined.find(type); found != predefined.end()) return found->second;
  const int combiner = combiner_of(type);
  if (combiner == MPI_COMBINER_NAMED) return predefined[type] = element_of(static_cast<std::ptrdiff_t>(size_of(type)));
  const bool is_known =
      combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_VECTOR || combiner == MPI_COMBINER_HVECTOR;
  if (!is_known) return std::nullopt;
  std::array<int, 3> numbers{};
  std::array<MPI_Aint, 1> distance{};
  std::array<MPI_Datatype, 1> of{};
  PMPI_Type_get_contents(type, 3, 1, 1, numbers.data(), distance.data(), of.data());
  const auto [first, second, third] = numbers;
  std::optional<DatatypeLayout> layout;
  if (combiner == MPI_COMBINER_CONTIGUOUS) {
    layout = repeated(1, first, 0, of[0], type);
  } else {
    const std::ptrdiff_t stride_bytes = combiner == MPI_COMBINER_VECTOR ? third * extent_of(of[0]) : distance[0];
    layout = repeated(first, second, stride_bytes, of[0], type);
  }
  if (!is_predefined(of[0])) PMPI_Type_free(of.data());  // MPI has lent it
  return layout;
}

bool has_short_blocks(MPI_Datatype type) {
  constexpr std::ptrdiff_t cache_line_bytes = 64;
  if (const auto layout = layout_of(type)) return !layout->is_contiguous() && layout->block_bytes < cache_line_bytes;
  return static_cast<std::ptrdiff_t>(size_of(type)) != extent_of(type);
}

std::size_t packed_bytes(int count, MPI_Datatype type) {
  return count > 0 ? static_cast<std::size_t>(count) * size_of(type) : 0;
}

/// Content of shared memory in private memory: ones, as a block that is shared has at first. What was there before may
/// be zeros, on which factorisations stop.
void put_ones(std::size_t bytes, const hplcast_end& into) {
  MessageContent ones{std::unique_ptr<char[]>(new char[bytes]), bytes};
  constexpr double one = 1;
  for (std::size_t at = 0; at < bytes; at += sizeof one)
    std::memcpy(ones.bytes.get() + at, &one, std::min(sizeof one, bytes - at));
  unpack(ones, into);
}

MessageContent pack(const hplcast_end& from) {
  MessageContent content{nullptr, packed_bytes(from.count, from.type)};
  if (content.size == 0 || is_left_out(from)) return content;
  content.bytes.reset(new char[content.size]);  // not set to 0: much of the time goes into contents
  if (const auto layout = layout_of(from.type)) {
    gather(*layout, from, content.bytes.get());
  } else {
    int position = 0;
    PMPI_Pack(from.buffer, from.count, from.type, content.bytes.get(), static_cast<int>(content.size), &position,
              from.communicator);
  }
  return content;
}

void unpack(const MessageContent& content, const hplcast_end& into) {
  if (content.size == 0 || is_left_out(into)) return;
  if (content.bytes == nullptr) return put_ones(content.size, into);
  const std::size_t elements = content.size / size_of(into.type);
  if (const auto layout = layout_of(into.type)) {
    scatter(content.bytes.get(), elements, *layout, into.buffer);
  } else {
    int position = 0;
    PMPI_Unpack(content.bytes.get(), static_cast<int>(content.size), &position, into.buffer, static_cast<int>(elements),
                into.type, into.communicator);
  }
}

void copy_content(const hplcast_end& from, const hplcast_end& into) {
  const std::size_t bytes = packed_bytes(from.count, from.type);
  if (bytes == 0 || is_left_out(into)) return;
  if (is_left_out(from)) return put_ones(bytes, into);
  const auto source = layout_of(from.type), target = layout_of(into.type);
  if (target && target->is_contiguous() && source) {
    gather(*source, from, static_cast<char*>(into.buffer));
  } else if (source && source->is_contiguous() && target) {
    scatter(static_cast<const char*>(from.buffer), bytes / static_cast<std::size_t>(target->size()), *target,
            into.buffer);
  } else {
    unpack(pack(from), into);
  }
}

}  // namespace hplcast::smpi_models
