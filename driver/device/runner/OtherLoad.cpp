// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/OtherLoad.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

namespace kopt {

namespace {

using runtime::cuda::GpuLoad;
using runtime::cuda::GpuProcess;

/// A sample that is older than the newest one of any process by more than this belongs to work that
/// is over. This is longer than any driver's sample period.
constexpr unsigned long long kRecentMicroseconds = 1'500'000;
constexpr int kMostAncestors = 64; ///< a longer chain means a damaged /proc

class NvmlActivity final : public GpuActivity {
public:
  explicit NvmlActivity(const std::string &pciBusId) : nvml_(pciBusId) {}
  std::optional<std::vector<GpuProcess>> processes() const override {
    return nvml_.computeProcesses();
  }
  std::optional<std::vector<GpuLoad>> loads() const override { return nvml_.loads(); }

private:
  runtime::cuda::Nvml nvml_;
};

/// The processes that computed recently.
std::set<unsigned> busyOf(const std::vector<GpuLoad> &loads) {
  std::map<unsigned, GpuLoad> latest;
  unsigned long long newest = 0;
  for (const GpuLoad &load : loads) {
    newest = std::max(newest, load.microseconds);
    if (GpuLoad &own = latest[load.pid]; load.microseconds >= own.microseconds)
      own = load;
  }
  std::set<unsigned> busy;
  for (const auto &[pid, load] : latest)
    if (load.percent > 0 && load.microseconds + kRecentMicroseconds >= newest)
      busy.insert(pid);
  return busy;
}

} // namespace

std::unique_ptr<GpuActivity> makeGpuActivity(const std::string &pciBusId) {
  return std::make_unique<NvmlActivity>(pciBusId);
}

/// True for this process and its descendants.
bool OtherLoad::isOurs(unsigned pid) const {
  for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
    if (pid == unsigned(::getpid()))
      return true;
    const auto stat = readFile(proc_ / std::to_string(pid) / "stat");
    // "PID (NAME) STATE PARENT …", where the name may contain any characters.
    const std::size_t nameEnd = stat ? stat->rfind(')') : std::string::npos;
    if (nameEnd == std::string::npos || nameEnd + 4 >= stat->size())
      return false;
    pid = unsigned(std::strtoul(stat->c_str() + nameEnd + 4, nullptr, 10));
  }
  return false;
}

/// True if the ids are those that this process sees. In a container they may be the host's; then
/// none is ours.
bool OtherLoad::knowsOurs(const Processes &processes) const {
  return std::any_of(processes.begin(), processes.end(),
                     [&](const GpuProcess &process) { return isOurs(process.pid); });
}

std::string OtherLoad::nameOf(unsigned pid) const {
  const auto name = readFile(proc_ / std::to_string(pid) / "comm");
  return name ? std::string(trim(*name)) : std::string();
}

std::string OtherLoad::blindness(unsigned own) const {
  const auto processes = activity_->processes();
  if (!processes)
    return "NVML does not report which processes use the GPU";
  if (!knowsOurs(*processes) && processes->size() < own)
    return "NVML does not show kopt's own process on the GPU, so it may not show others";
  return {};
}

void OtherLoad::begin() {
  before_ = activity_->processes().value_or(Processes());
  for (const GpuProcess &process : before_)
    if (isOurs(process.pid))
      ours_.insert(process.pid);
}

std::vector<std::string> OtherLoad::end(unsigned own) {
  const auto after = activity_->processes();
  if (!after)
    return {};
  const bool isKnown = knowsOurs(*after);
  if (!isKnown && after->size() < own)
    return {};
  const auto loads = activity_->loads();
  const std::set<unsigned> busy = loads ? busyOf(*loads) : std::set<unsigned>();
  const std::string state = loads ? "" : "; the driver does not report how much it computes";
  if (!isKnown) {
    const auto busyThere =
        std::count_if(after->begin(), after->end(),
                      [&](const GpuProcess &process) { return busy.contains(process.pid); });
    // Only one of kopt's own processes computes at a time.
    if (after->size() <= own || (loads && busyThere <= 1))
      return {};
    return {fmt::format("{} processes hold the GPU, of which {} are kopt's{}", after->size(), own,
                        state)};
  }
  std::map<unsigned, GpuProcess> all;
  std::set<unsigned> instances; // GPU instances of our processes
  for (const GpuProcess &process : *after) {
    all.emplace(process.pid, process);
    if (isOurs(process.pid))
      instances.insert(process.instance);
  }
  for (const GpuProcess &process : before_)
    all.emplace(process.pid, process);
  std::vector<std::string> others;
  for (const auto &[pid, process] : all) {
    // Other instances of a partitioned GPU have their own multiprocessors and memory.
    if (isOurs(pid) || ours_.contains(pid) || !instances.contains(process.instance) ||
        (loads && !busy.contains(pid)))
      continue;
    const std::string name = nameOf(pid);
    if (name != "kopt-runner") // a runner of another kopt
      others.push_back(
          fmt::format("process {}{}{}", pid, name.empty() ? "" : " (" + name + ")", state));
  }
  return others;
}

} // namespace kopt
