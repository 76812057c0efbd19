// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/VerifiedRun.h"

#include "runtime/device/Check.h"

#include <algorithm>
#include <bit>

namespace kopt::runtime {

using protocol::Message;

namespace {

/// The buffers of a `run`, with the request's fields that apply to all buffers.
std::vector<BufferSpec> buffersOf(const LaunchSpec &launch, const Message &request) {
  std::vector<BufferSpec> buffers = launch.buffers;
  for (BufferSpec &buffer : buffers)
    buffer.jitter = request.number<unsigned>("jitter").value_or(0);
  return buffers;
}

} // namespace

Checks checksOf(const Message &request) {
  const std::vector<std::string> skipped = request.list("skip");
  const auto isSkipped = [&](const char *name) {
    return std::ranges::find(skipped, name) != skipped.end();
  };
  return {!isSkipped("guards"), !isSkipped("inputs")};
}

VerifiedRun::VerifiedRun(RunContext context, LaunchSpec launch, const Message &request)
    : context_(context), launch_(std::move(launch)),
      buffers_(context, buffersOf(launch_, request),
               request.number<std::uint64_t>("input_seed").value_or(1), {launch_.module},
               checksOf(request)),
      poisonSeed_(request.number<std::uint64_t>("poison_seed").value_or(1)),
      instructionLimit_(request.number<std::uint64_t>("instruction_limit").value_or(0)),
      scheduleSeed_(request.number<std::uint64_t>("schedule").value_or(0)),
      scratchSeed_(request.number<std::uint64_t>("scratch").value_or(0)),
      races_(request.number<unsigned>("races").value_or(1)),
      digestKey_(request.number<std::uint64_t>("digest").value_or(0)),
      mayDefer_(request.number<unsigned>("defer").value_or(0) != 0) {}

Status VerifiedRun::execute(const std::vector<std::string> &outputs) {
  unwritten_.assign(launch_.buffers.size(), 0);
  if (digestKey_ == 0)
    buffers_.leaveToHost();
  // Another poison also means other addresses, so that a launch can use neither old contents nor
  // old pointers.
  const std::uint64_t placement = poisonSeed_ * 0x9e3779b97f4a7c15u >> 20 | 1;
  KOPT_CHECK(buffers_.allocate(false, placement));
  KOPT_CHECK(launchOn({poisonSeed_, false}));
  if (digestKey_ != 0)
    KOPT_CHECK(buffers_.digests(digestKey_, digests_));
  isDeferred_ = mayDefer_ && !digests_.empty();
  std::vector<ElementSet> first, second;
  KOPT_CHECK(buffers_.collect(isDeferred_ ? std::vector<std::string>() : outputs, &first));
  // An element that differs from the poison was written. One that equals it was not written, or
  // the kernel wrote that very value. Under the inverted poison, only an unwritten element equals
  // the poison again.
  if (std::ranges::all_of(first, [](const ElementSet &set) { return set.count == 0; }))
    return {};
  KOPT_CHECK(launchOn({poisonSeed_, true}));
  KOPT_CHECK(buffers_.collect({}, &second));
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t word = 0; word < first[i].words.size(); ++word)
      unwritten_[i] += std::uint64_t(std::popcount(first[i].words[word] & second[i].words[word]));
  // What is still to be read is now what the second launch wrote.
  return isDeferred_ ? buffers_.digests(digestKey_, digests_) : Status();
}

LaunchRequest VerifiedRun::deviceRequest() const {
  LaunchRequest request = buffers_.request(launch_);
  request.instructionLimit = instructionLimit_;
  request.checkRaces = races_ != 0;
  request.checkAcrossBlocks = races_ == 2;
  request.scheduleSeed = scheduleSeed_;
  return request;
}

Status VerifiedRun::prepare(bool repeated) {
  buffers_.leaveToHost();
  KOPT_CHECK(buffers_.allocate(repeated));
  return buffers_.reset({poisonSeed_, false});
}

Status VerifiedRun::launchOn(Poison poison) {
  KOPT_CHECK(buffers_.reset(poison));
  {
    const Stages::Scope stage(context_.stages, "launch");
    LaunchRequest request = deviceRequest();
    if (scratchSeed_ != 0)
      request.scratchSeed = 2 * scratchSeed_ + poison.inverted;
    KOPT_CHECK(context_.device.launch(request));
  }
  return buffers_.check();
}

} // namespace kopt::runtime
