// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that a thread has begun and not yet waited for. A GPU may do
// one at any time between the two, so here it does the worst at both ends: from its beginning the
// target is lost and being written, and it has what the source holds when it is waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kopt::runtime::emulated {

class AsyncCopies {
public:
  void clear();
  /// `bytes` is 4, 8 or 16; the last `zeros` of them are not read but zero. Ends the launch where
  /// that is not allowed.
  void begin(void *to, const void *from, std::uint64_t bytes, std::uint64_t zeros,
             std::uint32_t site);
  /// Those begun since the last time are one group.
  void commit() { groups_.push_back(copies_.size()); }
  /// Until all groups but the latest `prior` are done.
  void wait(std::uint64_t prior);

private:
  struct Copy {
    std::uint64_t to, from; ///< offsets in the arena
    std::uint32_t bytes, zeros, site;
  };
  static void finish(const Copy &copy);

  std::vector<Copy> copies_;
  std::vector<std::size_t> groups_; ///< the number of copies up to the end of each
};

} // namespace kopt::runtime::emulated
