// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/LlmPrompt.h"
#include "driver/diagnose/Contrast.h"
#include "driver/diagnose/RuleBook.h"
#include "driver/diagnose/Techniques.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/OtherScalars.h"
#include "knowledge/PromptFiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ranges>
#include <set>

namespace kopt {
namespace {

constexpr std::size_t kSkillBodies = 3;             ///< most skill documents quoted in full
constexpr std::size_t kContextLimit = 24u << 10;    ///< bytes of read-only chunks
constexpr std::size_t kDiagnosticsLimit = 8u << 10; ///< bytes of compiler diagnostics
constexpr std::size_t kHistoryLines = 40;           ///< most attempts listed, the newest
constexpr std::size_t kMostBreaches = 12;           ///< of a reply that are sent back

Result<std::string> promptFile(std::string_view name) {
  for (const auto &[path, text] : knowledge::prompts::kFiles)
    if (path == name)
      return std::string(text);
  return makeError(ErrorCode::Internal,
                   fmt::format("there is no prompt knowledge/prompts/{}", name));
}

/// The text as one line without backquotes, so that a quoted reason cannot close a fence or add
/// lines.
std::string quoted(std::string text, std::size_t limit) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == '`'; }, ' ');
  text = std::string(trim(text));
  return text.size() > limit ? text.substr(0, limit) + "…" : text;
}

/// The beginning of a long text, because the first diagnostic matters most.
std::string head(const std::string &text, std::size_t limit) {
  return text.size() > limit ? text.substr(0, limit) + "\n[the rest is left out]" : text;
}

std::string dims(const Dim3 &dim) { return fmt::format("({}, {}, {})", dim.x, dim.y, dim.z); }

std::string speedupText(const Speedup &speedup) {
  return fmt::format("{:.3f}x the baseline's speed (interval {:.3f} to {:.3f}{})", speedup.estimate,
                     speedup.low, speedup.high, speedup.modelled ? ", modelled, not measured" : "");
}

std::string deviceText(const DeviceInfo &device) {
  std::string text = fmt::format("{} ({})", device.name, device.arch);
  if (device.l2Bytes)
    text += fmt::format(", L2 {}", formatBytes(double(device.l2Bytes)));
  if (device.modelled)
    text += "; emulated: counters are exact, times come from a roofline model";
  return text;
}

std::string parametersText(const Specialization &specialization) {
  std::string text;
  for (const KernelParam &param : specialization.params)
    text += fmt::format("- {}: {}\n", param.name, param.type);
  return text.empty() ? "- none\n" : text;
}

/// The values that a launch is given, as in "n = 1000, epsilon = 1e-05". In launch expressions all
/// values are integers, so real ones come from the arguments.
std::string valuesText(const ProposalContext &context, const Launch &launch) {
  std::map<std::string, std::string> values;
  for (const auto &[name, value] : launch.bindings)
    values[name] = std::to_string(value);
  const DerivationSource source{context.problem.kernel, context.problem.specialization, nullptr};
  for (const auto &[name, value] : realsOf(source, launch))
    values[name] = formatNumber(value);
  std::vector<std::string> parts;
  for (const auto &[name, value] : values)
    parts.push_back(name + " = " + value);
  return join(parts, ", ");
}

