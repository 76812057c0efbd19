// SPDX-License-Identifier: Apache-2.0
// The bytes that buffers begin with. Every element is a function of (seed, buffer, index) alone:
// any part of a buffer can be drawn again at any time, on any machine, with the same bytes, so that
// nothing need be kept to compare with.
#pragma once

#include "runtime/runner/LaunchSpec.h"

#include <cstddef>
#include <cstdint>

namespace kopt::runtime {

/// Bytes of one element; 1 for a scalar that is not known, and for the bytes of a struct.
std::size_t scalarSize(const std::string &scalar);

/// Draws bytes [offset, offset + size) of a buffer; `offset` is a multiple of 8. Never NaN or
/// infinite: values are clipped to what the type holds. `stream` is the buffer's index in its
/// launch. Captured contents are not drawn: nothing is written for them.
void drawContents(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                  std::uint64_t offset, std::size_t size, std::byte *out);

/// How many zero bytes of a captured buffer come before what was captured: LOW of its fill where
/// that is 1 or more. The captured bytes may go on beyond the buffer's end.
std::uint64_t leadOf(const BufferSpec &spec);

/// How many of the captured bytes are repeated until the buffer is full: -LOW of its fill where
/// that is 2 or more; 0: none.
std::uint64_t periodOf(const BufferSpec &spec);

/// Whether numbers of a captured buffer are others than were captured: multiplied by HIGH of its
/// fill, where that is neither 0 nor 1, or moved (BufferSpec::jitter).
bool altersCaptured(const BufferSpec &spec);

/// Makes captured bytes [offset, offset + size) of a buffer, its lead counted, what its fill says.
/// A number that lies in two pieces (HostMemory::kPiece) stays as it is.
void alterCaptured(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                   std::uint64_t offset, std::size_t size, std::byte *bytes);

/// `count` numbers of type f32, f16 or bf16 as doubles.
void widenNumbers(const std::string &narrow, const std::byte *from, std::uint64_t count,
                  std::byte *to);

/// Poison of bytes [offset, offset + size); `offset` is a multiple of 8. Random bits: for floats
/// wild values of both signs, sometimes NaN, so that a kernel that reads them cannot come out
/// right. With `inverted` every bit differs.
void drawPoison(std::uint64_t seed, std::uint64_t stream, bool inverted, std::uint64_t offset,
                std::size_t size, std::byte *out);

} // namespace kopt::runtime
