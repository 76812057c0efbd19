// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/records/KbExperience.h"

#include "driver/app/KnowledgeFlow.h"
#include "driver/knowledge/Exchange.h"
#include "driver/knowledge/Memo.h"
#include "driver/model/Json.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <cmath>
#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

using nlohmann::json;

std::string gainInWords(double logGain) {
  return fmt::format("{:+.1f}%", 100 * std::expm1(logGain));
}

json jsonOf(const Remembered &row) {
  json object = toJson(row.experience);
  object["id"] = row.id;
  object["own"] = row.isOwn;
  object["sources"] = row.sources;
  return object;
}

void printLine(const Remembered &row) {
  const Experience &one = row.experience;
  std::cout << fmt::format(
      "{}  {:<20} {:<8} {:>8}  {:<11} {}, {}{}\n", row.id.substr(0, 12), one.technique, one.arch,
      one.overParent ? gainInWords(one.overParent->estimate) : "", toString(one.verdict),
      one.kernel.name, one.from.run, row.isOwn ? "" : ", from " + join(row.sources, ", "));
}

void printInFull(const Remembered &row) {
  const Experience &one = row.experience;
  std::cout << fmt::format("trial {}\n{} of {} ({}) on {} with {}: {}{}\n", row.id, one.technique,
                           one.kernel.name, one.from.program, one.arch, one.toolchain,
                           toString(one.verdict),
                           one.state.empty() ? "" : ", in the state " + one.state);
  if (one.overParent)
    for (const auto &[over, gain] :
         {std::pair("its parent", *one.overParent), std::pair("the baseline", *one.overBaseline)})
      std::cout << fmt::format("  over {}: {} ({} to {}, {} pairs)\n", over,
                               gainInWords(gain.estimate), gainInWords(gain.low),
                               gainInWords(gain.high), gain.pairs);
  std::cout << fmt::format("  run {} of {}, kopt {}{}\n", one.from.run, one.from.date,
                           one.from.kopt,
                           row.sources.empty() ? "" : ", imported from " + join(row.sources, ", "));
  if (row.edits)
    std::cout << fmt::format("  edits{}:\n{}\n", row.isOwn ? "" : ", which are code of strangers",
                             dumpJson(toJson(*row.edits), 2));
}

} // namespace

void ExperienceCommands::addTo(CLI::App &kb) {
  const auto add = [&](const char *name, const char *help, Run run) {
    CLI::App *command = kb.add_subcommand(name, help);
    command->callback([this, run] { chosen_ = run; });
    command->fallthrough();
    return command;
  };
  CLI::App *stats =
      add("stats", "what each technique gained in trials", &ExperienceCommands::stats);
  stats->add_flag("--emulated", isEmulated_, "on the emulated device instead of GPUs");
  CLI::App *trials = add("trials", "trials of all projects with these words, the best first",
                         &ExperienceCommands::trials);
  trials->add_option("words", words_, "of the technique, kernel, run, arch, verdict or id");
  trials->add_option("-n,--number", number_, "how many trials (default 20)")
      ->check(CLI::PositiveNumber);
  add("trial", "all that is known of a trial, with its edits", &ExperienceCommands::trial)
      ->add_option("id", id_, "its id, or how it begins")
      ->required();
  add("memo", "of a kernel: what is resolved, pending, and to be avoided",
      &ExperienceCommands::memo)
      ->add_option("kernel", kernel_, "a part of its name")
      ->required();
  add("patterns", "in which state a technique gained on how many of the kernels it was tried on",
      &ExperienceCommands::patterns)
      ->add_flag("--emulated", isEmulated_, "on the emulated device instead of GPUs");
  CLI::App *revoke =
      add("revoke", "take back what was learnt, for good: it stays so if it is imported again",
          &ExperienceCommands::revoke);
  auto *what = revoke->add_option_group("what");
  what->add_option("id", id_, "a trial: its id, or how it begins");
  what->add_option("--run", run_, "all trials of a run, as 'trials' names it");
  what->add_option("--source", source_, "all that was imported under this name");
  what->require_option(1);
  CLI::App *out =
      add("export", "write what trials taught to a file, without code of yours or paths",
          &ExperienceCommands::exportTo);
  out->add_option("file", file_, "the file")->required();
  out->add_flag("--with-source", withSource_, "with the changes of your code that were tried");
  CLI::App *in = add("import", "add what such a file has and you do not know yet",
                     &ExperienceCommands::import);
  in->add_option("file", file_, "the file")->required();
  in->add_option("--source", source_, "name to revoke it by (default: the file's name)");
}

Result<Answer> ExperienceCommands::run(const Invocation &call) const {
  KOPT_TRY(ExperienceBase base, openExperience());
  return (this->*chosen_)(base, call);
}

