// SPDX-License-Identifier: Apache-2.0
// How far derived launches go from the launch that they are derived from, each limit with its unit
// and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kopt {

// Integers

/// Elements. Sizes are not halved below this, and a captured integer from here on is taken for one.
inline constexpr std::int64_t kSmallestSize = 8;
/// Elements. No size is as large: greater integers are bits, and a product of two sizes fits 64.
inline constexpr std::int64_t kLargestSize = std::int64_t(1) << 30;
/// Elements that 16 bits can number.
inline constexpr std::int64_t kSixteenBits = 65536;
/// Enough beyond a limit that a sum of that many squares of bytes exceeds 32 bits.
inline constexpr std::int64_t kBeyond = 4567;
/// How many times as large sizes of a captured launch become, where memory allows it.
inline constexpr std::int64_t kFar = 16;
/// A turn of a candidate's own launch is looked for up to that many times its size, in so many
/// bisections, and tried at kPastTurn times the size at which its grid stops growing.
inline constexpr double kMostTimes = 1024, kPastTurn = 1.05;
inline constexpr int kBisections = 24;
/// A number from here on that the kernel compares a size with may be a limit on it.
inline constexpr double kLimit = 64;
/// Captured integers that are no sizes become far greater, too, if they are at most this.
inline constexpr std::int64_t kMostCounted = 4096;

// Work

/// Threads and elements of a launch that is tried with numbers or contents of a condition.
inline constexpr std::uint64_t kSmall = 16384;
/// Threads of a part of a captured grid.
inline constexpr std::uint64_t kPartThreads = 8192;
/// Elements of a problem that is tried as a whole with other contents: more would take seconds.
/// Also the bytes of contents that a request to the runner carries.
inline constexpr std::uint64_t kMostContents = 1 << 20;
/// Bytes of a captured launch that is twice as large; and of one that is far larger, and of the
/// captured contents of a buffer that are read to summarize them.
inline constexpr std::uint64_t kMostGrown = std::uint64_t(2) << 30;
inline constexpr std::uint64_t kMostFar = std::uint64_t(256) << 20;

// Tries

/// Buffers, or captured integers, that are changed one at a time.
inline constexpr std::size_t kMostAlone = 6;
/// Numbers of a condition. Pairs of them are tried as well.
inline constexpr std::size_t kMostNumbers = 5;
/// Captured integers that are tried as factors of a buffer's size. Products of three are tried,
/// too.
inline constexpr std::size_t kMostFactors = 12;

/// A captured buffer's size is taken to be a product of arguments if it has one of these multiples
/// of it as elements, or slightly more: a border, or one element at the end.
inline constexpr std::uint64_t kTimes[] = {1, 2, 3, 4, 6, 8, 9, 12, 16};
inline constexpr double kBorder = 1.1;

// Contents

/// Elements of a captured buffer of which the range is taken.
inline constexpr std::uint64_t kSample = 1 << 16;
/// Factors for larger and smaller numbers; of f16 and bf16, whose range is narrow, the second.
inline constexpr double kScale = 1000, kNarrowScale = 16;
/// Numbers whose squares overflow their type, although they are far from its limits themselves: of
/// f32, f64, and f16 and bf16.
inline constexpr double kHuge = 1e30, kHugeDouble = 1e200, kHugeNarrow = 512;

// Addresses

/// Bytes. Allocations begin at multiples of this.
inline constexpr std::uint64_t kOfAllocations = 256;
/// Bytes of the widest access of a thread: a vector of four floats. Pointers that are aligned to it
/// are aligned for all that a kernel can do, and it takes that many elements at most.
inline constexpr std::uint64_t kWidestAccess = 16;

} // namespace kopt
