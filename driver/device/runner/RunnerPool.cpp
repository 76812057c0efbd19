// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/RunnerPool.h"

#include "driver/support/Text.h"
#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <numeric>

namespace kopt {

namespace {

constexpr int kMostGpus = 64; ///< hosts have up to 16 today

std::string nameOf(int ordinal, const DeviceInfo &device) {
  return fmt::format("{} {}", ordinal, device.modelled ? std::string("emulated") : device.uuid);
}

/// The ordinals of all GPUs, whose number the first one reports.
Result<std::vector<int>> allOrdinals(const DeviceInfo &first) {
  const auto known = first.facts.find("visible_devices");
  const auto count = known == first.facts.end()
                         ? std::nullopt
                         : runtime::protocol::parseNumber<int>(known->second);
  if (!count || *count < 1)
    return makeError(ErrorCode::Usage,
                     fmt::format("'all' needs real GPUs: there can be any number of {} devices",
                                 toString(first.kind)),
                     "give a number: --gpus 2");
  std::vector<int> ordinals(std::size_t(std::min(*count, kMostGpus)));
  std::iota(ordinals.begin(), ordinals.end(), 0);
  return ordinals;
}

Status checkKind(const std::vector<PooledRunner> &pool) {
  for (std::size_t i = 1; i < pool.size(); ++i) {
    const DeviceInfo &one = pool.front().runner->device(), &other = pool[i].runner->device();
    if (const std::string difference = differenceInKind(one, other); !difference.empty())
      return makeError(ErrorCode::Usage,
                       fmt::format("the GPUs of --gpus must be identical: {} and {} differ in {}",
                                   pool.front().name, pool[i].name, difference),
                       "choose identical ones, as in --gpus 0,2");
    for (std::size_t before = 0; !other.modelled && before < i; ++before)
      if (pool[before].runner->device().uuid == other.uuid)
        return makeError(
            ErrorCode::Usage,
            fmt::format("{} and {} are the same device, which cannot run two measurements at once",
                        pool[before].name, pool[i].name),
            "check CUDA_VISIBLE_DEVICES, and name each GPU once");
  }
  return {};
}

} // namespace

std::string differenceInKind(const DeviceInfo &a, const DeviceInfo &b) {
  std::vector<std::string> differences;
  if (a.name != b.name)
    differences.push_back(fmt::format("name ({} and {})", a.name, b.name));
  if (a.arch != b.arch)
    differences.push_back(fmt::format("architecture ({} and {})", a.arch, b.arch));
  if (a.memoryBytes != b.memoryBytes)
    differences.push_back(fmt::format("memory ({} and {} bytes)", a.memoryBytes, b.memoryBytes));
  return join(differences, ", ");
}

Result<std::vector<PooledRunner>>
startRunners(ProcessRunner &processes, const std::filesystem::path &program,
             const DeviceConfig &config, const std::vector<int> &ordinals,
             const std::filesystem::path &scratch, const std::filesystem::path &gpuSpecs,
             const RunnerHooks &hooks, const RunnerContainment &containment) {
  DeviceConfig own = config;
  own.runners = unsigned(ordinals.size());
  const auto start = [&](int ordinal) {
    DeviceConfig one = own;
    one.ordinal = ordinal;
    return startRunner(processes, program, one, scratch / std::to_string(ordinal), gpuSpecs, hooks,
                       containment);
  };
  std::vector<PooledRunner> pool(1);
  if (ordinals.size() == 1) {
    KOPT_TRY(pool[0].runner, start(ordinals[0]));
    pool[0].name = nameOf(ordinals[0], pool[0].runner->device());
    return pool;
  }
  const auto startOn = [&](PooledRunner &member, int ordinal) {
    member.thread = std::make_unique<JobQueue>(1);
    return member.thread->call([&, ordinal]() -> Status {
      KOPT_TRY(member.runner, start(ordinal));
      member.name = nameOf(ordinal, member.runner->device());
      return {};
    });
  };
  // For "all", the first runner reports how many there are, and whether they are GPUs.
  KOPT_CHECK(startOn(pool.front(), ordinals.empty() ? 0 : ordinals.front()).get());
  own.kind = pool.front().runner->device().kind;
  std::vector<int> each = ordinals;
  if (each.empty()) {
    KOPT_TRY(each, allOrdinals(pool.front().runner->device()));
  }
  own.runners = unsigned(each.size());
  pool.resize(each.size());
  std::vector<std::future<Status>> started;
  for (std::size_t i = 1; i < each.size(); ++i)
    started.push_back(startOn(pool[i], each[i]));
  Status status;
  for (std::future<Status> &other : started)
    if (const Status answer = other.get(); !answer && status)
      status = answer;
  KOPT_CHECK(status);
  KOPT_CHECK(checkKind(pool));
  return pool;
}

} // namespace kopt
