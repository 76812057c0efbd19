// SPDX-License-Identifier: Apache-2.0
// Work on large memory, split over the processors of this machine. The split depends on the work
// alone, so the results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>

namespace kopt::runtime {

/// The number of processors that this process may keep busy: those of its affinity mask, or fewer
/// if a control group grants less time.
unsigned processors();

/// Calls `part(begin, end)` for consecutive pieces of [0, count) on several threads, and returns
/// when all are done. Each piece has the size `grain`; the last may be smaller. `part` must not
/// throw. `threads` limits the number of threads; 0: processors(). The helper threads are kept for
/// the next call and take no signals. A call from within a part, or during another thread's call,
/// runs on the caller's thread alone.
void parallelFor(std::uint64_t count, std::uint64_t grain,
                 const std::function<void(std::uint64_t, std::uint64_t)> &part,
                 unsigned threads = 0);

/// The number of threads worth using for work that reads `bytes` once.
unsigned threadsFor(std::uint64_t bytes);

/// memcpy with several threads.
void parallelCopy(void *to, const void *from, std::uint64_t bytes);

/// Index of the first byte in which two blocks differ, or `bytes`. `threads`: 0: threadsFor(bytes).
std::uint64_t firstDifference(const void *a, const void *b, std::uint64_t bytes,
                              unsigned threads = 0);

} // namespace kopt::runtime
