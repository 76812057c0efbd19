// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/RuleBook.h"
#include "driver/judge/Statistics.h"
#include "driver/search/model/PromptSections.h"
#include "driver/search/model/SectionTexts.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>
#include <regex>

namespace kopt {
namespace {

constexpr std::size_t kSkillBodies = 3; ///< most documents quoted in full

/// True if the chunk declares a constant that the launch may also depend on. Such a constant is
/// changed by value, so that code and launch both follow it.
bool declaresConstant(const SliceChunk &chunk, const std::vector<NamedConstant> &constants) {
  return std::any_of(constants.begin(), constants.end(), [&](const NamedConstant &constant) {
    return contains(chunk.source, constant.valueRange) && chunk.role != ChunkRole::Kernel &&
           chunk.role != ChunkRole::Function;
  });
}

std::string constantsText(const CodeTask &task, const SearchProblem &problem,
                          const Candidate &base) {
  std::map<std::string, std::string> values;
  for (const TemplateArg &argument : problem.specialization.templateArgs)
    values[argument.name] = argument.value;
  for (const NamedConstant &constant : constantsInScope(problem.kernel, problem.specialization))
    values[constant.name] = std::to_string(constant.value);
  for (const auto &[name, value] : base.constants)
    values[name] = std::to_string(value);
  std::string text;
  for (const auto &[name, value] : values)
    if (task.contract.constants.count(name))
      text += fmt::format("- {} = {}\n", name, value);
  for (const CandidateTunable &tunable : base.tunables)
    text += fmt::format("- the tunable {} = {} of {}\n", tunable.name, tunable.value,
                        fmt::join(tunable.values, ", "));
  return text;
}

/// What a declaration that a candidate adds is called: "scaleBody"; "added" where no function is
/// found in it.
std::string nameOfDeclaration(const std::string &text) {
  static const std::regex kCalled("([A-Za-z_][A-Za-z0-9_]*)\\s*\\(");
  for (std::sregex_iterator found(text.begin(), text.end(), kCalled), end; found != end; ++found)
    if (const std::string name = (*found)[1]; !name.starts_with("__"))
      return name;
  return "added";
}

/// The launches that the version makes otherwise than the original.
std::string changedLaunches(const ProposalContext &context, const Candidate &base) {
  std::string text;
  for (const Launch &launch : context.problem.workload.launches) {
    const Result<Launch> changed = applyToLaunch(context.problem.kernel, launch, base);
    const std::string geometry = changed ? geometryText(*changed) : inWords(changed.error());
    if (geometry != geometryText(launch))
      text += fmt::format("- {}: {}\n", launch.name, geometry);
  }
  return text;
}

} // namespace

Result<CodeTask> makeCodeTask(const ProposalContext &context, const Candidate &base) {
  const Specialization &specialization = context.problem.specialization;
  KOPT_TRY(const RenderedSlice rendered,
           renderSlice(context.problem.sliceText, context.problem.kernel, specialization, base));
  const std::vector<NamedConstant> constants =
      constantsInScope(context.problem.kernel, specialization);
  CodeTask task;
  std::map<std::string, int> uses;
  /// Takes what stands at `begin` of the rendered text as a chunk, and returns its label.
  const auto addEditable = [&](std::string label, std::size_t begin, const std::string &text) {
    if (int use = ++uses[label]; use > 1)
      label += "#" + std::to_string(use);
    task.places.resize(split(rendered.text.substr(0, begin), '\n').size() - 1);
    for (std::size_t line = 0, lines = split(text, '\n').size(); line < lines; ++line)
      task.places.push_back(fmt::format("{}:{}", label, line + 1));
    task.contract.chunks[label] = text;
    return label;
  };
  for (std::size_t i = 0; i < specialization.chunks.size(); ++i) {
    for (std::size_t added = 0; added < base.declarations.size(); ++added) {
      const CandidateDeclaration &declaration = base.declarations[added];
      if (declaration.before == i && declaration.file.empty())
        task.declarationOfLabel[addEditable(nameOfDeclaration(declaration.text),
                                            rendered.declarations.at(added).first,
                                            declaration.text)] = added;
    }
    const SliceChunk &chunk = specialization.chunks[i];
    const auto [begin, end] = rendered.chunks.at(i);
    const std::string text = rendered.text.substr(begin, end - begin);
    if (chunk.editable && !declaresConstant(chunk, constants)) {
      task.chunkOfLabel[addEditable(chunk.name.empty() ? toString(chunk.role) : chunk.name, begin,
                                    text)] = i;
    } else if (!trim(text).empty() && chunk.role != ChunkRole::Instantiation) {
      task.context += text + (text.back() == '\n' ? "" : "\n");
    }
  }
  for (const NamedConstant &constant : constants)
    task.contract.constants.insert(constant.name);
  for (const TemplateArg &argument : specialization.templateArgs)
    if (argument.integral)
      task.contract.constants.insert(argument.name);
  return task;
}

std::string kernelText(const ProposalContext &context, const CodeTask &task,
                       const Candidate &base) {
  std::string text;
  if (const std::string constants = constantsText(task, context.problem, base); !constants.empty())
    text += "Constants that you may change:\n\n" + fenced(constants) + "\n";
  if (const std::string launches = changedLaunches(context, base); !launches.empty())
    text += "Its launches, which differ from the original's:\n\n" + fenced(launches) + "\n";
  text += "Editable chunks:\n";
  for (const auto &[label, content] : task.contract.chunks)
    text += "\n" + fenced(content, "cuda chunk=" + label);
  return text;
}

std::string boundText(const Trial &trial) {
  const Diagnosis &diagnosis = trial.diagnosis;
  std::string text;
  if (!diagnosis.state.empty())
    text += fmt::format("State: {}: {}.\nBound: {}.\n", diagnosis.state, diagnosis.finding,
                        boundInWords(diagnosis));
  if (trial.speedup)
    text += fmt::format("- {} of the original\n", inWords(*trial.speedup));
  for (const LaunchTiming &timing : trial.timings)
    text += fmt::format("- {}: {} ({} for the original), {} cache\n", timing.launch,
                        formatDuration(timing.candidateSeconds),
                        formatDuration(timing.baselineSeconds), toString(timing.cacheMode));
  if (trial.resources)
    text += "- " + resourcesText(*trial.resources) + "\n";
  return text;
}

std::string rulesText(const Diagnosis &diagnosis) {
  std::string text;
  for (const RuleHit &hit : diagnosis.hits)
    text += fmt::format("- {} ({}): {}. Usual remedy: {}.\n", hit.id, hit.severity, hit.finding,
                        hit.action);
  return text;
}

Result<std::string> skillsText(const Diagnosis &diagnosis) {
  KOPT_TRY(const RuleBook rules, RuleBook::load());
  std::string text;
  for (const std::string &skill : rules.skillsFor(diagnosis) | std::views::take(kSkillBodies))
    text += fmt::format("## Document: {}\n\n{}\n", skill, RuleBook::skill(skill));
  return text;
}

std::string resourcesText(const ModuleInfo &module) {
  return fmt::format("{}{} bytes of shared and {} bytes of local memory",
                     module.registers > 0 ? fmt::format("{} registers, ", module.registers) : "",
                     module.sharedBytes, module.localBytes);
}

} // namespace kopt
