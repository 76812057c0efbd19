// SPDX-License-Identifier: Apache-2.0
#include "driver/app/kinds/OtherKinds.h"

#include "driver/support/Log.h"

#include <fmt/format.h>

namespace kopt {

namespace {

Result<Trial> confirmWith(Judge &judge, const Candidate &winner) {
  KOPT_TRY(const Baseline baseline, judge.baseline());
  static_cast<void>(baseline);
  return judge.judge(winner, Purpose::Confirmation);
}

} // namespace

std::string KindVerdict::inWords() const {
  return speedup && verdict == Verdict::Faster
             ? fmt::format("on {}: {}", device, kopt::inWords(*speedup))
             : fmt::format("not on {}: {}", device, reason.empty() ? toString(verdict) : reason);
}

Result<std::vector<KindVerdict>> judgeOnOtherKinds(Workbench &bench, const TuneSubject &subject,
                                                   const Workload &workload,
                                                   const JudgeOptions &options, const Trial &winner,
                                                   Journal &journal, Terminal &terminal) {
  std::vector<KindVerdict> verdicts;
  for (Executor *kind : bench.otherKinds()) {
    KindVerdict &own = verdicts.emplace_back();
    own.device = kind->device().name + " " + kind->device().arch;
    terminal.status(fmt::format("{}: confirming on {}", subject.label, own.device));
    const LoggedStage logged("confirm on another kind of GPU");
    const auto judge = bench.makeJudge(*kind, subject, workload, options, "other-kind");
    const Result<Trial> trial =
        judge ? confirmWith(**judge, winner.candidate) : tl::unexpected(judge.error());
    if (trial) {
      own.verdict = trial->verdict;
      own.reason = trial->reason;
      own.speedup = trial->speedup;
    } else {
      own.reason = trial.error().what;
    }
    terminal.line(fmt::format("{}: {}", subject.label, own.inWords()));
    Event event;
    event.what = Note{"other GPU", own.inWords()};
    KOPT_CHECK(journal.append(event));
  }
  return verdicts;
}

} // namespace kopt
