// SPDX-License-Identifier: Apache-2.0
// Compares every element that a candidate wrote with what the baseline wrote, outside the processes
// that ran them.
#pragma once

#include "driver/model/Workload.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// The first wrong element, and the size of the error over the whole buffer.
struct Mismatch {
  std::uint64_t index = 0;            ///< index of the first wrong element
  std::string expected, actual;       ///< its values as text; integers with every digit
  std::uint64_t wrong = 0, total = 0; ///< elements
  double worstError = 0, allowed = 0; ///< absolute, for the worst element
  std::string worst;                  ///< worstError as text
  std::optional<std::uint32_t>
      member{}; ///< offset in bytes of the wrong member, for a struct with members of several types
  std::string describe(const Buffer &buffer) const;
};

/// What a comparison allows on top of its tolerance, for inputs that nobody chose a tolerance for.
/// Not applied under `strict`.
struct Slack {
  double absolute =
      0; ///< how far the original's own result moves when its inputs move in their last place
  /// Makes a user's tolerance relative to the output's scale, as the default tolerance is, and at
  /// least as wide as the default. A user's absolute tolerance is meant only for the magnitudes
  /// that the user knows.
  bool orDefault = false;
  /// Inputs contain infinities or NaNs. Whether arithmetic on them gives an infinity or a NaN
  /// depends on its order, so either matches the other. A finite number matches neither.
  bool nonFinite = false;
  /// The original's results for inputs moved in their last place, if some elements jump: an integer
  /// changes, or a floating-point number moves far. An element that jumps may be 16 times as far
  /// from the expected value as its jump; the others are compared as always. Null: no element
  /// jumps.
  std::shared_ptr<const std::string> moved{};
};

/// Compares two files that hold a buffer's bytes. Returns nothing if they are equal within the
/// tolerance.
///
/// default: integers bitwise; floating point |actual - expected| <= r * max(|expected|, scale),
/// where scale is the root mean square of the finite expected elements and r is 1e-5 for f32, 1e-12
/// for f64, 2e-3 for f16, 1.6e-2 for bf16 (a few hundred units in the last place: what reordering a
/// sum of some thousand terms costs). strict: bitwise, except that NaNs are equal to each other.
/// user: relative * |expected| + absolute. A NaN matches only a NaN, an infinity only the same
/// infinity. Buffer::spread is allowed on top of all of these, and a buffer that varies is not
/// compared. Fails with Internal if a file has the wrong size, with Environment if it cannot be
/// read.
Result<std::optional<Mismatch>> compareBuffers(const Buffer &buffer, const Tolerance &tolerance,
                                               const std::filesystem::path &expected,
                                               const std::filesystem::path &actual,
                                               Slack slack = {});

/// The first of a launch's buffers with wrong contents, in words, as compareBuffers() finds it;
/// nothing if there is none. Leaves out read-only buffers, and those for which a path is missing or
/// empty. `slack` has one entry for each buffer, or fewer.
Result<std::optional<std::string>> firstMismatch(const std::vector<Buffer> &buffers,
                                                 const Tolerance &tolerance,
                                                 const std::vector<std::filesystem::path> &expected,
                                                 const std::vector<std::filesystem::path> &actual,
                                                 const std::vector<Slack> &slack = {});

/// As compareBuffers(), for contents in memory, each of buffer.bytes bytes. Uses at most `threads`
/// threads (0: as many as are worthwhile); the result does not depend on their number.
std::optional<Mismatch> compareContents(const Buffer &buffer, const Tolerance &tolerance,
                                        std::string_view expected, std::string_view actual,
                                        unsigned threads = 0, Slack slack = {});

/// The largest difference between floating-point elements of two files. Returns nothing if integers
/// differ, or if an infinity or a NaN has no match. `allFinite` (may be null) becomes false if an
/// element of either file is not finite; otherwise it is left alone.
Result<std::optional<double>> largestDifference(const Buffer &buffer,
                                                const std::filesystem::path &a,
                                                const std::filesystem::path &b, bool *allFinite);

/// How far moved inputs move a result: `usual` is the most that nine in ten floating-point elements
/// move by, `tolerated` is what the default tolerance allows. Both are 0 for other types.
struct Movement {
  double usual = 0, tolerated = 0;
};
Result<Movement> movementOf(const Buffer &buffer, const std::filesystem::path &expected,
                            const std::filesystem::path &moved);

/// The contents made of, for each element, the one of `moved` that is furthest from the expected
/// value.
Result<std::string> furthestOf(const Buffer &buffer, const std::filesystem::path &expected,
                               const std::vector<std::filesystem::path> &moved);

/// Root mean square of the finite elements of a file; 0 for types other than floating point.
Result<double> rootMeanSquare(const Buffer &buffer, const std::filesystem::path &contents);

/// True if the two files hold the same bytes.
Result<bool> sameBytes(const std::filesystem::path &a, const std::filesystem::path &b);

} // namespace kopt
