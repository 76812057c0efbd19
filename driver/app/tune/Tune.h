// SPDX-License-Identifier: Apache-2.0
// `kopt tune`, from source files to a proven patch. tune() and tuneInRun() list the stages.
#pragma once

#include "driver/app/kinds/OtherKinds.h"
#include "driver/app/resume/EarlierRun.h"
#include "driver/app/tools/LookTools.h"
#include "driver/app/tune/GivenCandidates.h"
#include "driver/app/tune/KernelPlanner.h"
#include "driver/app/tune/Recall.h"
#include "driver/app/tune/SessionEnd.h"
#include "driver/app/tune/TuneClock.h"
#include "driver/app/tune/TurnWeights.h"
#include "driver/diagnose/RuleBook.h"
#include "driver/judge/Judge.h"
#include "driver/knowledge/ExperienceBase.h"
#include "driver/llm/ChatModel.h"
#include "driver/report/facts/RunHistory.h"
#include "driver/search/SearchLoop.h"
#include "driver/search/policy/Portfolio.h"
#include "driver/store/Store.h"
#include "driver/workload/observed/SubjectWorkload.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The outcome for one kernel.
struct TuneOutcome {
  RunRecord run;
  std::string label;
  std::optional<Trial> winner;       ///< with the confirmed speedup
  std::optional<double> meanSpeedup; ///< the winner's, whatever the objective is
  GainParts gain;                    ///< of the winner
  std::filesystem::path folder;      ///< folder of the run, for the user
  std::filesystem::path patch;       ///< empty if no candidate was accepted
  std::size_t judged = 0;            ///< candidates with a verdict
  /// Of the files that the user handed in: the trials of their candidates, with the file; and why
  /// others have none.
  std::vector<std::pair<std::filesystem::path, Trial>> given;
  std::vector<std::string> notes;
  std::optional<double> share;         ///< of the program's kernel time, if known
  std::vector<KindVerdict> otherKinds; ///< of the winner
  StageSeconds stages;                 ///< workload, baseline, search, confirm, write
  std::string skipped;                 ///< why kopt left out a kernel that it had chosen itself
  std::optional<Error> error;          ///< why this kernel could not be tuned
  std::vector<SandboxLayer> sandbox;   ///< the sandbox around the candidates
};

/// The speedup of all kernels of the program together that the winner gives, by the kernel's share
/// of their time. Nothing if there is no winner or the share is not known.
std::optional<double> programSpeedup(const TuneOutcome &outcome);

/// Facts about a session as a whole.
struct TuneOverview {
  /// Kernels with much of the time that are not in the given files.
  std::vector<KernelShare> elsewhere;
  StageSeconds stages;                     ///< extract, observe, device
  double limit = 0;                        ///< seconds of the time budget; 0: no limit
  double used = 0;                         ///< seconds used of it, or since the program's own runs
  BuildCache::Counts builds;               ///< made, and taken from earlier runs
  std::map<Verdict, std::size_t> verdicts; ///< how many candidates had each
};

class TuneSession {
public:
  TuneSession(Services services, TuneSettings settings);
  ~TuneSession();

  /// Tunes every selected kernel, one after another; without a selection, the kernels that have
  /// most of the program's kernel time. For a kernel that cannot be tuned, the outcome holds the
  /// error; if kopt chose the kernel itself, the outcome is marked as skipped. Fails only if
  /// nothing could be done at all.
  Result<std::vector<TuneOutcome>> run();
  /// What became of the winners; nothing if there are none.
  const std::optional<SessionRecord> &session() const { return session_; }

  /// Valid after run().
  const TuneOverview &overview() const { return overview_; }

private:
  struct OpenRun {
    RunRecord record;
    std::filesystem::path folder; ///< for the user
    std::vector<Ask> first{};     ///< of a recorded run, asked again
    std::optional<EarlierRun> earlier{};
  };
  using Proposers = std::vector<std::unique_ptr<Proposer>>;

  TuneOutcome skippedOutcome(const std::string &symbol, const std::string &label,
                             const std::string &reason) const;
  /// Sets the time limit of the next kernel. False if too little time is left.
  bool beginTurn(std::size_t index);
  /// Fails with Usage if only what was handed in is to be tried, and that is nothing.
  Status readGivenCandidates();
  const GivenCandidates &givenOf(const TuneSubject &subject) const {
    return given_.at(std::size_t(&subject - bench_->subjects().data()));
  }
  /// Divides the time anew by what the baseline says is left of the kernel.
  void shareTimeAgain(const TuneSubject &subject, const Baseline &baseline);
  /// Takes what is left of each kernel from the last run of the same text on the same device.
  Status learnHeadrooms();

  Result<TuneOutcome> tune(const TuneSubject &subject);
  Result<TuneOutcome> tuneInRun(const TuneSubject &subject, const SubjectWorkload &workload,
                                OpenRun &run);

  Result<SubjectWorkload> prepareWorkload(const TuneSubject &subject);
  Result<OpenRun> openRun(const TuneSubject &subject, const SubjectWorkload &workload);
  /// The judge over this machine's devices.
  Result<std::unique_ptr<Judge>> makeJudge(const TuneSubject &subject,
                                           const SubjectWorkload &workload, const OpenRun &run);
  Result<Baseline> measureBaseline(const TuneSubject &subject, Judge &judge, Journal &journal);
  /// Says how the call of a library that computes the same compares with the trial, or why none is
  /// known.
  Status tellOfLibrary(const Trial &trial, const std::string &why, Journal &journal);
  Result<Proposers> makeProposers(const TuneSubject &subject, const OpenRun &run,
                                  Recalled &recalled, CandidateTools &tools);
  Result<SearchHistory> search(const TuneSubject &subject, const Baseline &baseline,
                               const Proposers &proposers, const Recalled &recalled, Judge &judge,
                               Journal &journal, SearchSettings settings);
  Result<std::optional<Trial>> confirm(const TuneSubject &subject, const Baseline &baseline,
                                       const SearchHistory &history, Judge &judge,
                                       Journal &journal);
  Status writeResults(const TuneSubject &subject, const Baseline &baseline,
                      const SearchHistory &history, OpenRun &run, Journal &journal,
                      TuneOutcome &outcome);

  /// A failure is told and costs only what could be learnt.
  void openKnowledge();
  /// What was known when the run began.
  Result<Recalled> recall(const TuneSubject &subject, const RunRecord &run, const Trial &baseline,
                          Journal &journal);
  /// Adds the trials of the run to the user's experience; none is added twice.
  void learn(const TuneSubject &subject, const RunRecord &run);

  SessionEnd sessionEnd();
  /// The winners as one patch, confirmed in the program.
  Status endSession();

  /// Runs one step of tune(): shows its name, and adds it to the context of an error.
  template <class Step>
  auto stage(const TuneSubject &subject, const std::string &name, Step step) -> decltype(step());

  TuneClock clock_;
  Services services_;
  TuneSettings settings_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<Store> store_;
  std::optional<ExperienceBase> experience_; ///< nothing: it is switched off, or cannot be opened
  std::unique_ptr<ChatModel> model_;
  std::optional<RuleBook> rules_;
  KernelPlanner planner_;
  std::optional<TurnWeights> weights_; ///< of the kernels' turns
  TuneOverview overview_;
  std::vector<GivenCandidates> given_; ///< for each subject
  std::string position_;               ///< of the current kernel, "2/6 "; empty: the only one
  std::vector<Win> wins_;              ///< of the kernels searched so far
  std::optional<SessionRecord> session_;
};

} // namespace kopt
