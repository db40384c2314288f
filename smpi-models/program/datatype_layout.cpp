// Contents of messages (message.hpp), and what is known of their datatypes (program_messages.hpp).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hplcast/core/csv.hpp"
#include "smpi-models/program/device_memory.hpp"
#include "smpi-models/program/program_messages.hpp"
#include "smpi-models/program/shared_memory.hpp"
#include "smpi-models/session/c_boundary.hpp"

namespace hplcast::smpi_models {

namespace {

/// Where the content of a datatype is: `blocks` blocks of `block_bytes`, of which each begins `stride_bytes` after the
/// one before it. Elements of the type follow each other at distances of `extent_bytes`.
struct DatatypeLayout {
  std::ptrdiff_t blocks = 0, block_bytes = 0, stride_bytes = 0, extent_bytes = 0;

  bool is_contiguous() const { return (blocks == 1 || block_bytes == stride_bytes) && extent_bytes == size(); }
  std::ptrdiff_t size() const { return blocks * block_bytes; }
};

std::ptrdiff_t extent_of(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  PMPI_Type_get_extent(type, &low, &extent);
  return extent;
}

/// Predefined types are never freed: their handles stay theirs.
std::unordered_map<MPI_Datatype, DatatypeLayout>& predefined_layouts() {
  static auto* const layouts = new std::unordered_map<MPI_Datatype, DatatypeLayout>();
  return *layouts;
}

/// Null: it is another type, or was not asked for yet. Most programs ask for the same one again and again.
const DatatypeLayout* predefined(MPI_Datatype type) {
  static MPI_Datatype last = MPI_DATATYPE_NULL;
  static const DatatypeLayout* layout_of_last = nullptr;
  if (type == last) return layout_of_last;
  const auto found = predefined_layouts().find(type);
  if (found == predefined_layouts().end()) return nullptr;
  last = type;
  return layout_of_last = &found->second;
}

/// SimGrid 3.32 counts it as an int.
std::ptrdiff_t size_by_smpi(MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return size;
}

int combiner_of(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner;
}

bool is_predefined(MPI_Datatype type) {
  return predefined(type) != nullptr || combiner_of(type) == MPI_COMBINER_NAMED;
}

/// Layout of predefined types, and of contiguous ones and vectors of these without gaps; null for other types.
std::optional<DatatypeLayout> layout_of(MPI_Datatype type) {
  if (const DatatypeLayout* const known = predefined(type)) return *known;
  const int combiner = combiner_of(type);
  if (combiner == MPI_COMBINER_NAMED) {
    const std::ptrdiff_t bytes = size_by_smpi(type);
    return predefined_layouts()[type] = {1, bytes, bytes, bytes};
  }
  const bool is_vector = combiner == MPI_COMBINER_VECTOR || combiner == MPI_COMBINER_HVECTOR;
  if (!is_vector && combiner != MPI_COMBINER_CONTIGUOUS) return std::nullopt;
  std::array<int, 3> numbers{};  // blocks, their length and distance; or length
  std::array<MPI_Aint, 1> distance{};
  std::array<MPI_Datatype, 1> of{};
  PMPI_Type_get_contents(type, 3, 1, 1, numbers.data(), distance.data(), of.data());
  const int blocks = is_vector ? numbers[0] : 1, length = is_vector ? numbers[1] : numbers[0];
  const std::ptrdiff_t stride_bytes = combiner == MPI_COMBINER_HVECTOR ? distance[0] : numbers[2] * extent_of(of[0]);
  const std::optional<DatatypeLayout> element = layout_of(of[0]);
  if (!is_predefined(of[0])) PMPI_Type_free(of.data());  // MPI has lent it
  if (blocks == 1 && length == 1) return element;
  if (!element || !element->is_contiguous()) return std::nullopt;
  return DatatypeLayout{blocks, length * element->size(), stride_bytes, extent_of(type)};
}

/// Calls copy(address, bytes) for the blocks of the first `size` bytes of a buffer, in the order of packed content.
template <typename Copy>
void for_each_block(const DatatypeLayout& layout, std::size_t size, void* buffer, const Copy& copy) {
  char* element = static_cast<char*>(buffer);
  if (layout.is_contiguous()) return copy(element, size);
  const auto most = static_cast<std::size_t>(layout.block_bytes);
  for (; size > 0; element += layout.extent_bytes) {
    char* block = element;
    for (std::ptrdiff_t j = 0; j < layout.blocks; ++j, block += layout.stride_bytes, size -= std::min(size, most))
      copy(block, std::min(size, most));
  }
}

void gather(const DatatypeLayout& layout, const MessageEnd& from, void* to) {
  for_each_block(layout, packed_bytes(from.count, from.type), from.buffer, [&](const char* block, std::size_t bytes) {
    std::memcpy(to, block, bytes);
    to = static_cast<char*>(to) + bytes;
  });
}

void scatter(const void* from, std::size_t size, const DatatypeLayout& layout, void* to) {
  for_each_block(layout, size, to, [&](char* block, std::size_t bytes) {
    std::memcpy(block, from, bytes);
    from = static_cast<const char*>(from) + bytes;
  });
}

bool is_left_out(const MessageEnd& end) {
  return end.buffer == nullptr || shared_memory().shares(end.buffer);
}

/// Buffers that are used again where they are too large for the lists of malloc(), and no larger than messages that
/// programs send by the thousand. Not set to 0: much of the time goes into contents.
class SpareContents {
 public:
  std::unique_ptr<char[]> take(std::size_t size) {
    const auto found = std::find_if(spare_.rbegin(), spare_.rend(), [=](const auto& one) { return one.size == size; });
    if (found == spare_.rend()) return std::unique_ptr<char[]>(new char[size]);
    std::unique_ptr<char[]> bytes = std::move(found->bytes);
    std::swap(*found, spare_.back());
    spare_.pop_back();
    return bytes;
  }
  void give(MessageContent content) {
    constexpr std::size_t least = 1024, most = 65536, many = 32;
    if (content.bytes == nullptr || content.size < least || content.size > most) return;
    if (spare_.size() == many) spare_.erase(spare_.begin());
    spare_.push_back(std::move(content));
  }