/// Geometry, sizes and scalars of each launch with the candidate's changes; never the contents of
/// buffers.
Result<std::string> launchesText(const ProposalContext &context, const Candidate &base) {
  std::string text;
  for (const Launch &launch : context.problem.workload.launches) {
    KOPT_TRY(const Launch changed, applyToLaunch(context.problem.kernel, launch, base));
    text += fmt::format("- {} (weight {}): grid {}, block {}, dynamic shared memory {} bytes\n",
                        changed.name, formatNumber(changed.weight), dims(changed.grid),
                        dims(changed.block), changed.sharedBytes);
    for (const Buffer &buffer : changed.buffers)
      text += fmt::format("  - {}: {} bytes of {}{}\n", buffer.name, buffer.bytes, buffer.scalar,
                          buffer.readOnly ? ", only read" : "");
    const std::string values = valuesText(context, changed);
    if (!values.empty())
      text += "  - values: " + values + "\n";
  }
  const GeometryExpressions *site = context.problem.workload.launches.empty()
                                        ? nullptr
                                        : &context.problem.workload.launches.front().geometry;
  if (site)
    text +=
        fmt::format("- the launch site computes: grid ({}), block ({}), dynamic shared memory {}\n",
                    join({site->grid.begin(), site->grid.end()}, ", "),
                    join({site->block.begin(), site->block.end()}, ", "), site->sharedBytes);
  if (const Objective objective = context.problem.workload.objective; objective != Objective::Mean)
    text += fmt::format("\nWhat counts is {}.\n", inWords(objective));
  return text;
}

std::string toleranceText(const Tolerance &tolerance) {
  if (tolerance.policy == TolerancePolicy::Strict)
    return "bitwise equal";
  if (tolerance.policy == TolerancePolicy::User)
    return fmt::format("relative {}, absolute {}", formatNumber(tolerance.relative),
                       formatNumber(tolerance.absolute));
  return "as close to exact as the baseline, for the type";
}

std::string chunksText(const CodeTask &task) {
  std::string text;
  for (const auto &[label, content] : task.contract.chunks)
    text += fenced(content, "cuda chunk=" + label) + "\n";
  return text;
}

/// An emulated device has no registers to count.
std::string resourcesText(const ModuleInfo &module) {
  return fmt::format("{}{} bytes of shared and {} bytes of local memory",
                     module.registers > 0 ? fmt::format("{} registers, ", module.registers) : "",
                     module.sharedBytes, module.localBytes);
}

/// The newest trial of a change to the present version of which counters were read; null without
/// one.
const Trial *lastAttempt(const ProposalContext &context) {
  const Trial *last = nullptr;
  for (const Trial &trial : context.history.trials)
    if (!trial.counters.empty() && !trial.candidate.parents.empty() &&
        trial.candidate.parents.front() == context.parentTrial().candidateHash)
      last = &trial;
  return last;
}

/// Counters of the present version beside those of what it was made from and of an attempt.
std::string countersText(const ProposalContext &context, const Trial *attempt) {
  const Trial &present = context.parentTrial();
  std::vector<ContrastVersion> versions;
  const auto add = [&](const char *name, const Trial *trial) {
    if (trial && !trial->counters.empty())
      versions.push_back({name, trial->counters, trial->diagnosis});
  };
  add("present", &present);
  if (!present.candidate.parents.empty())
    add("parent", context.history.find(present.candidate.parents.front()));
  add("attempt", attempt);
  const std::string table = inText(contrastOf(versions));
  return table.empty()
             ? ""
             : fmt::format("\nCounters ({}){}:\n\n{}", present.counterSource,
                           versions.size() > 1 ? ", those that bind or differ" : "", fenced(table));
}

std::string hotLinesText(const HotLines &hot) {
  std::string text;
  for (const HotLine &line : hot.lines)
    if (!line.text.empty() && hot.instructions > 0)
      text +=
          fmt::format("{} of the instructions, {} of the sectors: {}\n",
                      formatPercent(line.instructions / hot.instructions),
                      formatPercent(hot.sectors > 0 ? line.sectors / hot.sectors : 0), line.text);
  return text.empty() ? "" : "\nHot lines:\n\n" + fenced(text);
}

