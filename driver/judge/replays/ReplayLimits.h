// SPDX-License-Identifier: Apache-2.0
// How many derived launches are tried, and how far results may differ on them: each limit with its
// unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kopt {

// Work

/// Threads and elements of a derived launch. It is small because each candidate runs about twenty
/// of them: together they take about 30 ms on a GPU, and about as long on the emulated device.
inline constexpr std::uint64_t kMost = 16384;
/// Threads and elements from which on a candidate runs on as many derived launches as there is time
/// for: of a grid that no argument makes smaller, and of all captured launches.
inline constexpr std::uint64_t kCostly = 64 * kMost;
/// Threads of a small problem that is derived from a captured launch.
inline constexpr std::uint64_t kSmallProblem = 4096;
/// Instructions of one launch on the emulated device, about 0.2 s.
inline constexpr double kReplayInstructions = 5e7;
/// Instructions of one candidate on the emulated device, over all launches derived from a captured
/// one; about 2e8 take a second.
inline constexpr double kCandidateInstructions = 5e8;
/// Launches on which candidates run at least: one for each kind.
inline constexpr std::size_t kFewest = 4, kFewestInSearch = 1;
/// Launches of a kind that are tried when the seconds are used up.
inline constexpr int kMostTries = 3;
/// Times the seconds for learning, until one launch is found.
inline constexpr double kUntilFound = 3;
/// Threads that a candidate launches on the emulated device, which take some 5 s if they do little,
/// where they are more than so many times the original's.
inline constexpr std::uint64_t kMostThreads = 4'000'000, kTimesOriginal = 16;

// The smaller problem from which launches are derived if the captured one is too large

/// Threads: enough to fill a GPU's multiprocessors.
inline constexpr std::uint64_t kLightThreads = 1u << 18;
/// Bytes. Its buffers are cut in proportion to its threads, with so many times to spare; a layout
/// that does not follow the sizes may need more.
inline constexpr std::uint64_t kMostLightBytes = std::uint64_t(256) << 20,
                               kLeastLightBytes = 64 << 10;
inline constexpr double kSpareMemory[] = {4, 64};

// The candidate's own launches

/// Bytes of a launch. On a GPU also at most a fourth of its memory, because the buffers are drawn,
/// copied and compared about six times.
inline constexpr std::uint64_t kLargestOnGpu = std::uint64_t(4) << 30, kLargestModelled = 64u << 20;
/// A launch that no GPU makes is a refusal where the sizes are at most so many times those of the
/// workload, and otherwise a gap of the assurance: the program may never come near them.
inline constexpr double kNear = 32;

// Differences of results

/// An element has jumped if it moves by more than this many times what the others do.
inline constexpr double kJump = 16;
/// Draws of moved inputs, to see which elements jump.
inline constexpr std::uint32_t kDraws = 3;
/// Elements of an output, over all draws of moved inputs, that are needed to know its noise: a
/// single sum may hardly move in one draw.
inline constexpr std::uint64_t kNoiseElements = 32, kMostNoiseDraws = 8;
/// Results may be sums of all elements of a launch, and their errors grow with the square root of
/// the number of elements. The default tolerance is meant for a few thousand.
inline constexpr std::uint64_t kManyElements = 32768;
inline constexpr double kManyTerms = 4;
/// Times the movement of the original's own result.
inline constexpr double kNoise = 4;
/// Part of an output's magnitude, where only large errors count.
inline constexpr double kCoarse = 1. / 16;
/// Bytes of results of a launch with elements that jump: kopt has to remember which do.
inline constexpr std::uint64_t kMostMoved = std::uint64_t(256) << 20;
/// Times the largest error of rounding: the most that is allowed for it. What moves a result
/// further is a jump, and for that no other element may be wrong.
inline constexpr double kMostAllowed = 4;
/// Times the original's error: a candidate's may be twice as large.
inline constexpr double kOwnError = 3;

// Where the original is not defined, or varies

/// Runs of the original that is asked again before a candidate is refused. After the fewest it goes
/// on only if some bit differs; on the emulated device each run shows another order.
inline constexpr std::uint32_t kFewestAsked = 2, kMostAsked = 25, kMostAskedModelled = 16;

/// One derived launch in so many, at most.
inline constexpr std::size_t kOneUndefinedIn = 10;
/// Unoptimised code may take so many times as long.
inline constexpr double kSlowerWithout = 20;

} // namespace kopt
