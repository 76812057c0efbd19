// SPDX-License-Identifier: Apache-2.0
// Work on large memory, split over the processors of this machine. How it is split depends on the
// work alone, never on how many threads there are, so results do not either.
#pragma once

#include <cstdint>
#include <functional>

namespace kopt::runtime {

/// Processors this process may keep busy: those of its affinity mask, or fewer where a control
/// group grants less time.
unsigned processors();

/// Calls `part(begin, end)` for consecutive pieces of [0, count), all but the last of `grain`, on
/// several threads, and returns when all are done. `part` must not throw. `threads` caps how many
/// run at a time; 0: processors(). The helper threads are kept for the next call and take no
/// signals. A call from within a part, or while another thread makes one, runs on the caller's
/// thread alone.
void parallelFor(std::uint64_t count, std::uint64_t grain,
                 const std::function<void(std::uint64_t, std::uint64_t)> &part,
                 unsigned threads = 0);

/// Threads worth waking for work that goes through this many bytes once.
unsigned threadsFor(std::uint64_t bytes);

/// memcpy by several threads.
void parallelCopy(void *to, const void *from, std::uint64_t bytes);

/// Index of the first byte in which two blocks differ, or `bytes`. `threads`: 0: as many as are
/// worth it.
std::uint64_t firstDifference(const void *a, const void *b, std::uint64_t bytes,
                              unsigned threads = 0);

} // namespace kopt::runtime
