// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/SessionEnd.h"

#include "driver/app/ObserveFlow.h"
#include "driver/compare/program/BuiltPrograms.h"
#include "driver/compare/program/ScreenInProgram.h"
#include "driver/report/RunFolder.h"
#include "driver/report/SessionReport.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"
#include "driver/workload/observed/SubjectWorkload.h"

#include <algorithm>
#include <map>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// The subject of an instantiation: one of the tuned ones, or a new one.
Result<TuneSubject> subjectOf(Workbench &bench, const Specialization &specialization) {
  for (const TuneSubject &subject : bench.subjects())
    if (subject.specialization.symbol == specialization.symbol)
      return subject;
  SelectionRequest request;
  request.globs = {specialization.symbol};
  request.clauses = bench.clauses();
  KOPT_TRY(std::vector<TuneSubject> made, selectSubjects(bench.extraction(), request));
  return std::move(made.front());
}

bool launches(const ObservedRun &run, const std::string &symbol) {
  return std::ranges::any_of(run.trace.processes, [&](const auto &process) {
    return std::ranges::any_of(process.launches, [&](const auto &launch) {
      return process.functions[launch.function].symbol == symbol;
    });
  });
}

/// The instantiations of the subject's kernel that the program launched, but for which no launches
/// were captured.
Result<std::vector<TuneSubject>> unobservedSharers(const SessionEnd &end,
                                                   const TuneSubject &subject) {
  std::vector<TuneSubject> sharers;
  for (const KernelInstance &instance : instancesIn(end.bench.extraction())) {
    const Specialization *one = instance.specialization;
    if (!one || instance.kernel->name != subject.kernel.name ||
        std::ranges::none_of(end.observed,
                             [&](const auto &run) { return launches(run, one->symbol); }))
      continue;
    KOPT_TRY(TuneSubject sharer, subjectOf(end.bench, *one));
    if (!workloadOf(sharer, end.observed, end.bench.device().kind))
      sharers.push_back(std::move(sharer));
  }
  return sharers;
}

/// Runs the program again, to capture the launches of the sharers.
Result<std::vector<ObservedRun>> observeSharers(const SessionEnd &end,
                                                const std::vector<TuneSubject> &sharers) {
  std::vector<ObservedRun> runs;
  for (const ObservedRun &run : end.observed) {
    if (std::ranges::none_of(sharers, [&](const TuneSubject &sharer) {
          return launches(run, sharer.specialization.symbol);
        }))
      continue;
    const auto start = end.services.clock.now();
    KOPT_TRY(ObservedTrace trace,
             programTrace(end.services, end.bench.programs(), end.root, run.command, sharers));
    if (end.ranProgram)
      end.ranProgram(Duration(end.services.clock.now() - start).count());
    runs.push_back({run.command, std::move(trace)});
  }
  return runs;
}

/// The workload of an instantiation that shares text with a win. Runs the program again if its
/// launches were not captured; `more` keeps those traces by the kernel's name.
Result<SubjectWorkload> composedWorkload(const SessionEnd &end, const TuneSubject &subject,
                                         std::map<std::string, std::vector<ObservedRun>> &more) {
  auto workload = workloadOf(subject, end.observed, end.bench.device().kind);
  if (workload || std::ranges::none_of(end.observed, [&](const auto &run) {
        return launches(run, subject.specialization.symbol);
      }))
    return workload;
  auto known = more.find(subject.kernel.name);
  if (known == more.end()) {
    KOPT_TRY(const std::vector<TuneSubject> sharers, unobservedSharers(end, subject));
    KOPT_TRY(std::vector<ObservedRun> runs, observeSharers(end, sharers));
    known = more.emplace(subject.kernel.name, std::move(runs)).first;
  }
  return workloadOf(subject, known->second, end.bench.device().kind);
}

Result<Trial> judgeComposed(const SessionEnd &end, const TuneSubject &subject,
                            const Candidate &candidate,
                            std::map<std::string, std::vector<ObservedRun>> &more) {
  KOPT_TRY(SubjectWorkload workload, composedWorkload(end, subject, more));
  workload.workload.objective = end.objective;
  JudgeOptions options = end.judge;
  options.programSeconds = workload.programSeconds;
  options.counters = false;
  KOPT_TRY(const std::unique_ptr<Judge> judge,
           end.bench.makeJudge(subject, workload.workload, options,
                               "composed-" + subject.specialization.symbol.substr(0, 100)));
  KOPT_TRY(const Baseline baseline, judge->baseline());
  static_cast<void>(baseline);
  return judge->judge(candidate, Purpose::Search);
}

BuildWayRequest buildRequest(const SessionEnd &end) {
  BuildWayRequest request;
  request.command = end.build;
  request.buildDirectory = end.sources.buildDirectory;
  request.files = end.sources.files;
  request.flags = end.sources.flags;
  if (!end.programs.empty())
    request.program = end.programs.front();
  request.root = end.root;
  return request;
}

Result<ProgramRequest> programRequest(const SessionEnd &end) {
  if (end.programs.empty())
    return makeError(ErrorCode::Usage, "no program is known that launches the kernels",
                     "give its command line: --run './app args'");
  ProgramRequest request;
  KOPT_TRY(request.way, end.bench.programs().findBuildWay(buildRequest(end)));
  request.commands = end.programs;
  std::error_code ignored;
  request.directory = fs::current_path(ignored);
  request.tests = end.tests;
  for (const fs::path &folder : {request.way.project, end.root})
    for (const char *name : {".git", ".kopt"})
      request.left.push_back(folder / name);
  request.left.push_back(end.output);
  return request;
}

} // namespace

