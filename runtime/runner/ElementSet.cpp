// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/ElementSet.h"

#include "runtime/device/Parallel.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace kopt::runtime {

namespace {

/// Compares `count` elements of type T in `a` and `b` and sets the bit of each equal one in
/// `words`. Returns the number of equal elements.
template <class T>
std::uint64_t markEqual(const std::byte *a, const std::byte *b, std::uint64_t count,
                        std::uint64_t *words) {
  std::uint64_t equal = 0;
  for (std::uint64_t first = 0; first < count; first += 64) {
    std::uint64_t word = 0;
    const std::uint64_t last = std::min<std::uint64_t>(count, first + 64);
    for (std::uint64_t i = first; i < last; ++i) {
      T left, right;
      std::memcpy(&left, a + i * sizeof(T), sizeof(T));
      std::memcpy(&right, b + i * sizeof(T), sizeof(T));
      word |= std::uint64_t(left == right) << (i - first);
    }
    words[first / 64] = word;
    equal += std::uint64_t(std::popcount(word));
  }
  return equal;
}

std::uint64_t markEqual(std::size_t element, const std::byte *a, const std::byte *b,
                        std::uint64_t count, std::uint64_t *words) {
  switch (element) {
  case 2:
    return markEqual<std::uint16_t>(a, b, count, words);
  case 4:
    return markEqual<std::uint32_t>(a, b, count, words);
  case 8:
    return markEqual<std::uint64_t>(a, b, count, words);
  default:
    return markEqual<std::uint8_t>(a, b, count, words);
  }
}

} // namespace

void markPoisoned(Pattern poison, std::size_t element, std::uint64_t offset,
                  std::span<const std::byte> bytes, ElementSet &out) {
  // Elements of one task: whole words of bits, and poison that fits in a cache.
  constexpr std::uint64_t kGrain = 8u << 10;
  const std::uint64_t first = offset / element, count = bytes.size() / element;
  std::atomic<std::uint64_t> found{0};
  parallelFor(
      count, kGrain,
      [&](std::uint64_t begin, std::uint64_t end) {
        std::vector<std::uint64_t> drawn((end - begin) * element / sizeof(std::uint64_t) + 1);
        for (std::uint64_t i = 0; i < drawn.size(); ++i)
          drawn[i] = poison.word((offset + begin * element) / sizeof(std::uint64_t) + i);
        found += markEqual(element, bytes.data() + begin * element,
                           reinterpret_cast<const std::byte *>(drawn.data()), end - begin,
                           out.words.data() + (first + begin) / 64);
      },
      threadsFor(bytes.size()));
  out.count += found;
  if (const std::size_t rest = bytes.size() % element) {
    const std::uint64_t word = poison.word((offset + count * element) / sizeof(std::uint64_t));
    const std::size_t at = (offset + count * element) % sizeof word;
    if (std::memcmp(bytes.data() + count * element, reinterpret_cast<const std::byte *>(&word) + at,
                    rest) == 0) {
      out.words[(first + count) / 64] |= std::uint64_t(1) << ((first + count) % 64);
      ++out.count;
    }
  }
}

void markPoisonedEnd(Pattern poison, std::size_t element, std::uint64_t words,
                     std::span<const std::byte> bytes, ElementSet &out) {
  const std::uint64_t word = poison.word(words);
  for (std::size_t at = 0; at < bytes.size(); at += element) {
    const std::size_t size = std::min(element, bytes.size() - at);
    const std::uint64_t index = (words * sizeof word + at) / element;
    if (std::memcmp(bytes.data() + at, reinterpret_cast<const std::byte *>(&word) + at, size) != 0)
      continue;
    out.words[index / 64] |= std::uint64_t(1) << (index % 64);
    ++out.count;
  }
}

void forgetPadding(const BufferSpec &spec, ElementSet &poisoned) {
  const auto type = StructType::parse(spec.scalar);
  if (!type || poisoned.count == 0)
    return;
  std::vector<bool> isMember(type->bytes, false);
  for (const StructType::Member &member : type->members)
    std::fill_n(isMember.begin() + member.offset, member.bytes, true);
  for (std::uint64_t byte = 0; byte < spec.bytes; ++byte) {
    std::uint64_t &word = poisoned.words[byte / 64];
    const std::uint64_t bit = std::uint64_t(1) << (byte % 64);
    if (isMember[byte % type->bytes] || !(word & bit))
      continue;
    word &= ~bit;
    --poisoned.count;
  }
}

} // namespace kopt::runtime
