// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/Requests.h"

#include "driver/support/Text.h"
#include "runtime/device/MemoryKernels.h"

#include <fmt/format.h>

namespace kopt {

using runtime::LaunchSpec;
using runtime::protocol::Message;

namespace {

/// The key of all digests of this process of kopt. No kernel can know it.
std::uint64_t digestKey() {
  static const std::uint64_t key = runtime::secretKey();
  return key;
}

/// The fields that `run` and `profile` have in common.
Message launchRequest(const char *verb, const LaunchSpec &launch, const RunOptions &options) {
  Message request(verb);
  addLaunch(request, "a.", launch);
  request.add("input_seed", options.inputSeed);
  request.add("poison_seed", options.poisonSeed);
  request.add("instruction_limit", options.instructionLimit);
  request.add("races", std::uint64_t(options.checkRaces ? 1 + options.checkAcrossBlocks : 0));
  return request;
}

} // namespace

std::string withNames(std::string text, const Launch &launch) {
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    if (const auto *buffer = std::get_if<BufferArg>(&launch.arguments[i]))
      text = replaceAll(std::move(text), fmt::format("the buffer of parameter {} (", i),
                        fmt::format("the buffer of '{}' (", launch.buffers[buffer->buffer].name));
  return text;
}

Message runRequest(const LaunchSpec &launch, const RunOptions &options,
                   const std::vector<std::string> &outputs) {
  Message request = launchRequest("run", launch, options);
  request.add("schedule", options.scheduleSeed);
  request.add("jitter", options.jitter);
  request.add("scratch", options.poisonSeed);
  request.addList("skip", options.skip);
  request.addList("out", outputs);
  request.add("digest", digestKey());
  request.add("defer", std::uint64_t(!options.known.empty()));
  return request;
}

Message readRequest(const std::vector<std::string> &outputs) {
  Message request("read");
  request.addList("out", outputs);
  return request;
}

Message timeRequest(const LaunchSpec &a, const LaunchSpec &b, const TimeOptions &options,
                    const std::vector<std::string> &outputsA,
                    const std::vector<std::string> &outputsB) {
  Message request("time");
  addLaunch(request, "a.", a);
  addLaunch(request, "b.", b);
  request.add("input_seed", options.inputSeed);
  request.add("min_samples", options.minSamples);
  request.add("max_samples", options.maxSamples);
  request.addDouble("budget", options.budget.count());
  request.addDouble("deadline", options.deadline.count());
  request.add("cold", std::uint64_t(options.coldCache));
  request.addList("out_a", outputsA);
  request.addList("out_b", outputsB);
  request.addList("skip", options.skip);
  return request;
}

Message profileRequest(const LaunchSpec &launch, const RunOptions &options) {
  return launchRequest("profile", launch, options);
}

ResultsDigest digestOf(const Message &reply) {
  ResultsDigest text;
  for (const std::vector<std::string> &digest : reply.lists("digest"))
    text += join(digest, ":") + " ";
  return text;
}

} // namespace kopt
