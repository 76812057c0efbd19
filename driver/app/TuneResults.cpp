// SPDX-License-Identifier: Apache-2.0
// The last stage of a tuning: what was checked and what was not, the winner's patch, the folder for
// people.
#include "driver/app/Search.h"
#include "driver/app/TuneSession.h"
#include "driver/integrate/patch/Patch.h"
#include "driver/report/RunFolder.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Text.h"
#include "driver/workload/WorkloadBuilder.h"

#include <fmt/format.h>

namespace kopt {

Status TuneSession::recordVerification(Search &search) {
  const DeviceInfo &device = bench_->device();
  const std::size_t launches = search.workload.launches.size();
  KOPT_CHECK(decide(
      search, "verified",
      fmt::format(
          "every element of every output of {} launch{} compared with the user's own kernel, on "
          "fixed "
          "inputs with two poisons and on inputs drawn after the candidate was frozen; guard zones "
          "and read-only inputs checked after each launch",
          launches, launches == 1 ? "" : "es")));
  if (search.outcome.winner)
    for (const CheckRecord &record : search.outcome.winner->checks)
      if (record.check != "screen") // candidates that it refuses are not built
        KOPT_CHECK(decide(search, record.state == CheckState::NotRun ? "unchecked" : "verified",
                          fmt::format("{}: {}{}{}", record.check, purposeOf(record.check),
                                      record.detail.empty() ? "" : ": ", record.detail)));
  if (device.modelled) {
    KOPT_CHECK(decide(search, "verified",
                      "bounds, races, barriers and uninitialised reads, by the emulated device"));
    KOPT_CHECK(
        decide(search, "unchecked",
               fmt::format("speed on a real {}: times are modelled; tune on a GPU to measure",
                           device.name)));
  } else {
    const auto others = device.facts.find(kOtherLoadFact);
    const std::string known = others == device.facts.end() ? "not known" : others->second;
    if (known != "watched")
      KOPT_CHECK(decide(search, "unchecked",
                        "whether others computed on the GPU while it was timed: " + known));
    if (const auto &winner = search.outcome.winner;
        winner && !(winner->passed("emulated") && winner->passed("sanitizer")))
      KOPT_CHECK(decide(
          search, "unchecked",
          "races and uninitialised shared memory on the GPU, as far as the layers 'emulated' and "
          "'sanitizer' had no say: run compute-sanitizer on the patched program"));
  }
  for (const std::string &place :
       sitesNotRun(search.subject.kernel, search.subject.specialization, search.workload))
    KOPT_CHECK(decide(
        search, "unchecked",
        fmt::format(
            "the kernel as it is launched at {}: no launch of the workload has that geometry; "
            "--run takes the program's own launches",
            place)));
  for (const std::string &note : bench_->extraction().notes)
    KOPT_CHECK(decide(search, "unchecked", note));
  return {};
}

Status TuneSession::makeWinnerPatch(Search &search) {
  const Trial &winner = *search.outcome.winner;
  KOPT_TRY(const std::vector<SourceEdit> edits,
           writeBackEdits(search.subject.kernel, search.subject.specialization, winner.candidate));
  KOPT_TRY(const Patch patch, makePatch(edits, bench_->extraction().fileHashes,
                                        patchRoot(search.subject.kernel.file)));
  PatchMessage message;
  const Speedup &speedup = *winner.speedup;
  message.subject = fmt::format("{}: {} {} on {}", search.subject.label,
                                speedup.modelled ? "modelled" : "measured",
                                fmt::format("{:.2f}x", speedup.estimate), bench_->device().name);
  message.body = fmt::format("{}\n\n{}", winner.candidate.title, winner.reason);
  for (const LaunchTiming &timing : winner.timings)
    message.body += fmt::format("\n  launch {}: {} -> {}", timing.launch,
                                formatDuration(timing.baselineSeconds),
                                formatDuration(timing.candidateSeconds));
  message.kernel = search.subject.label;
  message.device = bench_->device().name + (speedup.modelled ? " (modelled)" : "");
  message.speedup = inWords(speedup);
  message.verifiedBy = fmt::format("kopt on {}", bench_->device().modelled ? "the emulated device"
                                                                           : bench_->device().name);
  search.outcome.run.edits = patch.files;
  search.outcome.run.patchText = formatMail(patch, message);
  return {};
}

Status TuneSession::writeResults(Search &search) {
  RunRecord &run = search.outcome.run;
  KOPT_CHECK(recordVerification(search));
  if (search.outcome.winner)
    KOPT_CHECK(makeWinnerPatch(search));
  run.state = "finished";
  run.finishedUtc = services_.clock.utc();
  KOPT_CHECK(store_->updateRun(run));
  KOPT_CHECK(writeRunFolder(*store_, run, search.outcome.folder));
  if (search.outcome.winner)
    search.outcome.patch = search.outcome.folder / "winner.patch";
  return {};
}

} // namespace kopt
