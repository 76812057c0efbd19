// SPDX-License-Identifier: Apache-2.0
#include "driver/report/Report.h"

#include "driver/judge/Statistics.h"
#include "driver/report/Markdown.h"
#include "driver/report/facts/CounterTable.h"
#include "driver/report/facts/HotLineTable.h"
#include "driver/report/facts/Reproduce.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

using nlohmann::json;

bool isOfSearch(const Trial &trial) { return trial.purpose == Purpose::Search; }

std::string interval(const Speedup &speedup) {
  if (speedup.modelled)
    return "none: modelled";
  return fmt::format("[{:.3f}, {:.3f}] at {:g}%", speedup.low, speedup.high,
                     speedup.confidence * 100);
}

std::string factor(const Speedup &speedup) {
  return fmt::format("{:.2f}x{}", speedup.estimate, speedup.modelled ? " modelled" : "");
}

class MarkdownReport {
public:
  MarkdownReport(const RunHistory &history, const Diagnosis &before, const Diagnosis &after)
      : history_(history), run_(history.run), before_(before), after_(after),
        device_(recordedObject(run_.deviceJson)), config_(recordedObject(run_.configJson)),
        winner_(history.winner()), measured_(history.confirmation()) {
    if (!measured_)
      measured_ = winner_;
  }

