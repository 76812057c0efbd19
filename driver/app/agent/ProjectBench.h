// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/app/tools/AgentBench.h"
#include "driver/app/tune/KernelPlanner.h"

#include <map>
#include <memory>
#include <mutex>

namespace kopt {

/// Progress of flows goes to the call at hand, too.
class CallTerminal final : public Terminal {
public:
  explicit CallTerminal(Terminal &inner) : inner_(inner) {}
  void attend(const ToolCall *call);
  void status(std::string_view text) override;
  void line(std::string_view text) override { inner_.line(text); }
  void clear() override { inner_.clear(); }
  std::string paint(Style style, std::string_view text) const override {
    return inner_.paint(style, text);
  }

private:
  Terminal &inner_;
  std::mutex mutex_;
  const ToolCall *call_ = nullptr; ///< guarded by mutex_, as is the next
  double steps_ = 0;               ///< the protocol wants progress to grow
};

/// The kernels of the user's files. Opened when it is first needed: that takes seconds, and a
/// program's run. What is made for a kernel is kept for the next call.
class ProjectBench final : public AgentBench {
public:
  ProjectBench(const Services &services, KernelRequest request, JudgeOptions options);

  void attend(const ToolCall *call) override;
  Result<std::vector<AgentKernel>> kernels() override;
  Result<KernelView> view(const std::string &kernel) override;
  Result<TrialOutcome> judge(const std::string &kernel, const std::filesystem::path &candidate,
                             Stage upTo) override;
  Result<ProfileReport> profile(const std::string &kernel, const std::filesystem::path &candidate,
                                bool ncu) override;
  Result<MachineCode> code(const std::string &kernel,
                           const std::filesystem::path &candidate) override;
  Result<std::vector<Memo>> memos(const std::string &kernel) override;
  Result<std::vector<Passage>> passages(const std::string &words) override;

private:
  struct Open {
    const TuneSubject *subject = nullptr;
    std::unique_ptr<SubjectTrials> trials;
  };
  Status open();
  Status stopIfCancelled() const;
  Result<Open *> find(const std::string &kernel);
  /// With its baseline.
  Result<Open *> begun(const std::string &kernel);
  Result<Candidate> read(const Open &kernel, const std::filesystem::path &candidate);

  const std::atomic<bool> *stopped_; ///< by the user
  CallTerminal terminal_;
  Services services_;
  KernelRequest request_;
  JudgeOptions options_;
  TuneSettings settings_; ///< of the planner
  std::optional<KernelPlanner> planner_;
  std::optional<ObservedTrace> observed_;
  std::unique_ptr<Workbench> bench_;
  std::map<std::string, Open> open_; ///< by the subject's label; before the bench goes, they go
};

} // namespace kopt
