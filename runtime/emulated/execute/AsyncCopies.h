// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that a thread has begun and not yet waited for. A GPU may
// make such a copy at any time in between. The emulation therefore assumes the worst case at both
// ends: the target is overwritten when the copy begins, and receives what the source holds when the
// thread waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kopt::runtime::emulated {

class AsyncCopies {
public:
  void clear();
  /// Begins a copy of `bytes` bytes (4, 8 or 16). The last `zeros` of them are set to zero instead
  /// of read. Ends the launch if the arguments are not allowed.
  void begin(void *to, const void *from, std::uint64_t bytes, std::uint64_t zeros,
             std::uint32_t site);
  /// Makes the copies that began since the last commit() one group.
  void commit() { groups_.push_back(copies_.size()); }
  /// Completes all groups except the latest `prior`.
  void wait(std::uint64_t prior);

private:
  struct Copy {
    std::uint64_t to, from; ///< offsets in the arena
    std::uint32_t bytes, zeros, site;
  };
  static void finish(const Copy &copy);

  std::vector<Copy> copies_;
  std::vector<std::size_t> groups_; ///< the number of copies up to the end of each group
};

} // namespace kopt::runtime::emulated
