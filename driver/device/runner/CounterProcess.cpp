// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/CounterProcess.h"

#include "driver/device/profile/CounterNames.h"
#include "driver/device/runner/ToLaunchSpec.h"

#include <cmath>
#include <fmt/format.h>

namespace kopt {

using runtime::protocol::Message;
namespace protocol = runtime::protocol;

namespace {

constexpr int kMaxFailures = 3; ///< failures in a row after which no process is started

/// The first request: which counters the process will be asked for.
Message hello() {
  Message hello("hello");
  hello.add("version", std::uint64_t(protocol::kVersion));
  hello.addList("metrics", hardwareCounters());
  return hello;
}

Result<Message> messageOf(Result<RunnerReply> reply) {
  if (!reply)
    return tl::unexpected(reply.error());
  if (reply->status != RunStatus::Ok)
    return makeError(ErrorCode::Internal, reply->detail);
  return std::move(reply->message);
}

} // namespace

Counters countersOf(const Message &reply) {
  Counters counters;
  for (const std::vector<std::string> &counter : reply.lists("counter"))
    if (counter.size() == 2)
      if (const auto value = protocol::parseNumber<double>(counter[1]);
          value && std::isfinite(*value))
        counters[counter[0]] = *value;
  return counters;
}

std::vector<LineCost> lineCostsOf(const Message &reply) {
  std::vector<LineCost> lines;
  for (const std::vector<std::string> &line : reply.lists("line")) {
    if (line.size() != 4)
      continue;
    const auto number = protocol::parseNumber<unsigned>(line[1]);
    const auto instructions = protocol::parseNumber<double>(line[2]),
               sectors = protocol::parseNumber<double>(line[3]);
    if (number && instructions && sectors && std::isfinite(*instructions) &&
        std::isfinite(*sectors))
      lines.push_back({line[0], *number, *instructions, *sectors});
  }
  return lines;
}

StageSeconds stagesOf(const Message &reply) {
  StageSeconds stages;
  for (const std::vector<std::string> &stage : reply.lists("stage"))
    if (stage.size() == 2)
      if (const auto seconds = protocol::parseNumber<double>(stage[1]);
          seconds && *seconds >= 0 && std::isfinite(*seconds))
        stages[stage[0]] = *seconds;
  return stages;
}

void CounterProcess::prepare() {
  if (!unavailable_ && !process_.isRunning())
    process_.startAhead(1, hello(), {});
}

Result<ProfileOutcome> CounterProcess::tryCount(const WatchedLaunch &watched, Duration deadline,
                                                const std::vector<int> &descriptors) {
  if (!process_.ready()) {
    KOPT_CHECK(process_.start(hello(), {}));
  }
  std::uint32_t module = 0;
  KOPT_CHECK(messageOf(process_.load(watched.module, watched.symbol, module)));
  Message profile("profile");
  addLaunch(profile, "a.", toLaunchSpec(module, watched.launch));
  profile.add("input_seed", watched.options.inputSeed);
  profile.add("poison_seed", watched.options.poisonSeed);
  profile.addList("metrics", hardwareCounters());
  KOPT_TRY(const Message counted,
           messageOf(process_.ask(std::move(profile), deadline, descriptors)));
  KOPT_CHECK(messageOf(process_.unload(module)));

  ProfileOutcome outcome;
  outcome.source = "cupti";
  outcome.stages = stagesOf(counted);
  if (counted.has("no_counters")) {
    outcome.detail = "CUPTI gave no counters: " + counted.text("no_counters");
    unavailable_ = true;
    process_.stop();
    return outcome;
  }
  outcome.counters = countersOf(counted);
  return outcome;
}

ProfileOutcome CounterProcess::count(const WatchedLaunch &watched, Duration deadline,
                                     const std::vector<int> &descriptors) {
  ProfileOutcome nothing;
  nothing.source = "cupti";
  if (unavailable_)
    return nothing;
  Result<ProfileOutcome> outcome = tryCount(watched, deadline, descriptors);
  if (outcome) {
    failures_ = 0;
    return std::move(*outcome);
  }
  process_.stop();
  unavailable_ = ++failures_ == kMaxFailures;
  nothing.detail =
      fmt::format("the process that counts through CUPTI failed{}: {}",
                  unavailable_ ? " again and is not restarted" : "", outcome.error().what);
  return nothing;
}

} // namespace kopt
