// SPDX-License-Identifier: Apache-2.0
// Which elements of a buffer still hold the poison that they were given before a launch.
#pragma once

#include "runtime/device/MemoryKernels.h"
#include "runtime/runner/LaunchSpec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kopt::runtime {

/// A set of elements of one buffer.
struct ElementSet {
  std::vector<std::uint64_t> words; ///< a bit for each element, the lowest first
  std::uint64_t count = 0;          ///< bits that are set
};

/// Adds the elements of `element` bytes that are equal to the poison. `bytes` are those of the
/// buffer from `offset` on, a multiple of 64 elements; several threads look at them. If the buffer
/// ends inside an element, the bytes that exist count as one element.
void markPoisoned(Pattern poison, std::size_t element, std::uint64_t offset,
                  std::span<const std::byte> bytes, ElementSet &out);

/// The same for what follows the `words` whole words of a buffer, less than one word.
void markPoisonedEnd(Pattern poison, std::size_t element, std::uint64_t words,
                     std::span<const std::byte> bytes, ElementSet &out);

/// Takes the padding of structs out of `poisoned`. Nobody reads padding: code that copies whole
/// elements writes it, code that writes members does not, and both are correct.
void forgetPadding(const BufferSpec &spec, ElementSet &poisoned);

} // namespace kopt::runtime
