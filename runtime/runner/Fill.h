// SPDX-License-Identifier: Apache-2.0
// The initial contents of buffers. Every element is a function of (seed, buffer, index) alone: any
// part of a buffer can be drawn again at any time, on any machine, with the same bytes. Nothing has
// to be kept for comparison.
#pragma once

#include "runtime/device/MemoryKernels.h"
#include "runtime/runner/LaunchSpec.h"

#include <cstddef>
#include <cstdint>

namespace kopt::runtime {

/// Large buffers are made in pieces of so many bytes, a multiple of every element's.
inline constexpr std::uint64_t kContentsPiece = 16u << 20;

/// Bytes of one element; 1 for an unknown scalar and for a struct.
std::size_t scalarSize(const std::string &scalar);

/// Draws bytes [offset, offset + size) of a buffer; `offset` is a multiple of 8. Drawn values are
/// clipped to the finite range of the type; only FillKind::Special draws NaN and infinities.
/// `stream` is the buffer's index in its launch. Nothing is written for captured contents, which
/// come from a file.
void drawContents(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                  std::uint64_t offset, std::size_t size, std::byte *out);

/// BufferSpec::lead as far as the buffer goes. The captured bytes may extend beyond its end.
std::uint64_t leadOf(const BufferSpec &spec);

/// True if the numbers of a captured buffer are changed before use: multiplied, or moved
/// (BufferSpec::jitter).
bool altersCaptured(const BufferSpec &spec);

/// Changes bytes [offset, offset + size) of a captured buffer as its fill says. `offset` counts
/// from the start of the buffer, its leading zeros included. A number that lies in two pieces
/// (kContentsPiece) stays as it is.
void alterCaptured(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                   std::uint64_t offset, std::size_t size, std::byte *bytes);

/// Converts `count` numbers of type f32, f16 or bf16 to doubles.
void widenNumbers(const std::string &narrow, const std::byte *from, std::uint64_t count,
                  std::byte *to);

/// The poison of a buffer. Poison is random bits: as floats, values of any magnitude and sign,
/// sometimes NaN, so that a kernel that reads them cannot give a correct result.
Pattern poisonOf(std::uint64_t seed, std::uint64_t stream, bool inverted);

/// Draws the poison of bytes [offset, offset + size); `offset` is a multiple of 8.
void drawPoison(std::uint64_t seed, std::uint64_t stream, bool inverted, std::uint64_t offset,
                std::size_t size, std::byte *out);

} // namespace kopt::runtime