std::string measurementsText(const ProposalContext &context, const Trial *attempt) {
  const Trial &trial = context.parentTrial();
  std::string text;
  if (trial.speedup)
    text += fmt::format("- {}\n", speedupText(*trial.speedup));
  for (const LaunchTiming &timing : trial.timings)
    text += fmt::format("- {}: {} ({} for the baseline), {} cache\n", timing.launch,
                        formatDuration(timing.candidateSeconds),
                        formatDuration(timing.baselineSeconds), toString(timing.cacheMode));
  if (trial.resources)
    text += "- " + resourcesText(*trial.resources) + "\n";
  text += countersText(context, attempt) + hotLinesText(trial.hotLines);
  return text.empty() ? "- none\n" : text;
}

std::string diagnosisText(const Diagnosis &diagnosis) {
  std::string text;
  if (!diagnosis.state.empty())
    text += fmt::format("State: {}: {}.\nBound: {}.\n\n", diagnosis.state, diagnosis.finding,
                        boundInWords(diagnosis));
  if (diagnosis.hits.empty())
    text += diagnosis.skipped.empty()
                ? "No rule fired.\n"
                : "No rule fired; some could not be judged for want of counters.\n";
  for (const RuleHit &hit : diagnosis.hits) {
    text += fmt::format("- {} ({}): {}. Usual remedy: {}.\n", hit.id, hit.severity, hit.finding,
                        hit.action);
    for (const auto &[metric, value] : hit.evidence)
      text += fmt::format("  - {} = {}\n", metric, formatNumber(value));
  }
  return text;
}

Result<std::string> skillsText(const Diagnosis &diagnosis) {
  KOPT_TRY(const RuleBook rules, RuleBook::load());
  std::string text;
  for (const std::string &skill : rules.skillsFor(diagnosis) | std::views::take(kSkillBodies))
    text +=
        fmt::format("## Document: {}\n\n{}\n", skill, fenced(RuleBook::skill(skill), "markdown"));
  return text;
}

std::string historyText(const ProposalContext &context) {
  std::string text;
  for (const std::string &line : context.problem.memo)
    text += "- in earlier runs, " + quoted(line, 300) + "\n";
  std::size_t number = 0, first = context.history.trials.size() > kHistoryLines
                                      ? context.history.trials.size() - kHistoryLines
                                      : 0;
  if (first)
    text += fmt::format("- the first {} attempts are left out\n", first);
  for (const Trial &trial : context.history.trials) {
    if (number++ < first || trial.candidate.proposer.empty())
      continue;
    text += fmt::format("- {}. [{}] {} ({}): {}", number, quoted(trial.candidate.proposer, 20),
                        quoted(trial.candidate.title, 120), quoted(trial.candidate.technique, 40),
                        toString(trial.verdict));
    if (trial.speedup)
      text += fmt::format(", {:.3f}x", trial.speedup->estimate);
    if (!trial.reason.empty())
      text += ". " + quoted(trial.reason, 300);
    text += "\n";
  }
  return text.empty() ? "Nothing has been tried yet.\n" : text;
}

std::string constantsText(const CodeTask &task, const ProposalContext &context,
                          const Candidate &base) {
  std::string text;
  auto add = [&](const std::string &name, const std::string &value) {
    if (!task.contract.constants.count(name))
      return;
    auto changed = base.constants.find(name);
    text += fmt::format("- {} = {}\n", name,
                        changed == base.constants.end() ? value : std::to_string(changed->second));
  };
  for (const NamedConstant &constant :
       constantsInScope(context.problem.kernel, context.problem.specialization))
    add(constant.name, std::to_string(constant.value));
  for (const TemplateArg &argument : context.problem.specialization.templateArgs)
    add(argument.name, argument.value);
  for (const CandidateTunable &tunable : base.tunables)
    text += fmt::format("- the tunable {} = {} of {}\n", tunable.name, tunable.value,
                        fmt::join(tunable.values, ", "));
  return text.empty() ? "- none\n" : text;
}