Result<Answer> ExperienceCommands::stats(ExperienceBase &base, const Invocation &call) const {
  KOPT_TRY(const std::int64_t now, base.last());
  KOPT_TRY(const std::vector<TechniqueOutcomes> all, base.outcomes(now, isEmulated_));
  Answer answer;
  for (const TechniqueOutcomes &each : all) {
    const Outcomes &sums = each.sums;
    const double right = double(sums.right), mean = sums.right ? sums.gain / right : 0;
    const double error =
        sums.right > 1 ? std::sqrt(std::max(0.0, sums.square / right - mean * mean) / (right - 1))
                       : 0;
    answer.results.push_back({{"technique", each.technique},
                              {"arch", each.arch},
                              {"state", each.state},
                              {"trials", sums.trials},
                              {"right", sums.right},
                              {"mean_log_gain", sums.right ? json(mean) : json()},
                              {"standard_error", sums.right > 1 ? json(error) : json()}});
    call.print("{:<20} {:<8} {:>12}, {:>4} right{}{}\n", each.technique, each.arch,
               counted(std::size_t(sums.trials), "trial", "trials"), sums.right,
               sums.right ? fmt::format(", {} over the parent", gainInWords(mean)) : "",
               each.state.empty() ? "" : ", in the state " + each.state);
  }
  if (all.empty())
    call.print("no trial has taught anything yet: 'kopt tune' adds its trials\n");
  return answer;
}

Result<Answer> ExperienceCommands::trials(ExperienceBase &base, const Invocation &call) const {
  KOPT_TRY(const std::vector<Remembered> rows, base.find(words_, std::size_t(number_)));
  Answer answer;
  for (const Remembered &row : rows) {
    answer.results.push_back(jsonOf(row));
    if (!call.json)
      printLine(row);
  }
  if (rows.empty())
    call.print("no trial has all of these words\n");
  return answer;
}

Result<Answer> ExperienceCommands::memo(ExperienceBase &base, const Invocation &call) const {
  KOPT_TRY(const std::int64_t now, base.last());
  KOPT_TRY(const std::vector<Remembered> rows, base.ofKernels(now, kernel_));
  Answer answer;
  for (const Memo &memo : memosOf(rows)) {
    answer.results.push_back(toJson(memo));
    call.print("{} ({}) on {}, {}\n  {}\n", memo.kernel, memo.program, memo.arch,
               counted(memo.trials, "trial", "trials"), join(memo.lines, "\n  "));
  }
  if (rows.empty())
    call.print("no kernel with a trial has this in its name\n");
  return answer;
}

Result<Answer> ExperienceCommands::patterns(ExperienceBase &base, const Invocation &call) const {
  KOPT_TRY(const std::vector<Pattern> all, base.patterns(isEmulated_));
  Answer answer;
  for (const Pattern &each : all) {
    answer.results.push_back(toJson(each));
    call.print("{:<20} gained on {} of {}{}, {} at best on average\n", each.technique, each.held,
               counted(std::size_t(each.kernels), "kernel", "kernels"),
               each.state.empty() ? "" : " in the state " + each.state, gainInWords(each.gain));
  }
  return answer;
}

/// The row whose id begins so.
static Result<Remembered> only(ExperienceBase &base, const std::string &id) {
  KOPT_TRY(std::vector<Remembered> rows, base.find({id}, 1000));
  std::erase_if(rows, [&](const Remembered &row) { return !row.id.starts_with(id); });
  if (rows.size() != 1)
    return makeError(ErrorCode::Usage,
                     fmt::format("{} with '{}'",
                                 rows.empty() ? "no trial's id begins" : "several ids begin", id),
                     "'kopt kb trials' lists them");
  return rows.front();
}

Result<Answer> ExperienceCommands::trial(ExperienceBase &base, const Invocation &call) const {
  KOPT_TRY(const Remembered row, only(base, id_));
  Answer answer;
  answer.results = json::array({jsonOf(row)});
  answer.results[0]["edits"] = row.edits ? toJson(*row.edits) : json();
  if (!call.json)
    printInFull(row);
  return answer;
}

Result<Answer> ExperienceCommands::revoke(ExperienceBase &base, const Invocation &call) const {
  Revocation revocation{Revocation::What::Run, run_};
  if (!source_.empty())
    revocation = {Revocation::What::Source, source_};
  if (!id_.empty()) {
    KOPT_TRY(const Remembered row, only(base, id_));
    revocation = {Revocation::What::Trial, row.id};
  }
  KOPT_TRY(const std::size_t hidden, base.revoke(revocation));
  call.print("{} revoked\n", counted(hidden, "trial is", "trials are"));
  Answer answer;
  answer.details = {{"revoked", hidden}};
  return answer;
}

Result<Answer> ExperienceCommands::exportTo(ExperienceBase &base, const Invocation &call) const {
  KOPT_TRY(const Exported exported, exportExperience(base, withSource_));
  KOPT_CHECK(writeFileAtomically(file_, exported.text));
  call.print("{}: {}{}\n", file_, counted(exported.rows, "trial", "trials"),
             withSource_ ? ", with changes of your code" : "");
  Answer answer;
  answer.details = {{"trials", exported.rows}};
  return answer;
}

Result<Answer> ExperienceCommands::import(ExperienceBase &base, const Invocation &call) const {
  const std::string source = withoutControls(
      validUtf8(source_.empty() ? std::filesystem::path(file_).stem().string() : source_));
  KOPT_TRY(const std::string text, readFile(file_));
  KOPT_TRY(const Imported imported, importExperience(base, text, file_, source));
  call.print("{}: {} new, {} known\n", source, imported.added, imported.known);
  Answer answer;
  answer.details = {{"source", source}, {"added", imported.added}, {"known", imported.known}};
  return answer;
}

} // namespace kopt