  std::string render() {
    line("# kopt: `{}`", run_.kernel);
    verdict();
    launches();
    inProgram();
    change();
    counters();
    rules();
    hotLines();
    verification();
    trials();
    events();
    time();
    cost();
    models();
    apply();
    reproduce();
    return std::move(out_);
  }

private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
    out_ += '\n';
  }
  void section(const char *title) { line("\n## {}\n", title); }

  bool modelled() const { return device_.value("modelled", false); }
  void verdict() {
    if (!winner_) {
      std::string why = run_.stopText.empty() ? "" : ": " + run_.stopText;
      if (run_.state == RunState::Finished)
        line("\n**Nothing to apply**: no candidate was accepted{}.", why);
      else if (run_.state == RunState::Failed)
        line("\n**No verdict**: the run failed{}.", why);
      else
        line("\n**No verdict yet**: the run was interrupted, or still runs. The same command with "
             "`--resume` continues it.");
    } else if (!measured_->speedup) {
      line("\n**No speedup was recorded** for the accepted candidate.");
    } else if (measured_->speedup->modelled) {
      line("\n**{:.2f}x faster, modelled** for {}: a roofline model of the emulated device, not a "
           "measurement. Tune on a GPU to measure it.",
           measured_->speedup->estimate, deviceName(device_));
    } else {
      line("\n**{:.2f}x faster, measured** on {}: {:g}% interval [{:.3f}, {:.3f}] from {} "
           "pairs{}{}.",
           measured_->speedup->estimate, deviceName(device_), measured_->speedup->confidence * 100,
           measured_->speedup->low, measured_->speedup->high, measured_->speedup->pairs,
           measured_->speedup->processes > 1
               ? fmt::format(" in {} fresh processes", measured_->speedup->processes)
               : "",
           measured_ == winner_ ? "" : ", taken after the search on fresh inputs and samples");
    }
    line("\n- source: `{}`, run `{}`", run_.file, run_.name);
    line("- device: {} ({}{}), compiler {}", deviceName(device_), textOf(device_, "kind"),
         textOf(device_, "driver").empty() ? "" : ", driver " + textOf(device_, "driver"),
         textOf(device_, "toolchain"));
    sandbox();
    line("- started {}{}", run_.startedUtc,
         run_.finishedUtc.empty() ? ", not finished" : ", finished " + run_.finishedUtc);
    if (winner_ && !run_.stopText.empty())
      line("- the search stopped: {}", run_.stopText);
  }

  void sandbox() {
    if (const std::string held = sandboxLayers(device_, true); !held.empty())
      line("- sandbox of the candidates: {}", held);
    if (const std::string missing = sandboxLayers(device_, false); !missing.empty())
      line("- missing sandbox layers: {}", missing);
  }

  void launches() {
    const Trial *shown = measured_ ? measured_ : history_.baseline();
    if (!shown || shown->timings.empty())
      return;
    section(modelled() ? "Times (modelled)" : "Times");
    line("| launch | baseline | candidate | speedup | interval | pairs | cache |");
    line("|---|---:|---:|---:|---|---:|---|");
    for (const LaunchTiming &timing : shown->timings) {
      const bool judged = shown == measured_;
      line("| {} | {} | {} | {} | {} | {} | {} |", cell(timing.launch),
           formatDuration(timing.baselineSeconds),
           judged ? formatDuration(timing.candidateSeconds) : "",
           judged ? factor(timing.speedup) : "", judged ? interval(timing.speedup) : "",
           judged ? std::to_string(timing.speedup.pairs) : "",
           timing.cacheMode == CacheMode::Unknown ? "" : toString(timing.cacheMode));
    }
  }

  /// What became of the winner after the search.
  void inProgram() {
    if (!history_.session)
      return;
    const SessionWin &win = *history_.session->winOf(run_.id);
    section("In the program");
    line("{}{}", win.state == WinState::Confirmed ? "Confirmed: " : "", win.reason);
    if (win.program && !win.program->proof.empty())
      line("\nThat the patched kernel is the one that ran: {}.", win.program->proof);
    line("\nThe patch of all kernels and its evidence: `{}`.", history_.session->name);
  }

  void change() {
    if (!winner_)
      return;
    section("What changed");
    const Candidate &candidate = winner_->candidate;
    line("{} (by `{}`{}).", candidate.title, candidate.proposer,
         candidate.technique.empty() ? "" : ", technique `" + candidate.technique + "`");
    if (!candidate.rationale.empty())
      line("\nWhy it was tried: {}", candidate.rationale);
    if (const auto parts = partsOf(candidate, "`"); !parts.empty())
      line("\nLaunch and constants: {}.", join(parts, "; "));
    const std::string diff = formatDiff(diffTexts("kernel.cu", run_.sliceText, winner_->sliceText));
    if (!diff.empty() && !winner_->sliceText.empty()) {
      // Use a fence longer than any in the code, because comments may contain Markdown.
      const std::string fence = diff.find("```") == std::string::npos ? "```" : "``````";
      line("\n{}diff\n{}{}", fence, diff, fence);
    }
  }

  void counters() {
    const Trial *baseline = history_.baseline();
    if (!baseline || !winner_)
      return;
    const CounterComparison comparison = compareCounters(*baseline, *winner_);
    section("Why");
    if (comparison.changed.empty()) {
      line("No counter that could explain it differs; the counters come from {}.",
           winner_->counterSource.empty() ? "nowhere: none could be read" : winner_->counterSource);
      return;
    }
    line("| counter ({}) | before | after |", cell(winner_->counterSource));
    line("|---|---:|---:|");
    for (const CounterChange &row : comparison.changed)
      line("| {} | {} | {} |", row.label, row.before, row.after);
    if (!comparison.unchanged.empty())
      line("\nUnchanged: {}.", join(comparison.unchanged, "; "));
  }

  void rules() {
    if (!history_.baseline())
      return;
    section("What bounds the kernel");
    if (before_.hits.empty())
      line("No rule fires on the baseline's counters.");
    for (const RuleHit &hit : before_.hits) {
      line("- **{}** (`{}`): {}. What helps: {}.", hit.severity, hit.id, hit.finding, hit.action);
      if (winner_ && !winner_->counters.empty())
        line("  {}", onTheWinner(hit.id));
    }
    if (winner_)
      for (const RuleHit &hit : after_.hits)
        if (stateOf(before_, hit.id) != RuleState::Fires)
          line("- on the winner only: **{}** (`{}`): {}", hit.severity, hit.id, hit.finding);
    if (!before_.skipped.empty())
      line("\nNot judged, because a counter is missing: {}.", join(before_.skipped, "; "));
  }

  void hotLines() {
    const Trial *baseline = history_.baseline();
    if (!baseline)
      return;
    section("Hot lines");
    if (const std::string how = howCounted(baseline->hotLines); !how.empty())
      line("{}\n", how);
    lineTable("baseline", baseline->hotLines);
    if (const HotLines *winners = winnersHotLines(history_)) {
      line("");
      lineTable("winner, in the file as its patch leaves it", *winners);
    }
    line("\nMore of the lines of one launch: `{}`.", profileCommand(run_));
  }

  void lineTable(const char *whose, const HotLines &hot) {
    const HotLineTable table = hotLineTable(run_, hot);
    if (table.rows.empty()) {
      line("There are none of the {}: {}.", whose, table.missing);
      return;
    }
    const auto sectors = [](const std::optional<double> &share) {
      return share ? formatPercent(*share) : "not counted";
    };
    line("| {} | instructions | sectors | text |", whose);
    line("|---|---:|---:|---|");
    for (const HotLineRow &row : table.rows)
      line("| {} | {} | {} | {} |", row.place.empty() ? "not in your files" : cell(row.place),
           formatPercent(row.instructions), sectors(row.sectors), codeCell(row.text));
    line("| all other lines | {} | {} | |", formatPercent(table.otherInstructions),
         sectors(table.otherSectors));
  }

  const char *onTheWinner(const std::string &rule) const {
    switch (stateOf(after_, rule)) {
    case RuleState::Fires:
      return "It still fires on the winner.";
    case RuleState::Silent:
      return "It no longer fires on the winner.";
    case RuleState::NotJudged:
      break;
    }
    return "It could not be judged on the winner: a counter is missing.";
  }

  void verification() {
    section("How it was verified");
    if (listChecked(true) == 0)
      line("No verification was recorded.");
    const std::vector<std::string> remarks = remarksOf(history_);
    if (!remarks.empty())
      line("\nRemarks on the winner:\n");
    for (const std::string &remark : remarks)
      line("- {}", remark);
    section("What was not shown");
    std::size_t count = 0;
    if (measured_) {
      line("Assurance: {}.{}\n", toString(measured_->assurance.level),
           measured_->assurance.gaps.empty() ? "" : " Read this before you apply the patch.");
      for (const std::string &gap : inLines(measured_->assurance)) {
        line("- {}", gap);
        ++count;
      }
    }
    if (count + listChecked(false) == 0)
      line("Nothing was recorded as not shown.");
  }

  /// True if the winner's assurance lists it.
  bool isGap(const Checked &checked) const {
    return !checked.shown &&
           (checked.check != CheckId::None ||
            std::ranges::any_of(measured_->assurance.gaps,
                                [&](const AssuranceGap &gap) { return gap.what == checked.text; }));
  }

  std::size_t listChecked(bool shown) {
    std::size_t count = 0;
    for (const Event &event : history_.events)
      if (const auto *checked = std::get_if<Checked>(&event.what);
          checked && checked->shown == shown && !(measured_ && isGap(*checked))) {
        line("- {}", checked->text);
        ++count;
      }
    return count;
  }

  void trials() {
    section("All trials");
    std::set<std::string> gpus;
    for (const Trial &trial : history_.trials)
      if (!trial.gpu.empty())
        gpus.insert(trial.gpu);
    const bool isPool = gpus.size() > 1;
    line("| # | verdict | speedup | candidate | by | decided at |{} reason |",
         isPool ? " on GPU |" : "");
    line("|---:|---|---:|---|---|---|{}---|", isPool ? "---|" : "");
    for (std::size_t i = 0; i < history_.trials.size(); ++i) {
      const Trial &trial = history_.trials[i];
      const bool baseline = &trial == history_.baseline();
      std::string title = baseline ? "the user's own kernel" : trial.candidate.title;
      if (trial.purpose == Purpose::Confirmation)
        title = "confirmation of: " + title;
      else if (trial.purpose == Purpose::HeldOut)
        title = "on held-out launches: " + title;
      if (&trial == winner_)
        title += " (winner)";
      line("| {:03} | {} | {} | {} | {} | {} |{} {} |", i,
           baseline ? "baseline" : verdictInWords(trial.verdict),
           trial.speedup && !baseline ? factor(*trial.speedup) : "", cell(title),
           baseline ? "" : cell(trial.candidate.proposer), toString(trial.stage),
           isPool ? fmt::format(" {} |", cell(trial.gpu)) : "", cell(trial.reason));
    }
  }

  void events() {
    bool any = false;
    for (const Event &event : history_.events) {
      if (std::holds_alternative<Judged>(event.what) ||
          std::holds_alternative<Profiled>(event.what) ||
          std::holds_alternative<Checked>(event.what) || std::holds_alternative<Spent>(event.what))
        continue;
      if (!any)
        section("How the search went");
      any = true;
      line("- round {}, {}: {}", event.round, kindOf(event), describe(event));
    }
  }

  /// Where the wall time of all sessions of the run went.
  void time() {
    const auto &[kernel, session, limit] = timeSpent(history_);
    if (session.empty() && kernel.empty())
      return;
    section("Where the time went");
    line("| stage | seconds | of |");
    line("|---|---:|---|");
    for (const char *name : {"extract", "observe", "device"})
      if (const auto known = session.find(name); known != session.end())
        line("| {} | {:.1f} | all kernels |", name, known->second);
    for (const char *name : {"workload", "baseline", "search", "confirm", "write"})
      if (const auto known = kernel.find(name); known != kernel.end())
        line("| {} | {:.1f} | this kernel |", name, known->second);
    for (const auto &[name, seconds] : kernel)
      if (!std::set<std::string>{"workload", "baseline", "search", "confirm", "write"}.contains(
              name))
        line("| {} | {:.1f} | this kernel |", name, seconds);
    if (limit > 0)
      line("\nThe kernel might take {:.0f} s of the time budget.", limit);
  }

  /// Where the time of the evaluations went. Only stages that take at least 1% of it are listed.
  void cost() {
    std::vector<double> whole;
    for (const Trial &trial : history_.trials) {
      if (&trial == history_.baseline() || !isOfSearch(trial) || trial.stages.empty())
        continue;
      whole.push_back(trial.seconds);
    }
    if (whole.empty())
      return;
    section("What the evaluations cost");
    line("{} candidates: median {} each, longest {}. Builds may run while other candidates are "
         "measured; `wait` is the time spent waiting for a build.\n",
         whole.size(), formatDuration(median(whole)),
         formatDuration(*std::max_element(whole.begin(), whole.end())));
    line("| stage | candidates | median | longest | total |");
    line("|---|---:|---:|---:|---:|");
    for (const std::vector<std::string> &row : evaluationCosts(history_))
      line("| {} |", join(row, " | "));
  }

  void models() {
    if (history_.modelCalls.empty())
      return;
    section("Language model");
    line("| purpose | model | calls | input tokens | output tokens | from cache |");
    line("|---|---|---:|---:|---:|---:|");
    for (const std::vector<std::string> &row : modelCosts(history_))
      line("| {} | {} | {} | {} | {} | {} |", cell(row[0]), cell(row[1]), row[2], row[3], row[4],
           row[5]);
  }

  void apply() {
    if (run_.patchText.empty())
      return;
    section("How to apply it");
    line("```sh\n{}\n```\n\nor, from the top of the repository, `git apply` "
         "with "
         "the "
         "`winner.patch` of this folder. It changes the kernel and its launch sites, nothing else.",
         applyCommand(history_));
  }

  void reproduce() {
    section("How to reproduce it");
    line("```sh\n{}\n```", reproduceCommand(run_));
    line("\nInputs `{}`; every sample and every candidate's source is in `.kopt/kopt.db` and in "
         "this "
         "run's folder.",
         run_.inputsHash);
  }

  const RunHistory &history_;
  const RunRecord &run_;
  const Diagnosis &before_, &after_;
  const json device_, config_;
  const Trial *winner_, *measured_;
  std::string out_;
};

} // namespace

std::string renderMarkdown(const RunHistory &history, const Diagnosis &before,
                           const Diagnosis &after) {
  return MarkdownReport(history, before, after).render();
}

std::string renderMarkdown(const RunHistory &history) {
  const RunDiagnosis diagnosis = diagnoseRun(history);
  return renderMarkdown(history, diagnosis.before, diagnosis.after);
}

Result<std::string> renderMarkdown(Store &store, const RunRecord &run) {
  KOPT_TRY(const RunHistory history, loadRun(store, run));
  return renderMarkdown(history);
}

} // namespace kopt
