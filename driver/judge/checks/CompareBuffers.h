// SPDX-License-Identifier: Apache-2.0
// Compares what a candidate wrote with what the baseline wrote, every element, outside the process
// that ran either.
#pragma once

#include "driver/model/Workload.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// The first element that is wrong, and how bad it is overall.
struct Mismatch {
  std::uint64_t index = 0;            ///< of the first wrong element
  std::string expected, actual;       ///< its value, to be read: of an integer every digit
  std::uint64_t wrong = 0, total = 0; ///< elements
  double worstError = 0, allowed = 0; ///< absolute, of the worst element
  std::string worst;                  ///< that error, to be read
  std::optional<std::uint32_t>
      member{}; ///< of a struct with members of several kinds: which one, by its offset in bytes
  std::string describe(const Buffer &buffer) const;
};

/// What a comparison allows on top of its tolerance, for inputs that nobody chose a tolerance for.
/// Never under `strict`.
struct Slack {
  double absolute =
      0; ///< what the original's own result moves by when its inputs move in their last place
  /// A user's tolerance is relative to the output's scale, as the default one is, and at least as
  /// wide as that: an absolute one is meant for the magnitudes that the user knows.
  bool orDefault = false;
  /// Inputs are infinite or NaN: which of the two comes out of arithmetic on them depends on its
  /// order, so either matches either. A finite number matches neither.
  bool nonFinite = false;
  /// The original's results for inputs moved in their last place, where some of them jump: an
  /// integer is another one, a number is elsewhere altogether. Elements that jump there may be 16
  /// times as far away; the others are compared as always. Null: none does.
  std::shared_ptr<const std::string> moved{};
};

/// Compares two files that hold a buffer's bytes. Nothing returned: equal within the tolerance.
///
/// default: integers bitwise; floating point |actual - expected| <= r * max(|expected|, scale),
/// where scale is the root mean square of the finite expected elements and r is 1e-5 for f32, 1e-12
/// for f64, 2e-3 for f16, 1.6e-2 for bf16 (a few hundred units in the last place: what reordering a
/// sum of some thousand terms costs). strict: bitwise, except that NaNs are equal to each other.
/// user: relative * |expected| + absolute. A NaN or an infinity matches only its like. On top of
/// all of these Buffer::spread is allowed, and nothing is asked of one that varies. Fails with
/// Internal where a file is short, Environment where unreadable.
Result<std::optional<Mismatch>> compareBuffers(const Buffer &buffer, const Tolerance &tolerance,
                                               const std::filesystem::path &expected,
                                               const std::filesystem::path &actual,
                                               Slack slack = {});

/// The same for contents that are in memory already, each of buffer.bytes bytes. By several
/// threads, at most `threads` (0: as many as are worth it); the result is the same for any number
/// of them.
std::optional<Mismatch> compareContents(const Buffer &buffer, const Tolerance &tolerance,
                                        std::string_view expected, std::string_view actual,
                                        unsigned threads = 0, Slack slack = {});

/// The element of a scalar type ("f16") that begins at `bytes`.
double elementValue(const std::string &scalar, const char *bytes);

/// The largest difference between floating-point elements of two files; nothing where they differ
/// in another way: as integers, or in which elements are finite. `allFinite` (may be null): whether
/// every element of both is.
Result<std::optional<double>> largestDifference(const Buffer &buffer,
                                                const std::filesystem::path &a,
                                                const std::filesystem::path &b, bool *allFinite);

/// How far moved inputs move a result, of floating-point elements: that of nine in ten, and what
/// the default tolerance allows. Both 0 for other types.
struct Movement {
  double usual = 0, tolerated = 0;
};
Result<Movement> movementOf(const Buffer &buffer, const std::filesystem::path &expected,
                            const std::filesystem::path &moved);

/// For each element the one of `moved` that is furthest from what is expected.
Result<std::string> furthestOf(const Buffer &buffer, const std::filesystem::path &expected,
                               const std::vector<std::filesystem::path> &moved);

/// Root mean square of the finite elements of a file; 0 for other types than floating-point ones.
Result<double> rootMeanSquare(const Buffer &buffer, const std::filesystem::path &contents);

/// True where the two files hold the same bytes.
Result<bool> sameBytes(const std::filesystem::path &a, const std::filesystem::path &b);

} // namespace kopt
