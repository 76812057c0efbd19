// SPDX-License-Identifier: Apache-2.0
// Where candidates are judged.
#pragma once

#include "driver/device/build/BuildCache.h"
#include "driver/judge/Judge.h"
#include "driver/judge/JudgeOptions.h"
#include "driver/judge/context/Subject.h"
#include "driver/sandbox/Sandbox.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

class Executor {
public:
  virtual ~Executor() = default;
  /// Judge on the other kinds of devices, which the user has asked for.
  virtual std::vector<Executor *> otherKinds() { return {}; }
  /// Time that it waited in a queue since it was opened. May be called from any thread.
  virtual Duration queued() const { return {}; }
  /// All devices are of this kind.
  virtual const DeviceInfo &device() const = 0;
  virtual std::vector<std::string> gpus() const = 0;           ///< as Trial::gpu has them
  virtual std::string toolchain() const = 0;                   ///< as Toolchain::name()
  virtual const std::vector<SandboxLayer> &layers() const = 0; ///< of the candidates' sandbox
  /// Builds so far, as far as this machine made them.
  virtual BuildCache::Counts builds() const { return {}; }
  /// As Runner::measureRates(), of the first device. Only while nothing else runs on it.
  virtual Result<MeasuredRates> measureRates() = 0;
  /// Makes a judge. `folder` is the name of its scratch folder; `secondsLeft` is as JudgeServices
  /// has it. The executor must outlive it.
  virtual Result<std::unique_ptr<Judge>> makeJudge(Subject subject, JudgeOptions options,
                                                   const std::string &folder,
                                                   std::function<double()> secondsLeft) = 0;
};

} // namespace kopt
