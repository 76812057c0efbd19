// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/LocalExecutor.h"

#include "driver/judge/LocalJudge.h"
#include "driver/support/FileSystem.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

Result<std::unique_ptr<LocalExecutor>>
LocalExecutor::open(const Services &services, const DeviceConfig &config,
                    const std::vector<int> &gpus, const fs::path &scratch,
                    const Contained &contained, std::int64_t buildCache) {
  std::unique_ptr<LocalExecutor> opened(new LocalExecutor(services, scratch, contained));
  KOPT_TRY(opened->devices_, openDevices(services, config, gpus, scratch, contained, buildCache));
  if (!opened->device().modelled)
    opened->code_.emplace(
        Disassembler(services.processes, services.installation.cuda.nvdisasm, contained.compilers));
  return opened;
}

std::vector<std::string> LocalExecutor::gpus() const {
  std::vector<std::string> names;
  for (const PooledRunner &member : devices_.pool)
    names.push_back(member.name);
  return names;
}

Result<MeasuredRates> LocalExecutor::measureRates() {
  const PooledRunner &first = devices_.pool.front();
  Result<MeasuredRates> measured = MeasuredRates();
  const auto measure = [&] { measured = first.runner->measureRates(); };
  if (first.thread)
    first.thread->runAndWait(measure);
  else
    measure();
  return measured;
}

Result<std::unique_ptr<Judge>> LocalExecutor::makeJudge(Subject subject, JudgeOptions options,
                                                        const std::string &folder,
                                                        std::function<double()> secondsLeft,
                                                        bool findsDuplicates) {
  options.scratch = scratch_ / "evaluate" / folder;
  if (options.arch.empty())
    options.arch = device().arch;
  if (options.cache.empty())
    options.cache = cacheFolder() / "mutation";
  KOPT_CHECK(createDirectories(options.scratch));
  JudgeServices services{*contained_.frontend,
                         *devices_.toolchain,
                         {},
                         [this](const std::string &text) { services_.terminal.line(text); }};
  services.secondsLeft = std::move(secondsLeft);
  services.findsDuplicates = findsDuplicates;
  if (!device().modelled)
    services.emulated = {devices_.emulator.get(), [this] {
                           return openEmulated(services_, scratch_,
                                               fmt::format("emulated-{}", emulated_++),
                                               contained_.sandbox);
                         }};
  for (const PooledRunner &member : devices_.pool) {
    // If code is to be counted, only one device profiles at a time: the judge's first.
    const auto profile =
        [this, runner = member.runner.get(), symbol = subject.specialization.symbol](
            ModuleId module, const fs::path &path, const Launch &launch) -> Result<ProfileOutcome> {
      auto listing = code_ ? code_->begin(path) : CodeCounter::Listing();
      KOPT_TRY(ProfileOutcome outcome, runner->profile(module, launch, RunOptions{}));
      if (code_ && outcome.status == RunStatus::Ok)
        code_->addTo(outcome, std::move(listing), symbol);
      return outcome;
    };
    LinesFunction lines;
    if (code_)
      lines = [this, symbol = subject.specialization.symbol](const fs::path &path) {
        return code_->lines(path, symbol);
      };
    services.devices.push_back({*member.runner, profile, member.name, member.thread.get(), lines});
  }
  return std::make_unique<LocalJudge>(std::move(services), std::move(subject), std::move(options));
}

} // namespace kopt
