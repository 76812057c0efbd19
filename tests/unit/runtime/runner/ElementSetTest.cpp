// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/ElementSet.h"

#include <cstring>
#include <gtest/gtest.h>

namespace {

using namespace kopt::runtime;

TEST(ElementSetTest, TheEndOfABufferIsMarkedLikeTheRest) {
  const Pattern poison{42, true};
  for (const std::size_t element : {1, 2, 4, 8})
    for (std::size_t bytes = 256; bytes < 272; ++bytes) {
      std::vector<std::byte> memory(272);
      for (std::size_t i = 0; i < memory.size(); i += 8) {
        const std::uint64_t word = poison.word(i / 8);
        std::memcpy(memory.data() + i, &word, 8);
      }
      memory[17] ^= std::byte(1);
      memory[bytes - 1] ^= std::byte(1);
      ElementSet whole, parts;
      whole.words.assign(8, 0);
      parts.words.assign(8, 0);
      markPoisoned(poison, element, 0, {memory.data(), bytes}, whole);
      markPoisoned(poison, element, 0, {memory.data(), 256}, parts);
      const std::size_t words = bytes / 8;
      for (std::size_t word = 32; word < words; ++word)
        markPoisonedEnd(poison, element, word, {memory.data() + word * 8, 8}, parts);
      markPoisonedEnd(poison, element, words, {memory.data() + words * 8, bytes % 8}, parts);
      EXPECT_EQ(parts.words, whole.words) << element << " " << bytes;
      EXPECT_EQ(parts.count, whole.count) << element << " " << bytes;
    }
}

} // namespace
