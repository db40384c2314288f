#pragma once

#include <smpi/smpi.h>

#include <cstddef>
#include <optional>

#include "hplcast/smpi_models/hplcast_program_messages.h"
#include "message.hpp"

namespace hplcast::smpi_models {

/// Where the content of a datatype is: `blocks` blocks of `block_bytes`, of which each begins `stride_bytes` after the
/// one before it. Elements of the type follow each other at distances of `extent_bytes`.
struct DatatypeLayout {
  std::ptrdiff_t blocks = 0, block_bytes = 0, stride_bytes = 0, extent_bytes = 0;

  bool is_contiguous() const { return (blocks == 1 || block_bytes == stride_bytes) && extent_bytes == size(); }
  std::ptrdiff_t size() const { return blocks * block_bytes; }
};

/// Whether it is one of MPI's own.
bool is_predefined(MPI_Datatype type);
/// Of predefined types, and of contiguous ones and vectors of these; null for other types.
std::optional<DatatypeLayout> layout_of(MPI_Datatype type);

/// Whether a message of this type costs more than one without gaps, because it is packed in pieces of less than a cache
/// line; of types of which the layout is not known: whether they have gaps.
bool has_short_blocks(MPI_Datatype type);

/// Bytes of `count` elements of a type, packed.
std::size_t packed_bytes(int count, MPI_Datatype type);

// Contents of messages. SMPI packs types of which the layout is not known. Memory that ranks share (SharedMemory) is
// neither read nor written: what is in it means nothing, and arrives as ones.

/// What is at an end, side by side; without bytes if that is in shared memory.
MessageContent pack(const hplcast_end& from);
/// And back. Content that is shorter than what is expected fills the first elements.
void unpack(const MessageContent& content, const hplcast_end& into);
/// pack() and unpack() in one, for ends of which none is shorter than the content.
void copy_content(const hplcast_end& from, const hplcast_end& into);

}  // namespace hplcast::smpi_models
