// SPDX-License-Identifier: Apache-2.0
#include "driver/app/harness/HarnessFlow.h"

#include "driver/app/ObserveFlow.h"
#include "driver/app/programs/LocalPrograms.h"
#include "driver/support/FileSystem.h"
#include "driver/workload/observed/HarnessData.h"
#include "driver/workload/observed/KernelChoice.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// What the front end writes of a harness; the first one is what the user edits.
constexpr const char *kFiles[] = {"harness.cu", "original.cu", "build.sh"};

class HarnessWriter {
public:
  HarnessWriter(Services &services, const HarnessRequest &request)
      : services_(services), request_(request) {}

  Result<HarnessOutcome> write() {
    KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt-harness"));
    KOPT_TRY(const std::unique_ptr<Frontend> frontend, openFrontend(services_));
    services_.terminal.status("reading the sources");
    ExtractRequest look = extractRequest(request_.sources, scratch.path() / "look");
    look.prove = !canProve(services_);
    KOPT_TRY(const ExtractionResult found, frontend->extract(look));
    const bool observes = !request_.program.empty() || !request_.trace.empty();
    SelectionRequest selection = request_.selection;
    if (observes && !selectsKernels(found, selection)) {
      selection.globs = {"*"};
      byTime_ = true;
    }
    KOPT_TRY(std::vector<KernelInstance> chosen, selectInstances(found, selection));
    if (!byTime_) // before the program runs
      KOPT_CHECK(checkFree(chosen));
    if (observes) {
      KOPT_TRY(selection.symbols, observe(chosen));
      KOPT_TRY(chosen, selectInstances(found, selection));
    }
    services_.terminal.status("proving that the kernels can be built alone");
    KOPT_TRY(const ExtractionResult proven, prove(*frontend, found, chosen, scratch.path()));
    KOPT_TRY(chosen, selectInstances(proven, selection));
    KOPT_CHECK(checkFree(chosen));
    for (const KernelInstance &instance : chosen)
      if (Status written = writeOne(proven, instance); !written)
        KOPT_CHECK(leaveOut(instance, written.error()));
    services_.terminal.clear();
    if (outcome_.harnesses.empty())
      return tl::unexpected(*first_);
    return std::move(outcome_);
  }

private:
  Result<ExtractionResult> prove(Frontend &frontend, const ExtractionResult &found,
                                 const std::vector<KernelInstance> &chosen,
                                 const fs::path &scratch) const {
    if (!canProve(services_))
      return found;
    return frontend.extract(proofRequest(request_.sources, scratch / "extract", chosen));
  }

  fs::path folderOf(const Specialization &specialization) const {
    return request_.output / fs::path(specialization.slice).parent_path().filename();
  }

  /// Fails if a file of a harness is there: the user may have edited it.
  Status checkFree(const std::vector<KernelInstance> &chosen) const {
    for (const KernelInstance &instance : chosen)
      for (const char *name : kFiles) {
        if (request_.force || !instance.specialization || instance.specialization->slice.empty())
          continue;
        const fs::path path = folderOf(*instance.specialization) / name;
        if (isThere(path))
          return makeError(ErrorCode::Usage, "it exists already, and may have been edited",
                           "remove its folder, choose another one with -o, or write over it with "
                           "--force",
                           path.string());
      }
    return {};
  }

  /// The trace, and the symbols of the chosen kernels that the program launches.
  Result<std::vector<std::string>> observe(const std::vector<KernelInstance> &candidates) {
    const auto choose =
        [&](const std::vector<KernelShare> &launched) -> Result<std::vector<std::string>> {
      KOPT_TRY(KernelChoice choice,
               byTime_ ? chooseByTime(launched, candidates) : chooseLaunched(launched, candidates));
      return std::move(choice.symbols);
    };
    if (!request_.program.empty()) {
      LocalPrograms programs(services_);
      KOPT_TRY(ProgramKernels program, programKernels(services_, programs, request_.root,
                                                      request_.program, candidates, choose));
      trace_ = std::move(program.trace);
      return std::move(program.chosen);
    }
    KOPT_TRY(trace_, readTrace(request_.trace));
    std::string note;
    KOPT_CHECK(checkPrograms(*trace_, note));
    if (!note.empty())
      outcome_.notes.push_back(note);
    return choose(sharesOf(rankKernels(*trace_)));
  }

