// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/GpuChecks.h"

#include "driver/support/Text.h"

namespace kopt {
namespace {

/// Longer than the pauses of a kopt that tunes, while it compares results.
constexpr std::chrono::milliseconds kWatch{300};

} // namespace

std::optional<MachineCheck> checkCounters(std::optional<CounterPermission> permission) {
  if (!permission)
    return std::nullopt;
  const std::string name = "hardware counters";
  switch (*permission) {
  case CounterPermission::Everyone:
    return passed(name, "the NVIDIA driver lets everyone read them");
  case CounterPermission::Administrator:
    return passed(name, "the NVIDIA driver lets administrators read them, as this process is one");
  case CounterPermission::Denied:
    break;
  }
  return failed(
      name, CheckOutcome::Optional,
      "the NVIDIA driver denies them to this user (RmProfilingAdminOnly is 1), so kernels "
      "are diagnosed without them",
      kAllowCounters);
}

MachineCheck checkOtherPrograms(OtherLoad &others, unsigned own) {
  const std::string name = "GPU: other programs";
  if (const std::string blind = others.blindness(own); !blind.empty())
    return failed(name, CheckOutcome::Optional, blind,
                  "make sure that nothing else computes on the GPU while kopt measures");
  others.begin();
  const std::vector<std::string> busy = others.end(own);
  if (busy.empty())
    return passed(name, "none computes on it");
  return failed(name, CheckOutcome::Optional, "it is in use: " + join(busy, ", "),
                "wait for them to end: a time beside other work proves nothing, so no candidate "
                "would count as faster");
}

MachineCheck checkOtherKopt(DeviceLock &lock) {
  const std::string name = "GPU: another kopt";
  const Result<std::string> holder = lock.otherHolder(kWatch);
  if (!holder) // nothing can be launched without the lock
    return failed(name, CheckOutcome::Blocking, holder.error());
  if (holder->empty())
    return passed(name, "none uses it");
  return failed(name, CheckOutcome::Optional,
                *holder + " uses it; the two would take turns, and both take longer",
                "wait for it to end, or go on");
}

} // namespace kopt