/// The part of a prompt that describes kernel, launches and measurements.
Result<std::string> situation(const ProposalContext &context, const CodeTask &task,
                              const Candidate &base, const Trial *attempt) {
  KOPT_TRY(const std::string launches, launchesText(context, base));
  std::string text = fmt::format(
      "# Kernel\n\n`{}` as `{}` on {}\n\nParameters:\n\n{}\nOutputs are compared: {}.\n",
      context.problem.kernel.name, context.problem.specialization.expression,
      deviceText(context.problem.device), parametersText(context.problem.specialization),
      toleranceText(context.problem.workload.tolerance));
  text += "\n## Launches\n\n" + launches;
  text += "\n## Constants you may change\n\n" + constantsText(task, context, base);
  text += "\n## Editable chunks\n\n" + chunksText(task);
  if (!task.context.empty())
    text += "\n## Read-only context\n\n" + fenced(task.context, "cuda");
  text += "\n# Measurements of the present version\n\n" + measurementsText(context, attempt);
  text += "\n# What the rules say of the present version\n\n" +
          diagnosisText(context.parentTrial().diagnosis);
  KOPT_TRY(const std::string skills, skillsText(context.parentTrial().diagnosis));
  if (!skills.empty())
    text += "\n# Knowledge that bears on it\n\n" + skills;
  return text;
}

std::string evidenceText(const Trial &failed) {
  std::string text;
  if (!failed.reason.empty())
    text += "Reason:\n\n" + fenced(failed.reason) + "\n";
  std::string findings;
  for (const Finding &finding : failed.findings)
    findings += fmt::format("{} [{}] {} {}\n", toString(finding.severity), finding.id,
                            finding.message, finding.where);
  if (!findings.empty())
    text += "Findings:\n\n" + fenced(head(findings, kDiagnosticsLimit)) + "\n";
  if (failed.verdict == Verdict::BuildFailed && !failed.buildLog.empty())
    text += "Diagnostics of the compiler:\n\n" + fenced(head(failed.buildLog, kDiagnosticsLimit)) +
            "\n";
  if (failed.speedup)
    text += fmt::format("Timing: {}\n", speedupText(*failed.speedup));
  for (const LaunchTiming &timing : failed.timings)
    text += fmt::format("- {}: {:.3f}x\n", timing.launch, timing.speedup.estimate);
  if (failed.resources)
    text += "Resources: " + resourcesText(*failed.resources) + "\n";
  return text;
}

/// True if the chunk declares a constant that the launch may also depend on. Such a constant is
/// changed by value, so that code and launch both follow it.
bool declaresConstant(const SliceChunk &chunk, const std::vector<NamedConstant> &constants) {
  return std::any_of(constants.begin(), constants.end(), [&](const NamedConstant &constant) {
    return contains(chunk.source, constant.valueRange) && chunk.role != ChunkRole::Kernel &&
           chunk.role != ChunkRole::Function;
  });
}

} // namespace

Result<std::string> fillTemplate(std::string_view text,
                                 const std::map<std::string, std::string> &values) {
  std::string filled;
  std::set<std::string> used;
  for (std::size_t at = 0;;) {
    std::size_t open = text.find("{{", at);
    filled += text.substr(at, open - at);
    if (open == std::string_view::npos)
      break;
    std::size_t close = text.find("}}", open);
    std::string name(close == std::string_view::npos ? text.substr(open)
                                                     : text.substr(open + 2, close - open - 2));
    auto value = values.find(name);
    if (close == std::string_view::npos || value == values.end())
      return makeError(ErrorCode::Internal,
                       fmt::format("a prompt asks for \"{}\", which has no value", name));
    used.insert(name);
    filled += value->second;
    at = close + 2;
  }
  for (const auto &[name, value] : values)
    if (!used.count(name))
      return makeError(ErrorCode::Internal, fmt::format("a prompt has no place for \"{}\"", name));
  return filled;
}

std::string fenced(std::string_view text, std::string_view info) {
  std::size_t longest = 2, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, info, text,
                     text.empty() || text.back() != '\n' ? "\n" : "", fence);
}

