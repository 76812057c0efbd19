// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/judge/context/CheckContext.h"
#include "driver/judge/derive/DerivedLaunch.h"
#include "driver/judge/derive/ProgramLaunches.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// A derived launch that the original runs on, with its results.
struct Replay {
  DerivedLaunch derived;
  Expected expected;        ///< the files are gone if isKept is false
  std::vector<Slack> slack; ///< for each buffer
  bool isKept = true;
  double seconds = 0; ///< of a run of the original once its inputs are at hand
};

/// Why a derived launch is not a test.
struct NotATest {
  std::string why;
  /// How the original ended on it, where that was before its end.
  std::optional<RunStatus> ended{};
};

/// What is known of the launch that others are derived from.
struct ReplayBase {
  const Launch &launch;
  double seconds = 0;                       ///< of a run of the original on it; 0: unknown
  bool isFinite = true;                     ///< the declared launches give only finite numbers
  const ProgramLaunches *program = nullptr; ///< null: unknown
};

/// Runs the original on a derived launch, on inputs drawn from `seed`. It is not a test if the
/// original does not finish or repeat it, or gives infinities or NaNs for finite inputs. A
/// candidate's result may deviate by four times what the original's own result moves by when its
/// inputs move in their last place. `slot` names the files of the results, which are valid until
/// the next run with that name.
Result<tl::expected<Replay, NotATest>> makeReplay(CheckContext &context, const ReplayBase &base,
                                                  DerivedLaunch derived, std::uint64_t seed,
                                                  const std::string &slot);

/// Bytes of all buffers that a launch may write.
std::uint64_t outputBytes(const Launch &launch);

} // namespace kopt
