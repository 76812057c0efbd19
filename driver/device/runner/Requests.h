// SPDX-License-Identifier: Apache-2.0
// The requests that launch kernels, as the runner reads them (runtime/runner/README.md).
#pragma once

#include "driver/model/Device.h"
#include "driver/model/Workload.h"
#include "runtime/runner/LaunchSpec.h"

#include <string>
#include <vector>

namespace kopt {

/// `outputs`: a file for each buffer; empty for one that is not wanted.
runtime::protocol::Message runRequest(const runtime::LaunchSpec &launch, const RunOptions &options,
                                      const std::vector<std::string> &outputs);
/// For the results of a run whose reply says that they are still to be read.
runtime::protocol::Message readRequest(const std::vector<std::string> &outputs);
runtime::protocol::Message timeRequest(const runtime::LaunchSpec &a, const runtime::LaunchSpec &b,
                                       const TimeOptions &options,
                                       const std::vector<std::string> &outputsA,
                                       const std::vector<std::string> &outputsB);
runtime::protocol::Message profileRequest(const runtime::LaunchSpec &launch,
                                          const RunOptions &options);

/// The digest in the reply to a run.
ResultsDigest digestOf(const runtime::protocol::Message &reply);

/// A runner's message, which knows parameters by their numbers, with their names.
std::string withNames(std::string text, const Launch &launch);

} // namespace kopt
