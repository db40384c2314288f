// Contents of messages (message.hpp), what is known of their datatypes (program_messages.hpp), and how many of their
// elements have come.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
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

/// The header is not installed.
class simgrid::smpi::Datatype {
 public:
  static void unref(MPI_Datatype lent);  ///< MPI_Type_free would say that the program has freed it
};

namespace hplcast::smpi_models {

namespace {

constexpr std::ptrdiff_t most_int = std::numeric_limits<int>::max();

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

/// Null: it is no predefined type. These are never freed: their handles stay theirs. Most programs ask for the same one
/// again and again. SMPI calls empty types and some structures predefined, too; they have no name.
const DatatypeLayout* predefined(MPI_Datatype type) {
  static auto* const layouts = new std::unordered_map<MPI_Datatype, DatatypeLayout>();
  static MPI_Datatype last = MPI_DATATYPE_NULL;
  static const DatatypeLayout* layout_of_last = nullptr;
  if (type == last) return layout_of_last;
  auto found = layouts->find(type);
  if (found == layouts->end()) {
    if (combiner_of(type) != MPI_COMBINER_NAMED) return nullptr;
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    PMPI_Type_get_name(type, name.data(), &length);
    if (length == 0) return nullptr;
    const std::ptrdiff_t bytes = size_by_smpi(type);
    found = layouts->emplace(type, DatatypeLayout{1, bytes, bytes, bytes}).first;
  }
  last = type;
  return layout_of_last = &found->second;
}

/// A derived type is made of elements of another one: `blocks` times `length`, the first one `place` bytes from its
/// begin, each block `stride` bytes after the one before it; or of several such parts.
struct TypePart {
  MPI_Datatype type;
  std::ptrdiff_t length, place, blocks = 1, stride = 0;
};

/// In the order of packed content.
std::vector<TypePart> parts_of(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (types == 0) return {};
  std::vector<int> numbers(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> places(static_cast<std::size_t>(addresses));
  std::vector<MPI_Datatype> of(static_cast<std::size_t>(types));
  PMPI_Type_get_contents(type, integers, addresses, types, numbers.data(), places.data(), of.data());
  for (MPI_Datatype lent : of) simgrid::smpi::Datatype::unref(lent);
  const std::ptrdiff_t extent = extent_of(of[0]);
  MPI_Aint begin = 0;
  PMPI_Type_lb(type, &begin);
  if (combiner == MPI_COMBINER_DUP) return {{of[0], 1, 0}};
  // One block of an indexed type or a structure may be a contiguous type that begins elsewhere.
  if (combiner == MPI_COMBINER_CONTIGUOUS) return {{of[0], numbers[0], begin}};
  if (combiner == MPI_COMBINER_VECTOR) return {{of[0], numbers[1], 0, numbers[0], numbers[2] * extent}};
  if (combiner == MPI_COMBINER_HVECTOR) return {{of[0], numbers[1], 0, numbers[0], places[0]}};
  std::vector<TypePart> parts;  // indexed, or a structure, which SMPI 3.32 calls indexed, too
  const auto blocks = static_cast<std::size_t>(numbers[0]);
  for (std::size_t i = 0; i < blocks; ++i)
    parts.push_back(
        {of[types > 1 ? i : 0], numbers[1 + i], places.empty() ? numbers[1 + blocks + i] * extent : places[i]});
  return parts;
}

/// Layout of predefined types, and of contiguous ones and vectors of these without gaps; null for other types.
std::optional<DatatypeLayout> layout_of(MPI_Datatype type) {
  if (const DatatypeLayout* const known = predefined(type)) return *known;
  const int combiner = combiner_of(type);
  if (combiner > MPI_COMBINER_HVECTOR) return std::nullopt;  // of several parts
  if (combiner == MPI_COMBINER_NAMED) {                      // empty, or a structure of 2 GiB or more without gaps
    const std::ptrdiff_t bytes = static_cast<std::uint32_t>(size_by_smpi(type));
    return DatatypeLayout{1, bytes, bytes, bytes};
  }
  const TypePart part = parts_of(type).front();
  const std::optional<DatatypeLayout> element = layout_of(part.type);
  if (!element || part.place != 0) return std::nullopt;
  if (part.blocks == 1 && part.length == 1) return element;
  if (!element->is_contiguous()) return std::nullopt;
  return DatatypeLayout{part.blocks, part.length * element->size(), part.stride, extent_of(type)};
}

/// SimGrid counts it as an int, too short from 2 GiB on: then by what it is made of.
std::ptrdiff_t size_of_type(MPI_Datatype type) {
  if (const auto layout = layout_of(type)) return layout->size();
  std::ptrdiff_t size = size_by_smpi(type);
  if (size >= 0 && extent_of(type) <= most_int) return size;
  size = 0;
  for (const TypePart& part : parts_of(type)) size += part.blocks * part.length * size_of_type(part.type);
  return size;
}

/// MPI's own elements in the first bytes of so many of a type. Takes these bytes off.
std::ptrdiff_t basic_elements(std::ptrdiff_t& bytes, std::ptrdiff_t count, MPI_Datatype type) {
  const std::vector<TypePart> parts = parts_of(type);
  const std::ptrdiff_t size = size_of_type(type), whole = size > 0 ? std::min(count, bytes / size) : 0;
  if (parts.empty() || size == 0) return bytes -= whole * size, whole;
  std::ptrdiff_t sum = 0;
  for (count = std::min(count, bytes / size + 1); count > 0 && bytes > 0; --count)
    for (const TypePart& part : parts) sum += basic_elements(bytes, part.blocks * part.length, part.type);
  return sum;
}

bool is_contiguous(MPI_Datatype type) {
  const auto layout = layout_of(type);
  return layout && layout->is_contiguous();
}

/// Calls move(address, bytes) for the pieces of elements, in the order of packed content.
template <typename Move>
void for_each_piece(MPI_Datatype type, std::ptrdiff_t count, char* at, const Move& move) {
  const auto layout = layout_of(type);
  if (layout && layout->is_contiguous()) return move(at, count * layout->size());
  const std::vector<TypePart> parts = layout ? std::vector<TypePart>() : parts_of(type);
  for (const std::ptrdiff_t extent = extent_of(type); count > 0; --count, at += extent) {
    for (std::ptrdiff_t i = 0; layout && i < layout->blocks; ++i)
      move(at + i * layout->stride_bytes, layout->block_bytes);
    for (const TypePart& part : parts)
      for (std::ptrdiff_t i = 0; i < part.blocks; ++i)
        for_each_piece(part.type, part.length, at + part.place + i * part.stride, move);
  }
}

/// Moves packed content into the begin of an end's memory; `packs`: out of there.
void move_packed(const MessageEnd& end, std::size_t size, char* packed, bool packs) {
  const auto element_bytes = static_cast<std::size_t>(size_of_type(end.type));
  const auto elements = static_cast<std::ptrdiff_t>((size + element_bytes - 1) / element_bytes);
  char* const begin = end.buffer == MPI_BOTTOM ? nullptr : static_cast<char*>(end.buffer);
  for_each_piece(end.type, elements, begin, [&](char* piece, std::ptrdiff_t most) {
    const std::size_t bytes = std::min(size, static_cast<std::size_t>(most));
    packs ? std::memcpy(packed, piece, bytes) : std::memcpy(piece, packed, bytes);
    packed += bytes;
    size -= bytes;
  });
}

bool is_left_out(const MessageEnd& end) {
  return end.buffer == nullptr || shared_memory().shares(end.buffer);
}

/// Content of an end, side by side; without bytes if that is left out.
MessageContent pack(const MessageEnd& from) {
  MessageContent content{nullptr, packed_bytes(from.count, from.type)};
  if (content.size == 0 || is_left_out(from)) return content;
  if (device_memory().has(from.buffer)) {
    content.of_device = true;
    if (is_contiguous(from.type)) content.pieces = device_memory().content(from.buffer, content.size);
    return content;
  }
  content.bytes.reset(new char[content.size]);
  move_packed(from, content.size, content.bytes.get(), true);
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
  move_packed(into, content.size, content.bytes.get(), false);
}

/// pack() and unpack() in one where one copy is enough; neither end is shorter than the content.
void copy_content(const MessageEnd& from, const MessageEnd& into) {
  const std::size_t bytes = packed_bytes(from.count, from.type);
  if (bytes == 0 || is_left_out(into)) return;
  const bool is_plain = !is_left_out(from) && !device_memory().has(from.buffer) && !device_memory().has(into.buffer);
  if (is_plain && is_contiguous(into.type))
    move_packed(from, bytes, static_cast<char*>(into.buffer), true);
  else if (is_plain && is_contiguous(from.type))
    move_packed(into, bytes, static_cast<char*>(from.buffer), false);
  else
    unpack(pack(from), into);
}

}  // namespace

MPI_Datatype lasting_copy(MPI_Datatype type) {
  if (predefined(type) != nullptr) return MPI_DATATYPE_NULL;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(1, type, &copy);
  PMPI_Type_commit(&copy);
  return copy;
}

std::size_t packed_bytes(int count, MPI_Datatype type) {
  return count > 0 ? static_cast<std::size_t>(count * size_of_type(type)) : 0;
}

Packing packing_of(int count, MPI_Datatype type) {
  constexpr std::ptrdiff_t cache_line_bytes = 64, alias_bytes = 4096;  // call_shapes.h of programs/
  const double bytes = static_cast<double>(packed_bytes(count, type));
  if (predefined(type) != nullptr) return {"", {1, bytes, 1}};
  const auto layout = layout_of(type);
  if (!layout) return {"", {1, bytes, 1}, size_of_type(type) != extent_of(type)};
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

using namespace hplcast::smpi_models;  // what follows is the interface of C

OURS_FOR(MPI_Get_count, const MPI_Status* status, MPI_Datatype type, int* count) {
  const std::ptrdiff_t bytes = bytes_of(*status), size = size_of_type(type);
  *count = size == 0                                       ? 0
           : bytes % size == 0 && bytes / size <= most_int ? static_cast<int>(bytes / size)
                                                           : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Get_elements_x, MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  std::ptrdiff_t bytes = bytes_of(*status);
  *count = basic_elements(bytes, bytes, type);
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Get_elements, MPI_Status* status, MPI_Datatype type, int* count) {
  MPI_Count all = 0;
  hplcast_MPI_Get_elements_x(status, type, &all);
  *count = all > most_int ? MPI_UNDEFINED : static_cast<int>(all);
  return MPI_SUCCESS;
}

OURS_FOR(MPI_Test_cancelled, const MPI_Status* status, int* cancelled) {
  *cancelled = status->cancelled & 1;
  return MPI_SUCCESS;
}