double savedSeconds(const Trial &winner, double speedup, const KernelShare *share) {
  double seconds = share ? share->seconds : 0;
  if (seconds <= 0)
    for (const LaunchTiming &timing : winner.timings)
      seconds += timing.baselineSeconds;
  return speedup > 0 ? seconds * (1 - 1 / speedup) : 0;
}

LaunchSeconds launchSeconds(const Trial &winner, const Workload &workload) {
  double launches = 0, before = 0, after = 0;
  for (std::size_t i = 0; i < winner.timings.size() && i < workload.launches.size(); ++i) {
    const LaunchTiming &timing = winner.timings[i];
    if (timing.baselineSeconds <= 0)
      continue;
    const double count = workload.launches[i].weight / timing.baselineSeconds;
    launches += count;
    before += count * timing.baselineSeconds;
    after += count * timing.candidateSeconds;
  }
  return launches > 0 ? LaunchSeconds{before / launches, after / launches} : LaunchSeconds{};
}

std::vector<RunGain> gainsByRun(const Trial &winner, const Workload &workload,
                                const std::vector<std::string> &commands) {
  std::vector<RunGain> gains;
  for (const std::string &command : commands) {
    std::vector<LaunchTiming> timings;
    std::vector<double> weights;
    for (std::size_t i = 0; i < winner.timings.size() && i < workload.launches.size(); ++i)
      if (workload.launches[i].name.starts_with(labelOf(command))) {
        timings.push_back(winner.timings[i]);
        weights.push_back(workload.launches[i].weight);
      }
    if (!timings.empty())
      gains.push_back({command, combineTimings(timings, weights, workload.objective)});
  }
  return gains;
}

Result<std::vector<std::optional<double>>> screenTrials(const SessionEnd &end,
                                                        const TuneSubject &subject,
                                                        const std::vector<const Trial *> &trials) {
  const LoggedStage logged("screen the candidates in the program");
  std::vector<std::optional<double>> speedups(trials.size());
  auto request = programRequest(end);
  if (!request || end.observed.empty())
    return speedups; // the end of the session says why
  request->root = patchRoot({subject.kernel.file, subject.kernel.unit}, end.sources.buildDirectory);
  std::vector<std::size_t> written;
  std::vector<ProgramEdits> patches;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto edits = writeBackEdits(subject.kernel, subject.specialization, trials[i]->candidate);
    if (!edits)
      continue;
    auto patch = makePatch(*edits, end.bench.extraction().fileHashes, request->root, {},
                           flagsOf(subject.kernel, trials[i]->candidate));
    if (!patch)
      continue;
    patches.push_back(std::move(patch->files));
    written.push_back(i);
  }
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt-screen"));
  auto programs = end.bench.programs().open(std::move(*request), scratch.path(), end.ranProgram);
  if (!programs)
    return speedups;
  std::vector<ProgramSample> before;
  for (const ObservedRun &run : end.observed)
    before.emplace_back().kernels = kernelSamples(run.trace);
  const auto screened = screenInProgram(**programs, before, subject.specialization.symbol, patches);
  for (std::size_t i = 0; i < written.size(); ++i)
    speedups[written[i]] = screened[i];
  return speedups;
}

Result<SessionRecord> endSession(const SessionEnd &end, std::vector<Win> wins) {
  const LoggedStage logged("compose and confirm the wins");
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt-confirm"));
  auto program = programRequest(end);
  std::map<std::string, std::vector<ObservedRun>> more;
  const SessionServices services{
      end.store,
      end.services.clock,
      [&](const Specialization &specialization) { return subjectOf(end.bench, specialization); },
      [&](const TuneSubject &subject, const Candidate &candidate) {
        return judgeComposed(end, subject, candidate, more);
      },
      [&](const RenderedSlice &slice, std::size_t chunk, const KernelSpec &kernel, bool isInline) {
        return end.bench.frontend().specialize(slice, chunk, kernel, isInline);
      },
      [&](const fs::path &patchRoot) -> Result<std::unique_ptr<ProgramPair>> {
        if (!program)
          return tl::unexpected(program.error());
        ProgramRequest request = *program;
        request.root = patchRoot;
        return end.bench.programs().open(std::move(request), scratch.path(), end.ranProgram);
      },
      [&](const std::string &text) { end.services.terminal.status(text); },
      end.isTimeUp};
  SessionRequest request{
      std::move(wins),           end.bench.extraction(),
      end.bench.device().name,   end.bench.device().modelled,
      join(end.programs, "; "),  program ? program->way.describe() : std::string(),
      ConfirmPolicy{},           end.bench.device().arch,
      end.sources.buildDirectory};
  request.policy.minGain = end.minGain;
  request.policy.objective = end.objective;
  request.policy.regressionGuard = end.judge.policy.regressionGuard;
  KOPT_TRY(SessionRecord session, integrateWins(std::move(request), services));
  end.services.terminal.clear();
  KOPT_CHECK(writeSessionFolder(session, end.output / session.name));
  // Write the reports of its runs again, because they now say what became of the winners.
  KOPT_TRY(const std::vector<RunRecord> runs, end.store.runs());
  for (const RunRecord &run : runs)
    if (session.winOf(run.id))
      KOPT_CHECK(writeRunFolder(end.store, run, end.output / run.name));
  return session;
}

} // namespace kopt