Result<CodeTask> makeCodeTask(const ProposalContext &context, const Candidate &base) {
  KOPT_TRY(const RenderedSlice rendered,
           renderSlice(context.problem.sliceText, context.problem.kernel,
                       context.problem.specialization, base));
  const std::vector<NamedConstant> constants =
      constantsInScope(context.problem.kernel, context.problem.specialization);
  CodeTask task;
  std::map<std::string, int> uses;
  for (std::size_t i = 0; i < context.problem.specialization.chunks.size(); ++i) {
    const SliceChunk &chunk = context.problem.specialization.chunks[i];
    const auto [begin, end] = rendered.chunks.at(i);
    std::string text = rendered.text.substr(begin, end - begin);
    if (chunk.editable && !declaresConstant(chunk, constants)) {
      std::string label = chunk.name.empty() ? toString(chunk.role) : chunk.name;
      if (int use = ++uses[label]; use > 1)
        label += "#" + std::to_string(use);
      task.contract.chunks[label] = std::move(text);
      task.chunkOfLabel[label] = i;
    } else if (!trim(text).empty() && chunk.role != ChunkRole::Instantiation) {
      task.context += text + (text.back() == '\n' ? "" : "\n");
    }
  }
  if (task.context.size() > kContextLimit)
    task.context =
        task.context.substr(task.context.size() - kContextLimit); // the part nearest to the kernel
  for (const NamedConstant &constant : constants)
    task.contract.constants.insert(constant.name);
  for (const TemplateArg &argument : context.problem.specialization.templateArgs)
    if (argument.integral)
      task.contract.constants.insert(argument.name);
  return task;
}

Result<std::string> systemPrompt() {
  KOPT_TRY(const std::string text, promptFile("system.md"));
  KOPT_TRY(const Techniques techniques, Techniques::load());
  std::vector<std::string> names;
  for (const Technique &technique : techniques.all())
    names.push_back(technique.id);
  return fillTemplate(
      text, {{"catalogue", RuleBook::skillCatalogue()}, {"techniques", join(names, ", ")}});
}

Result<std::string> coderPrompt(const ProposalContext &context, const CodeTask &task) {
  KOPT_TRY(const std::string text, promptFile("coder.md"));
  KOPT_TRY(const std::string about,
           situation(context, task, context.parent(), lastAttempt(context)));
  return fillTemplate(text, {{"situation", about}, {"history", fenced(historyText(context))}});
}

Result<std::string> fixerPrompt(const ProposalContext &context, const CodeTask &task,
                                const Trial &failed) {
  KOPT_TRY(const std::string text, promptFile("fixer.md"));
  KOPT_TRY(const std::string about, situation(context, task, failed.candidate, &failed));
  return fillTemplate(text, {{"situation", about},
                             {"history", fenced(historyText(context))},
                             {"title", quoted(failed.candidate.title, 120)},
                             {"technique", quoted(failed.candidate.technique, 40)},
                             {"rationale", fenced(failed.candidate.rationale)},
                             {"verdict", toString(failed.verdict)},
                             {"evidence", evidenceText(failed)}});
}

Result<std::string> retryPrompt(const CodeReply &reply) {
  KOPT_TRY(const std::string text, promptFile("retry.md"));
  std::string breaches, taken;
  for (const auto &[candidate, where, what] : reply.breaches | std::views::take(kMostBreaches))
    breaches += "- " + (candidate.empty() ? "" : "candidate " + quoted(candidate, 40) + ", ") +
                quoted(where, 120) + ": " + quoted(what, 600) + "\n";
  for (const ReplyCandidate &candidate : reply.candidates)
    taken += (taken.empty() ? "" : ", ") + quoted(candidate.id, 40);
  return fillTemplate(text, {{"breaches", breaches}, {"taken", taken.empty() ? "none" : taken}});
}

} // namespace kopt
