// SPDX-License-Identifier: Apache-2.0
// What an agent works on: the kernels of a project, each with its workload, its judge and its
// baseline.
#pragma once

#include "driver/app/ProfileFlow.h"
#include "driver/app/trial/SubjectTrials.h"
#include "driver/knowledge/Memo.h"
#include "driver/knowledge/Passages.h"
#include "driver/llm/Tool.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct AgentKernel {
  std::string name, file;
  unsigned line = 0;
  std::optional<double> share; ///< of the program's kernel time, if there is a program
  std::string leftOut;         ///< why it cannot be worked on; empty: it can
};
KOPT_FIELDS(AgentKernel, name, file, line, share, leftOut)

/// A kernel with its baseline; what it refers to lives as long as the bench.
struct KernelView {
  const TuneSubject &subject;
  const Workload &workload;
  const Trial &baseline;
  const DeviceInfo &device;
  Diagnosis diagnosis{}; ///< of the baseline
  std::optional<double> share{};
};

/// Used from one thread. Where a kernel is asked for, it is one of kernels() by its name. Fails
/// with Usage, naming them, if there is none of that name.
class AgentBench {
public:
  virtual ~AgentBench() = default;
  /// Whom to tell of progress, and who may cancel, from now on; null: nobody.
  virtual void attend(const ToolCall *call) = 0;

  /// By their share of the time, the greatest first.
  virtual Result<std::vector<AgentKernel>> kernels() = 0;
  virtual Result<KernelView> view(const std::string &kernel) = 0;
  /// As SubjectTrials::judge(). `candidate`: a file with the changed text.
  virtual Result<TrialOutcome> judge(const std::string &kernel,
                                     const std::filesystem::path &candidate, Stage upTo) = 0;
  /// As profileKernel(), and machineCode(); an empty path is the original.
  virtual Result<ProfileReport> profile(const std::string &kernel,
                                        const std::filesystem::path &candidate, bool ncu) = 0;
  virtual Result<MachineCode> code(const std::string &kernel,
                                   const std::filesystem::path &candidate) = 0;
  /// What earlier runs of kernels of this name came to.
  virtual Result<std::vector<Memo>> memos(const std::string &kernel) = 0;
  virtual Result<std::vector<Passage>> passages(const std::string &words) = 0;
};

} // namespace kopt