 private:
  std::vector<MessageContent> spare_;
};

SpareContents& spare_contents() {
  static auto* const spare = new SpareContents();
  return *spare;
}

/// Content of an end, side by side; without bytes if that is left out. SMPI packs types of which the layout is not
/// known.
MessageContent pack(const MessageEnd& from) {
  MessageContent content{nullptr, packed_bytes(from.count, from.type)};
  if (content.size == 0 || is_left_out(from)) return content;
  if (device_memory().has(from.buffer)) {
    content.of_device = true;
    if (const auto layout = layout_of(from.type); layout && layout->is_contiguous())
      content.pieces = device_memory().content(from.buffer, content.size);
    return content;
  }
  content.bytes = spare_contents().take(content.size);
  if (const auto layout = layout_of(from.type)) {
    gather(*layout, from, content.bytes.get());
  } else {
    int position = 0;
    PMPI_Pack(from.buffer, from.count, from.type, content.bytes.get(), static_cast<int>(content.size), &position,
              from.communicator);
  }
  return content;
}

/// And back. Content that is shorter than what is expected fills the begin of it. What comes from shared memory is
/// ones, as a block that is shared has at first: what was there before may be zeros, on which factorisations stop.
void unpack(MessageContent content, const MessageEnd& into) {
  if (content.size == 0 || is_left_out(into)) return;
  if (content.of_device) return device_memory().put(into.buffer, content.size, content.pieces);
  if (device_memory().has(into.buffer)) {
    if (content.bytes != nullptr) device_memory().copy(into.buffer, content.bytes.get(), content.size, content.size);
    return;
  }
  if (content.bytes == nullptr) {
    content.bytes.reset(new char[content.size]);
    constexpr double one = 1;
    for (std::size_t at = 0; at < content.size; at += sizeof one)
      std::memcpy(content.bytes.get() + at, &one, std::min(sizeof one, content.size - at));
  }
  if (const auto layout = layout_of(into.type)) {
    scatter(content.bytes.get(), content.size, *layout, into.buffer);
  } else {
    const auto elements = static_cast<int>(static_cast<std::ptrdiff_t>(content.size) / size_by_smpi(into.type));
    int position = 0;
    PMPI_Unpack(content.bytes.get(), static_cast<int>(content.size), &position, into.buffer, elements, into.type,
                into.communicator);
  }
  spare_contents().give(std::move(content));
}

/// pack() and unpack() in one where one copy is enough; neither end is shorter than the content.
void copy_content(const MessageEnd& from, const MessageEnd& into) {
  const std::size_t bytes = packed_bytes(from.count, from.type);
  if (bytes == 0 || is_left_out(into)) return;
  const auto source = layout_of(from.type), target = layout_of(into.type);
  const bool of_devices = device_memory().has(from.buffer) || device_memory().has(into.buffer);
  if (of_devices || is_left_out(from) || !source || !target || !(source->is_contiguous() || target->is_contiguous())) {
    unpack(pack(from), into);
  } else if (target->is_contiguous()) {
    gather(*source, from, into.buffer);
  } else {
    scatter(from.buffer, bytes, *target, into.buffer);
  }
}

}  // namespace

MPI_Datatype lasting_copy(MPI_Datatype type) {
  if (is_predefined(type)) return MPI_DATATYPE_NULL;
  // SMPI's MPI_Type_dup forgets where the content of a type is.
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(1, type, &copy);
  PMPI_Type_commit(&copy);
  return copy;
}

std::size_t packed_bytes(int count, MPI_Datatype type) {
  const auto layout = layout_of(type);
  return count > 0 ? static_cast<std::size_t>(count * (layout ? layout->size() : size_by_smpi(type))) : 0;
}

Packing packing_of(int count, MPI_Datatype type) {
  constexpr std::ptrdiff_t cache_line_bytes = 64, alias_bytes = 4096;  // call_shapes.h of programs/
  const double bytes = static_cast<double>(packed_bytes(count, type));
  if (predefined(type) != nullptr) return {"", {1, bytes, 1}};
  const auto layout = layout_of(type);
  if (!layout) return {"", {1, bytes, 1}, size_by_smpi(type) != extent_of(type)};
  if (layout->is_contiguous() || layout->block_bytes >= cache_line_bytes) return {"", {1, bytes, 1}};
  const std::ptrdiff_t stride = std::abs(layout->blocks > 1 ? layout->stride_bytes : layout->extent_bytes);
  return {stride % alias_bytes == 0         ? "/aliased"
          : stride % (alias_bytes / 2) == 0 ? "/half-aliased"
                                            : "/strided",
          {static_cast<double>(layout->block_bytes), static_cast<double>(count * layout->blocks),
           static_cast<double>(std::max<std::ptrdiff_t>(stride, 1))},
          true};
}

void keep_content(SentMessage& sent) {
  sent.copy = pack(*sent.from);
  sent.from = nullptr;
}

void move_content(SentMessage& sent, const MessageRequest& request) {
  const MessageEnd& into = *request.into;
  const double expected = static_cast<double>(packed_bytes(into.count, into.type));
  if (sent.message.bytes > expected) {
    const hplcast_channel& channel = sent.message.channel;
    end_simulation_of(static_cast<std::uint32_t>(channel.destination),
                      "received a message of " + core::shortest(sent.message.bytes) + " bytes with tag " +
                          std::to_string(channel.tag) + "; expected at most " + core::shortest(expected));
  }
  if (sent.from != nullptr)
    copy_content(*sent.from, into);
  else
    unpack(std::move(sent.copy), into);
  sent.from = nullptr;
  sent.copy = {};
}

}  // namespace hplcast::smpi_models
