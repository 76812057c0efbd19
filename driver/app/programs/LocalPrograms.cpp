// SPDX-License-Identifier: Apache-2.0
#include "driver/app/programs/LocalPrograms.h"

#include "driver/app/programs/LeftThere.h"
#include "driver/workload/observed/TraceCache.h"

namespace kopt {

LocalPrograms::LocalPrograms(const Services &services)
    : services_(services), capture_(findCapture(services.installation.runner.parent_path(),
                                                services.installation.cuda)) {}

Result<std::uint64_t> LocalPrograms::snapshotBytes(const TraceSettings &limits,
                                                   const std::filesystem::path &folder) {
  KOPT_CHECK(checkCapture(capture_));
  return limits.snapshotBytesIn(folder);
}

Result<std::string> LocalPrograms::identityOf(const std::vector<std::string> &command) {
  return commandIdentity(command);
}

Result<ObservedTrace> LocalPrograms::observe(const std::vector<std::string> &command,
                                             const std::vector<SnapshotOrder> &orders,
                                             const TraceSettings &limits,
                                             const std::filesystem::path &folder, ProgramRun &run) {
  return observeProgram(services_.processes, capture_, command, orders, limits, folder, run);
}

bool LocalPrograms::holds(const std::filesystem::path &trace) {
  return filesLeftThere(trace).empty();
}

Result<BuildWay> LocalPrograms::findBuildWay(BuildWayRequest request) {
  if (services_.installation.cuda.nvcc)
    request.nvcc = *services_.installation.cuda.nvcc;
  std::error_code ignored;
  request.directory = std::filesystem::current_path(ignored);
  return kopt::findBuildWay(request);
}

Result<std::unique_ptr<ProgramPair>>
LocalPrograms::open(ProgramRequest request, const std::filesystem::path &scratch, TakeSeconds ran) {
  return openPrograms(services_.processes, capture_, std::move(request), scratch, std::move(ran));
}

} // namespace kopt
