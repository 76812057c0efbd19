// SPDX-License-Identifier: Apache-2.0
// `kopt tune`, from source files to a proven patch: the whole flow is tune() and tuneInRun().
#pragma once

#include "driver/app/Workbench.h"
#include "driver/judge/Judge.h"
#include "driver/llm/ChatModel.h"
#include "driver/search/SearchLoop.h"
#include "driver/search/diagnose/RuleBook.h"
#include "driver/store/Store.h"
#include "driver/workload/observed/SubjectWorkload.h"
#include "driver/workload/observed/TraceFolder.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// Everything a run depends on, after all sources of configuration were merged.
struct TuneSettings {
  SourceSettings sources;
  SelectionRequest selection;
  std::filesystem::path root;   ///< .kopt/ and relative outputs live here
  std::filesystem::path output; ///< run folders
  DeviceConfig device;
  std::vector<int> gpus{
      0}; ///< ordinals of those that judge candidates, all alike; none: all there are
  SandboxMode sandbox = SandboxMode::Auto;
  std::string arch;                   ///< empty: the device's
  std::vector<std::string> proposers; ///< params, transform, llm
  std::string model;                  ///< of the llm proposer
  Budget budget;
  double minGain = 0.01;
  std::size_t batch = 6; ///< candidates a round
  std::uint64_t seed = 1;
  int maxModelCalls = 40;
  long maxTokens = 0; ///< of the language model; 0: no limit
  std::optional<unsigned>
      buildJobs; ///< candidates built while others run; changes no result. None: as many as fit
  std::string
      program; ///< command line whose launches are the workload; empty: the declared ones are
  AssurancePolicy assurance = AssurancePolicy::Standard; ///< which wins are taken
  bool resume = false;
  bool dryRun = false;
};

/// How one kernel ended.
struct TuneOutcome {
  RunRecord run;
  std::string label;
  std::optional<Trial> winner;       ///< with the confirmed speedup
  std::filesystem::path folder;      ///< of the run, for people
  std::filesystem::path patch;       ///< empty where nothing was accepted
  std::size_t judged = 0;            ///< candidates with a verdict
  std::optional<Error> error;        ///< this kernel could not be tuned
  std::vector<SandboxLayer> sandbox; ///< what held the candidates in
};

class TuneSession {
public:
  TuneSession(Services services, TuneSettings settings);
  ~TuneSession();

  /// Tunes every selected kernel, one after the other. A kernel that cannot be tuned is an outcome
  /// with its error; an Error is returned where nothing could be done at all.
  Result<std::vector<TuneOutcome>> run();

private:
  struct OpenRun {
    RunRecord record;
    std::filesystem::path folder; ///< for people
  };
  using Proposers = std::vector<std::unique_ptr<Proposer>>;

  Result<TuneOutcome> tune(const TuneSubject &subject);
  Result<TuneOutcome> tuneInRun(const TuneSubject &subject, const SubjectWorkload &workload,
                                OpenRun &run);

  Result<SubjectWorkload> prepareWorkload(const TuneSubject &subject);
  Result<OpenRun> openRun(const TuneSubject &subject, const SubjectWorkload &workload);
  /// The judge over this machine's devices.
  Result<std::unique_ptr<Judge>> makeJudge(const TuneSubject &subject,
                                           const SubjectWorkload &workload, const OpenRun &run);
  Result<Baseline> measureBaseline(const TuneSubject &subject, Judge &judge,
                                   DecisionLog &decisions);
  Result<Proposers> makeProposers(const TuneSubject &subject, const OpenRun &run);
  Result<SearchHistory> search(const TuneSubject &subject, const Baseline &baseline,
                               const Proposers &proposers, Judge &judge, DecisionLog &decisions);
  Status writeResults(const TuneSubject &subject, const Baseline &baseline,
                      const SearchHistory &history, OpenRun &run, DecisionLog &decisions,
                      TuneOutcome &outcome);

  /// Runs one step of tune(): shows its name, and adds it to the context of an error.
  template <class Step>
  auto stage(const TuneSubject &subject, const std::string &name, Step step) -> decltype(step());

  Services services_;
  TuneSettings settings_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ChatModel> model_;
  std::optional<RuleBook> rules_;
  std::optional<ObservedTrace> observed_; ///< of settings_.program
};

} // namespace kopt
