// SPDX-License-Identifier: Apache-2.0
// The subcommands of `kopt kb` about what trials taught.
#pragma once

#include "driver/cli/Command.h"
#include "driver/knowledge/ExperienceBase.h"

namespace kopt {

class ExperienceCommands {
public:
  /// The result must stay where it is: `kb` writes to its members.
  void addTo(CLI::App &kb);
  /// True if one of these subcommands was given.
  bool isChosen() const { return chosen_ != nullptr; }
  Result<Answer> run(const Invocation &call) const;

private:
  using Run = Result<Answer> (ExperienceCommands::*)(ExperienceBase &, const Invocation &) const;
  Result<Answer> stats(ExperienceBase &base, const Invocation &call) const;
  Result<Answer> memo(ExperienceBase &base, const Invocation &call) const;
  Result<Answer> patterns(ExperienceBase &base, const Invocation &call) const;
  Result<Answer> trials(ExperienceBase &base, const Invocation &call) const;
  Result<Answer> trial(ExperienceBase &base, const Invocation &call) const;
  Result<Answer> revoke(ExperienceBase &base, const Invocation &call) const;
  Result<Answer> exportTo(ExperienceBase &base, const Invocation &call) const;
  Result<Answer> import(ExperienceBase &base, const Invocation &call) const;

  Run chosen_ = nullptr;
  std::vector<std::string> words_;
  std::string id_, run_, source_, file_, kernel_;
  int number_ = 20;
  bool isEmulated_ = false, withSource_ = false;
};

} // namespace kopt