  Status writeOne(const ExtractionResult &extraction, const KernelInstance &instance) {
    // Its clauses are checked, whether or not the data are declared.
    KOPT_TRY(const TuneSubject subject, makeSubject(extraction, instance, request_.selection));
    const Specialization &specialization = *instance.specialization;
    if (specialization.slice.empty())
      return makeError(ErrorCode::BaselineFailed,
                       fmt::format("kernel '{}' could not be lifted out of its file: {}",
                                   subject.label, specialization.reason),
                       "a harness needs a kernel that can be built alone",
                       placeOf(*instance.kernel));
    WrittenHarness made{subject.label, folderOf(specialization), {}};
    services_.terminal.status(fmt::format("{}: writing {}", made.label, made.folder.string()));
    KOPT_CHECK(removeLaunches(made.folder / "data"));
    if (trace_) {
      KOPT_TRY(made.launches, writeLaunches(subject, made.folder / "data"));
    }
    const fs::path source = fs::path(specialization.slice).parent_path();
    for (const char *name : kFiles) {
      KOPT_TRY(const std::string text, readFile(source / name));
      KOPT_CHECK(writeFileAtomically(made.folder / name, text));
    }
    outcome_.harnesses.push_back(std::move(made));
    return {};
  }

  /// Removes the launches of a harness that is written over, which are of another program or
  /// kernel.
  static Status removeLaunches(const fs::path &folder) {
    std::error_code error;
    for (std::size_t i = 1; fs::remove(folder / fmt::format("launch-{}.txt", i), error); ++i)
      ;
    if (error)
      return makeError(ErrorCode::Environment, "old launches cannot be removed: " + error.message(),
                       "choose another folder with -o", folder.string());
    return {};
  }

  /// Writes the launches that represent the others, as observe chooses them.
  Result<std::vector<std::string>> writeLaunches(const TuneSubject &subject,
                                                 const fs::path &folder) {
    KOPT_TRY(const TraceWorkload made,
             workloadFromTrace(*trace_, subject.kernel, subject.specialization, subject.declaration,
                               DeviceKind::Cuda, request_.launches));
    outcome_.notes.insert(outcome_.notes.end(), made.notes.begin(), made.notes.end());
    std::vector<std::string> names;
    for (const Launch &launch : made.workload.launches) {
      const CapturedLaunch &captured = *std::ranges::find(
          made.captured, launch.name, [](const CapturedLaunch &one) { return one.launch.name; });
      names.push_back(launch.name);
      KOPT_CHECK(writeHarnessLaunch(captured, subject.specialization, made.workload.tolerance,
                                    names.size(), folder));
    }
    return names;
  }

  /// A kernel without a harness is noted, as long as the machine is not at fault.
  Status leaveOut(const KernelInstance &instance, const Error &error) {
    if (error.code == ErrorCode::Environment || error.code == ErrorCode::Internal)
      return tl::unexpected(error);
    const std::string label =
        instance.specialization ? instance.specialization->expression : instance.kernel->name;
    outcome_.notes.push_back(fmt::format("note: {} has no harness: {}", label, error.what));
    if (!first_)
      first_ = error;
    return {};
  }

  Services &services_;
  const HarnessRequest &request_;
  bool byTime_ = false; ///< nothing selects kernels, so the program's times do
  std::optional<ObservedTrace> trace_;
  HarnessOutcome outcome_;
  std::optional<Error> first_; ///< why the first kernel without a harness has none
};

} // namespace

Result<HarnessOutcome> writeHarnesses(Services services, const HarnessRequest &request) {
  return HarnessWriter(services, request).write();
}

} // namespace kopt
