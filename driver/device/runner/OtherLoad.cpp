// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/OtherLoad.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unistd.h>

namespace kopt {

namespace {

using runtime::cuda::GpuLoad;
using runtime::cuda::GpuProcess;

/// Samples this much older than the newest one, of whomever, are of what is over: longer than any
/// driver's sample period.
constexpr unsigned long long kRecentMicroseconds = 1'500'000;
constexpr int kMostAncestors = 64; ///< a chain that is longer is a damaged /proc

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

/// Who computed lately.
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

/// This process, or what it has started, however many processes are in between.
bool OtherLoad::isOurs(unsigned pid) const {
  for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
    if (pid == unsigned(::getpid()))
      return true;
    const auto stat = readFile(proc_ / std::to_string(pid) / "stat");
    // "PID (NAME) STATE PARENT …", and a name may hold anything.
    const std::size_t nameEnd = stat ? stat->rfind(')') : std::string::npos;
    if (nameEnd == std::string::npos || nameEnd + 4 >= stat->size())
      return false;
    pid = unsigned(std::strtoul(stat->c_str() + nameEnd + 4, nullptr, 10));
  }
  return false;
}

/// Whether the ids are those that this process sees. In a container they may be the host's: then
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
    // Of kopt's own one computes at a time.
    if (after->size() <= own || (loads && busyThere <= 1))
      return {};
    return {fmt::format("{} processes hold the GPU, of which {} are kopt's{}", after->size(), own,
                        state)};
  }
  std::map<unsigned, GpuProcess> all;
  std::set<unsigned> instances; // of ours
  for (const GpuProcess &process : *after) {
    all.emplace(process.pid, process);
    if (isOurs(process.pid))
      instances.insert(process.instance);
  }
  for (const GpuProcess &process : before_)
    all.emplace(process.pid, process);
  std::vector<std::string> others;
  for (const auto &[pid, process] : all) {
    // The other instances of a GPU that is split have multiprocessors and memory of their own.
    if (isOurs(pid) || ours_.contains(pid) || !instances.contains(process.instance) ||
        (loads && !busy.contains(pid)))
      continue;
    const std::string name = nameOf(pid);
    if (name != "kopt-runner") // another kopt's
      others.push_back(
          fmt::format("process {}{}{}", pid, name.empty() ? "" : " (" + name + ")", state));
  }
  return others;
}

} // namespace kopt
