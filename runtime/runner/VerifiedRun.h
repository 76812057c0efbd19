// SPDX-License-Identifier: Apache-2.0
// One launch whose results are checked: on poisoned outputs, and once more on the inverted poison
// if the first left any.
#pragma once

#include "runtime/runner/BufferSet.h"
#include "runtime/runner/Protocol.h"

#include <string>
#include <vector>

namespace kopt::runtime {

/// The checks that a request's `skip` does not name.
Checks checksOf(const protocol::Message &request);

class VerifiedRun {
public:
  /// The request's fields are those of `run`. The context must live as long as this object.
  VerifiedRun(RunContext context, LaunchSpec launch, const protocol::Message &request);

  /// Launches, checks and, unless isDeferred(), collects(). `outputs` as BufferSet::collect() takes
  /// them.
  Status execute(const std::vector<std::string> &outputs);
  /// The elements of each buffer that the launch left as they were.
  const std::vector<std::uint64_t> &unwritten() const { return unwritten_; }
  /// As BufferSet::digests(), if the request wants them.
  const std::vector<Digest> &digests() const { return digests_; }
  /// True if the results have not been read, because the request lets them wait and their digests
  /// are known.
  bool isDeferred() const { return isDeferred_; }
  /// Reads the results.
  Status collect(const std::vector<std::string> &outputs) {
    return buffers_.collect(outputs, nullptr);
  }

  LaunchRequest deviceRequest() const;
  /// Allocates and fills the buffers for launches that nobody checks. `repeated`: restore() can be
  /// called later.
  Status prepare(bool repeated);
  Status restore() { return buffers_.restore(); }

private:
  Status launchOn(Poison poison);

  RunContext context_;
  LaunchSpec launch_;
  BufferSet buffers_;
  std::uint64_t poisonSeed_, instructionLimit_, scheduleSeed_, scratchSeed_;
  unsigned races_;          ///< 0: none, 1: within a block, 2: across blocks too
  std::uint64_t digestKey_; ///< 0: no digests are wanted
  bool mayDefer_, isDeferred_ = false;
  std::vector<std::uint64_t> unwritten_;
  std::vector<Digest> digests_;
};

} // namespace kopt::runtime
