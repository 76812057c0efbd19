// SPDX-License-Identifier: Apache-2.0
// Programs of this machine.
#pragma once

#include "driver/app/programs/ProgramHost.h"
#include "driver/app/services/Services.h"

namespace kopt {

class LocalPrograms final : public ProgramHost {
public:
  explicit LocalPrograms(const Services &services);

  Result<std::uint64_t> snapshotBytes(const TraceSettings &limits,
                                      const std::filesystem::path &folder) override;
  Result<std::string> identityOf(const std::vector<std::string> &command) override;
  Result<ObservedTrace> observe(const std::vector<std::string> &command,
                                const std::vector<SnapshotOrder> &orders,
                                const TraceSettings &limits, const std::filesystem::path &folder,
                                ProgramRun &run) override;
  bool holds(const std::filesystem::path &trace) override;
  Result<BuildWay> findBuildWay(BuildWayRequest request) override;
  Result<std::unique_ptr<ProgramPair>>
  open(ProgramRequest request, const std::filesystem::path &scratch, TakeSeconds ran) override;

private:
  Services services_;
  CaptureSetup capture_;
};

} // namespace kopt
