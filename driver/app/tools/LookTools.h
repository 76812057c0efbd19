// SPDX-License-Identifier: Apache-2.0
// The tools of a model within a run of kopt's own: looks at candidates by the run's judge. Nothing
// is claimed by a look, and none is recorded.
#pragma once

#include "driver/app/ProfileFlow.h"
#include "driver/judge/Judge.h"
#include "driver/search/proposers/CandidateTools.h"

namespace kopt {

struct LookSubject {
  const KernelRequest &request;
  const TuneSubject &subject;
  const Workload &workload;
  const Trial &baseline;
};

class LookTools final : public CandidateTools {
public:
  /// All must outlive it, and what `subject` refers to, too. `project`: whose files may be read.
  LookTools(Services &services, Workbench &bench, Judge &judge, LookSubject subject,
            std::filesystem::path project);

  const std::vector<Tool> &tools() const override { return tools_; }
  ToolResult call(const Tool &tool, const Candidate &candidate,
                  const nlohmann::json &arguments) override;

private:
  Result<ToolResult> done(const Tool &tool, const Candidate &candidate,
                          const nlohmann::json &arguments);
  Result<ToolResult> judged(const Candidate &candidate, Stage upTo);

  Services &services_;
  Workbench &bench_;
  Judge &judge_;
  LookSubject subject_;
  std::filesystem::path project_;
  std::vector<Tool> tools_;
};

} // namespace kopt
