// SPDX-License-Identifier: Apache-2.0
#include "driver/app/integrate/MeasureFlow.h"

#include "driver/app/integrate/CheckFlow.h"
#include "driver/integrate/header/HeaderFiles.h"
#include "driver/integrate/overlay/Lock.h"
#include "driver/source/SourceEdits.h"
#include "driver/support/FileSystem.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

struct Judged {
  Trial trial;
  DeviceInfo device;
};

class Measuring {
public:
  Measuring(Services services, const MeasureRequest &request)
      : services_(services), request_(request),
        sources_(request.folder.parent_path().string(), request.buildFolder.string()) {}

  Result<MeasuredVariant> measure(const overlay::Entry &entry) {
    MeasuredVariant measured;
    measured.kernel = entry.kernel;
    measured.place = entry.place;
    services_.terminal.status(fmt::format("{}: measuring its variant", entry.kernel));
    if (!entry.options.empty()) {
      measured.notMeasured = "it has options of the compiler, which a file alone does not";
      return measured;
    }
    const fs::path unit = sources_.resolve(entry.place.substr(0, entry.place.rfind(':')));
    KOPT_TRY(const std::string text, textOf(entry, unit, measured.notMeasured));
    if (!measured.notMeasured.empty())
      return measured;
    KOPT_TRY(const TemporaryDirectory folder, TemporaryDirectory::create("kopt-measure"));
    const fs::path candidate = folder.path() / unit.filename();
    KOPT_CHECK(writeFileAtomically(candidate, text));
    TrialRequest trial = request_.trial;
    trial.sources.files = {unit};
    trial.selection.symbols = {entry.symbol};
    trial.candidates = {candidate};
    KOPT_TRY(Judged judged, judge(trial));
    if (!isFor(entry, judged.device)) {
      measured.notMeasured = fmt::format("it is not for {}", judged.device.arch);
      return measured;
    }
    if (isWorse(judged.trial.verdict)) {
      trial.options.seed += 1;
      KOPT_TRY(judged, judge(trial));
    }
    measured.verdict = judged.trial.verdict;
    measured.reason = judged.trial.reason;
    if (isWorse(measured.verdict) && (entry.state == "modelled" || isEvidence(judged)))
      measured.regressed = fmt::format("{} on {}, {}: {}", toString(measured.verdict),
                                       judged.device.name, services_.clock.utc().substr(0, 10),
                                       measured.reason.substr(0, measured.reason.find('\n')));
    return measured;
  }

private:
  /// The text of the kernel's file with the variant in the place of the original. Fails as
  /// readFile(); a reason why there is none is returned in `problem`.
  Result<std::string> textOf(const overlay::Entry &entry, const fs::path &unit,
                             std::string &problem) {
    const overlay::Located located = overlay::locate(entry, sources_);
    if (!located.changes.empty()) {
      problem = "it is stale";
      return std::string();
    }
    std::vector<SourceEdit> edits;
    for (const overlay::Edit &edit : entry.edits) {
      const overlay::Use &use = entry.uses[edit.use];
      if (sources_.resolve(use.file) != unit) {
        problem = fmt::format("it changes {}, and only changes of the kernel's own file can be "
                              "measured: tune the kernel again",
                              use.file);
        return std::string();
      }
      overlay::Change change;
      const auto text = overlay::newTextOf(entry, edit, request_.folder.string(), sources_, change);
      if (!text) {
        problem = change.what;
        return std::string();
      }
      const std::uint64_t begin = located.begins[edit.use] + (edit.begin - use.begin);
      edits.push_back({{unit.string(), begin, begin + (edit.end - edit.begin)}, text->text});
    }
    KOPT_TRY(const std::string original, readFile(unit));
    KOPT_TRY(const auto ordered, editsByFile(edits));
    return applyEdits(original, ordered.begin()->second);
  }

  Result<Judged> judge(const TrialRequest &trial) {
    KOPT_TRY(const std::vector<CandidateTrials> results, runTrials(services_, trial));
    const TrialOutcome &outcome = results.front().worst();
    return Judged{outcome.trial, outcome.device};
  }

  static bool isWorse(Verdict verdict) {
    return severityOf(verdict) >= severityOf(Verdict::Slower);
  }

  /// A time of the emulated device is none.
  static bool isEvidence(const Judged &judged) {
    return judged.trial.verdict != Verdict::Slower || !judged.device.modelled;
  }

  static bool isFor(const overlay::Entry &entry, const DeviceInfo &device) {
    return std::ranges::any_of(
        entry.archs, [&](const std::string &arch) { return arch == "all" || arch == device.arch; });
  }

  Services services_;
  const MeasureRequest &request_;
  overlay::Sources sources_;
};

} // namespace

Result<std::vector<MeasuredVariant>> measureLock(Services services, const MeasureRequest &request) {
  KOPT_TRY(const overlay::Lock lock, readLock(request.folder));
  Measuring measuring(services, request);
  std::vector<MeasuredVariant> results;
  for (std::size_t i = 0; i < lock.entries.size(); ++i) {
    KOPT_TRY(MeasuredVariant measured, measuring.measure(lock.entries[i]));
    if (measured.notMeasured.empty() &&
        (!measured.regressed.empty() || measured.verdict == Verdict::Faster))
      KOPT_CHECK(recordRegression(request.folder, i, measured.regressed));
    results.push_back(std::move(measured));
  }
  return results;
}

} // namespace kopt
