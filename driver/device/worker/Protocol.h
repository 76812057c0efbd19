// SPDX-License-Identifier: Apache-2.0
// The words that kopt and `kopt worker` share. README.md describes the messages.
#pragma once

#include "driver/support/Clock.h"

#include <cstddef>

namespace kopt::worker_protocol {

// Members of a message.
inline constexpr const char *kHello = "kopt_worker", *kId = "id", *kMethod = "method",
                            *kParams = "params", *kResult = "result", *kError = "error",
                            *kLost = "lost", *kTell = "tell", *kAlive = "alive";

// Methods.
inline constexpr const char *kMissing = "missing", *kPut = "put", *kOpen = "open",
                            *kClose = "close", *kBaseline = "baseline", *kJudge = "judge",
                            *kCompare = "compare", *kCounters = "counters", *kRemember = "remember",
                            *kRates = "rates", *kVersions = "versions";
// Methods about the user's program, which have kDirectory, in which it runs, and kAbout.
inline constexpr const char *kGet = "get", *kSnapshotBytes = "snapshot_bytes",
                            *kIdentity = "identity", *kObserve = "observe",
                            *kBuildWay = "build_way", *kPrograms = "programs", *kBuild = "build",
                            *kRun = "run", *kTest = "test";
inline constexpr const char *kDirectory = "directory", *kAbout = "about";

/// What a message may be long; a trial with its samples is much shorter.
inline constexpr std::size_t kLongestMessage = 256u << 20;
/// Bytes of a file that go with one message.
inline constexpr std::size_t kPiece = 1u << 20;

/// A worker shows that it is alive so often, whatever it does.
inline constexpr Duration kAliveEvery{3};
/// One that shows nothing for so long is lost.
inline constexpr Duration kSilence{20};

} // namespace kopt::worker_protocol
