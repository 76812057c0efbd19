// SPDX-License-Identifier: Apache-2.0
// What a device does with its own memory by kernels of kopt's. Copying the memory to the host and
// looking at it there takes a hundred times as long.
#pragma once

#include "runtime/device/Device.h"

#include <cstring>
#include <random>

namespace kopt::runtime {

/// The finaliser of SplitMix64: turns a counter into 64 independent bits.
constexpr std::uint64_t mixedBits(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Word `counter` of the stream of random bits that `key` names: SplitMix64.
constexpr std::uint64_t drawnBits(std::uint64_t key, std::uint64_t counter) {
  return mixedBits(key + 0x9e3779b97f4a7c15u * (counter + 1));
}

/// Random words of 8 bytes; with `inverted`, every bit differs.
struct Pattern {
  std::uint64_t key = 0;
  bool inverted = false;
  std::uint64_t word(std::uint64_t index) const {
    return drawnBits(key, index) ^ (inverted ? ~std::uint64_t(0) : 0);
  }
};

/// Tells contents apart: two that differ have the same digest with a probability of 2^-128, unless
/// who made one of them knew the key. Not meant for anything else.
using Digest = std::array<std::uint64_t, 2>;

/// A key that nobody can know; never 0.
inline std::uint64_t secretKey() {
  std::random_device source;
  return std::uint64_t(source()) << 32 | source() | 1;
}

/// The digest of `words` words of 8 bytes: sums of their mixed values, so that they can be added in
/// any order.
inline Digest digestOf(const std::byte *bytes, std::uint64_t words, std::uint64_t key) {
  Digest digest{};
  for (std::uint64_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    const std::uint64_t own = drawnBits(key, i);
    digest[0] += mixedBits(word ^ own);
    digest[1] += mixedBits(word + mixedBits(own));
  }
  return digest;
}

/// All addresses are multiples of 8. The statuses are as Device's.
class MemoryKernels {
public:
  virtual ~MemoryKernels() = default;
  /// Writes the pattern's first words. A later launch begins after that.
  virtual Status writePattern(Address to, std::uint64_t words, Pattern pattern) = 0;
  /// Finds the elements of `size` bytes (1, 2, 4 or 8) that are equal to the pattern's: `count` of
  /// them, and for each a bit in `bits`, the lowest first, which has a word for each 64 elements.
  virtual Status findPattern(Address at, std::uint64_t words, Pattern pattern, std::size_t size,
                             std::vector<std::uint64_t> &bits, std::uint64_t &count) = 0;
  /// As digestOf().
  virtual Status digest(Address at, std::uint64_t words, std::uint64_t key, Digest &out) = 0;
};

} // namespace kopt::runtime
