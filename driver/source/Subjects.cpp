// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Subjects.h"

#include "driver/source/Expression.h"
#include "driver/source/InPlaceBuild.h"
#include "driver/source/KernelNames.h"
#include "driver/source/TuneClauses.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

std::string kernelList(const ExtractionResult &extraction) {
  std::vector<std::string> names;
  for (const KernelSpec &kernel : extraction.kernels)
    names.push_back(fmt::format("{} ({})", kernel.name, placeOf(kernel)));
  return join(names, ", ");
}

std::vector<TuneClause> extraClauses(const KernelSpec &kernel, const Specialization *specialization,
                                     const SelectionRequest &request) {
  std::vector<TuneClause> extra;
  for (const KernelClauses &declared : request.clauses)
    if (namesKernel(declared.pattern, kernel, specialization))
      extra.insert(extra.end(), declared.clauses.begin(), declared.clauses.end());
  return extra;
}

bool isSelected(const KernelSpec &kernel, const Specialization *specialization,
                const SelectionRequest &request) {
  if (request.globs.empty())
    return kernel.annotated || !extraClauses(kernel, specialization, request).empty();
  return std::any_of(request.globs.begin(), request.globs.end(), [&](const std::string &glob) {
    return namesKernel(glob, kernel, specialization);
  });
}

/// All names that a clause may give a value: parameters, and names that the launch sites, the
/// constants and the other clauses use.
std::set<std::string> namesOf(const TuneDeclaration &declaration, const KernelSpec &kernel,
                              const Specialization &specialization) {
  std::set<std::string> names;
  const auto addNamesIn = [&](const std::string &text) {
    if (const auto found = namesIn(text))
      names.insert(found->begin(), found->end());
  };
  for (const KernelParam &param : specialization.params)
    names.insert(param.name);
  for (const ConstantVariable &variable : specialization.constantVariables)
    names.insert(variable.name);
  for (const NamedConstant &constant : kernel.constants)
    names.insert(constant.name);
  for (const TemplateArg &argument : specialization.templateArgs)
    names.insert(argument.name);
  for (const LaunchSite &site : kernel.launches) {
    names.insert(site.variables.begin(), site.variables.end());
    for (const auto &texts : {site.grid, site.block})
      std::ranges::for_each(texts, addNamesIn);
    std::ranges::for_each(site.args, addNamesIn);
    std::ranges::for_each(site.values, addNamesIn);
    for (const PointerOrigin &origin : site.pointers)
      addNamesIn(origin.bytes);
    addNamesIn(site.sharedBytes);
  }
  for (const auto *texts : {&declaration.requirements, &declaration.block, &declaration.grid})
    std::ranges::for_each(*texts, addNamesIn);
  for (const auto *texts : {&declaration.arguments, &declaration.extents})
    for (const auto &[name, text] : *texts)
      addNamesIn(text);
  for (const auto &[name, bounds] : declaration.fillBounds)
    std::ranges::for_each(bounds, addNamesIn);
  for (const auto *lists : {&declaration.fillValues, &declaration.argumentMembers})
    for (const auto &[name, values] : *lists)
      std::ranges::for_each(values, addNamesIn);
  return names;
}

/// Refuses clauses for unknown names, which would silently have no effect.
Status checkNames(const std::vector<TuneClause> &clauses, const TuneDeclaration &declaration,
                  const KernelSpec &kernel, const Specialization &specialization) {
  std::vector<std::string> buffers, structs;
  for (const KernelParam &param : specialization.params) {
    if (param.kind == ParamKind::Pointer)
      buffers.push_back(param.name);
    if (!param.members.empty())
      structs.push_back(param.name);
  }
  for (const ConstantVariable &variable : specialization.constantVariables)
    buffers.push_back(variable.name);
  const std::set<std::string> all = namesOf(declaration, kernel, specialization);
  const std::vector<std::string> values(all.begin(), all.end());
  for (const TuneClause &clause : clauses) {
    KOPT_TRY(const TuneDeclaration own, parseTuneDeclaration({clause}));
    const auto check = [&](const char *keyword, const std::string &name,
                           const std::vector<std::string> &known, const char *what) -> Status {
      if (std::ranges::find(known, name) != known.end())
        return {};
      const std::string guess = didYouMean(name, known);
      const std::string list = "known names: " + join(known, ", ");
      return makeError(ErrorCode::Usage,
                       fmt::format("{} {}: kernel '{}' has no {} of that name", keyword, name,
                                   kernel.name, what),
                       guess.empty() ? (known.empty() ? "" : list) : guess, placeOf(clause));
    };
    constexpr const char *kPointer = "pointer parameter", *kValue = "parameter or launch variable";
    for (const auto &[name, extent] : own.extents)
      KOPT_CHECK(check("extent", name, buffers, kPointer));
    for (const auto &[name, fill] : own.fills)
      KOPT_CHECK(check("fill", name, buffers, kPointer));
    for (const auto &[name, value] : own.arguments)
      KOPT_CHECK(check("arg", name, values, kValue));
    for (const auto &[name, members] : own.argumentMembers)
      KOPT_CHECK(check("arg", name, structs, "struct or vector parameter"));
    for (const DeclaredLaunch &launch : own.launches)
      for (const auto &[name, value] : launch.arguments)
        KOPT_CHECK(check(("launch " + launch.name + ":").c_str(), name, values, kValue));
  }
  return {};
}

/// Makes a subject with the text that candidates change: the proven slice, or the whole file if
/// there is none.
Result<TuneSubject> subjectOf(const ExtractionResult &extraction, const KernelSpec &kernel,
                              const Specialization &specialization,
                              const TuneDeclaration &declaration) {
  TuneSubject subject{{kernel, specialization, ""}, declaration, specialization.expression};
  // What is kept of a slice, from trials to compiled code, is found again by its text. So the text
  // says which versions of other files it is compiled with.
  std::string readings;
  for (const auto &[file, hash] : filesBehind(extraction, kernel, specialization))
    if (specialization.slice.empty() || kernel.projectFiles.contains(file))
      readings += fmt::format("\n// reads {} {}", replaceAll(file, "\n", " "), hash);
  readings += readings.empty() ? "" : "\n";
  if (!specialization.slice.empty()) {
    KOPT_TRY(subject.sliceText, readFile(specialization.slice));
    subject.sliceText += readings;
    return subject;
  }
  KOPT_TRY(InPlaceSource inPlace, editInPlace(kernel, specialization, extraction.fileHashes));
  subject.sliceText = std::move(inPlace.text) + readings;
  subject.specialization = std::move(inPlace.specialization);
  for (Specialization &known : subject.kernel.specializations)
    if (known.symbol == specialization.symbol)
      known = subject.specialization;
  subject.kernel.compileFlags = std::move(inPlace.compileFlags);
  return subject;
}

} // namespace

std::map<std::string, std::string> macrosOfFlags(const std::vector<std::string> &flags) {
  std::map<std::string, std::string> macros;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    std::string list;
    if ((flags[i] == "-D" || flags[i] == "--define-macro") && i + 1 < flags.size())
      list = flags[++i];
    else if (flags[i].starts_with("--define-macro="))
      list = flags[i].substr(flags[i].find('=') + 1);
    else if (flags[i].starts_with("-D"))
      list = flags[i].substr(2);
    for (const std::string &macro : split(list, ','))
      if (const auto equals = macro.find('='); equals != macro.npos)
        macros[macro.substr(0, equals)] = macro.substr(equals + 1);
  }
  return macros;
}

Status checkTunables(const TuneDeclaration &declaration, const KernelSpec &kernel,
                     const Specialization &specialization) {
  std::set<std::string> known;
  for (const NamedConstant &constant : kernel.constants)
    known.insert(constant.name);
  for (const TemplateArg &argument : specialization.templateArgs) {
    // An argument that is a named constant is tuned under the constant's name, because the launch
    // depends on that name.
    const bool named =
        argument.range &&
        std::any_of(kernel.constants.begin(), kernel.constants.end(), [&](const auto &c) {
          return c.valueRange.file == argument.range->file &&
                 c.valueRange.begin == argument.range->begin;
        });
    if (argument.integral && !named)
      known.insert(argument.name);
  }
  std::string list;
  for (const std::string &name : known)
    list += (list.empty() ? "" : ", ") + name;
  const auto ofFlags = macrosOfFlags(kernel.compileFlags);
  for (const TunableParam &param : declaration.params)
    if (const auto macro = ofFlags.find(param.name);
        !known.contains(param.name) && macro != ofFlags.end())
      return makeError(
          ErrorCode::Usage,
          fmt::format(
              "tunable '{}' is a macro of the compiler's flags (-D{}={}), which no patch of "
              "the source can change",
              param.name, param.name, macro->second),
          fmt::format("define it in the source, as in 'constexpr int {} = {};', and leave it out "
                      "of the flags",
                      param.name, macro->second),
          placeOf(param.clause));
    else if (!known.contains(param.name))
      return makeError(ErrorCode::Usage,
                       fmt::format("tunable '{}' is neither a named constant nor a template "
                                   "argument that kernel '{}' or "
                                   "its launch depends on",
                                   param.name, kernel.name),
                       list.empty() ? "make it a constexpr, a macro or a template argument"
                                    : "known names: " + list,
                       placeOf(param.clause));
  return {};
}

std::map<std::string, std::string> filesBehind(const ExtractionResult &extraction,
                                               const KernelSpec &kernel,
                                               const Specialization &specialization) {
  std::map<std::string, std::string> files = kernel.projectFiles;
  if (specialization.route != Route::Slice)
    files.insert(extraction.fileHashes.begin(), extraction.fileHashes.end());
  for (const SliceChunk &chunk : specialization.chunks)
    if (const auto known = extraction.fileHashes.find(chunk.source.file);
        known != extraction.fileHashes.end())
      files.insert(*known);
  return files;
}

std::vector<KernelInstance> instancesIn(const ExtractionResult &extraction) {
  std::vector<KernelInstance> all;
  for (const KernelSpec &kernel : extraction.kernels) {
    if (kernel.specializations.empty())
      all.push_back({&kernel, nullptr});
    for (const Specialization &specialization : kernel.specializations)
      all.push_back({&kernel, &specialization});
  }
  return all;
}

Result<std::string> checkKernelNames(const ExtractionResult &extraction,
                                     const std::vector<KernelClauses> &clauses) {
  std::set<std::string> matched;
  std::vector<std::string> unnamed;
  for (const auto &[kernel, specialization] : instancesIn(extraction)) {
    bool isNamed = false;
    for (const KernelClauses &declared : clauses)
      if (namesKernel(declared.pattern, *kernel, specialization)) {
        matched.insert(declared.pattern);
        isNamed = true;
      }
    if (!isNamed)
      unnamed.push_back(kernel->name);
  }
  std::string unknown;
  for (const auto &[pattern, own, place] : clauses) {
    const std::string guess = didYouMean(pattern.substr(0, pattern.find('<')), unnamed);
    if (matched.contains(pattern))
      continue;
    if (!guess.empty())
      return makeError(ErrorCode::Usage, fmt::format("no kernel is named '{}'", pattern), guess,
                       place);
    unknown += unknown.empty() ? place + ": these files have no kernel named " : " or ";
    unknown += "'" + pattern + "'";
  }
  return unknown.empty() ? unknown : unknown + "; the kernels are: " + kernelList(extraction);
}

bool selectsKernels(const ExtractionResult &extraction, const SelectionRequest &request) {
  return !request.globs.empty() || request.symbols ||
         std::ranges::any_of(instancesIn(extraction), [&](const KernelInstance &instance) {
           return isSelected(*instance.kernel, instance.specialization, request);
         });
}

Result<std::vector<KernelInstance>> selectInstances(const ExtractionResult &extraction,
                                                    const SelectionRequest &request) {
  if (extraction.kernels.empty())
    return makeError(ErrorCode::Usage, "no CUDA kernel was found in the given files",
                     "give the .cu files that define or launch the kernels");
  const std::vector<KernelInstance> all = instancesIn(extraction);
  std::vector<KernelInstance> chosen;
  if (request.symbols) {
    for (const std::string &symbol : *request.symbols) {
      std::vector<KernelInstance> exact, alike;
      for (const KernelInstance &instance : all) {
        if (!instance.specialization)
          continue;
        if (instance.specialization->symbol == symbol)
          exact.push_back(instance);
        else if (isSameKernel(instance.specialization->symbol, symbol))
          alike.push_back(instance);
      }
      const std::vector<KernelInstance> &found = exact.empty() ? alike : exact;
      chosen.insert(chosen.end(), found.begin(), found.end());
    }
    return chosen;
  }
  std::vector<std::string> names;
  for (const KernelSpec &kernel : extraction.kernels)
    names.push_back(kernel.name);
  for (const std::string &glob : request.globs) {
    const bool any = std::any_of(all.begin(), all.end(), [&](const KernelInstance &instance) {
      return namesKernel(glob, *instance.kernel, instance.specialization);
    });
    if (!any) {
      const std::string guess = didYouMean(glob, names);
      return makeError(ErrorCode::Usage, fmt::format("no kernel is named '{}'", glob),
                       fmt::format("{}{}the kernels are: {}", guess, guess.empty() ? "" : " ",
                                   kernelList(extraction)));
    }
  }
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen),
               [&](const KernelInstance &instance) {
                 return isSelected(*instance.kernel, instance.specialization, request);
               });
  if (!chosen.empty())
    return chosen;
  return makeError(
      ErrorCode::Usage, "no kernel is marked for tuning",
      fmt::format("mark one with KOPT_TUNE(...) or name it with --kernel; the kernels are: {}",
                  kernelList(extraction)),
      extraction.kernels.front().file);
}

Result<TuneSubject> makeSubject(const ExtractionResult &extraction, const KernelInstance &instance,
                                const SelectionRequest &request) {
  const auto &[kernel, specialization] = instance;
  std::vector<TuneClause> clauses = kernel->clauses;
  const std::vector<TuneClause> extra = extraClauses(*kernel, specialization, request);
  clauses.insert(clauses.end(), extra.begin(), extra.end());
  KOPT_TRY(const TuneDeclaration declaration, parseTuneDeclaration(clauses));
  if (!specialization)
    return makeError(
        ErrorCode::BaselineFailed,
        fmt::format("kernel '{}' is a template that nothing in the given files launches",
                    kernel->name),
        "give the file that launches it too", placeOf(*kernel));
  KOPT_CHECK(checkTunables(declaration, *kernel, *specialization));
  // Clauses of a glob apply to several kernels, which may have other parameters, so they are not
  // checked.
  std::vector<TuneClause> own = kernel->clauses;
  for (const KernelClauses &declared : request.clauses)
    if (declared.pattern.find_first_of("*?[") == std::string::npos &&
        namesKernel(declared.pattern, *kernel, specialization))
      own.insert(own.end(), declared.clauses.begin(), declared.clauses.end());
  KOPT_CHECK(checkNames(own, declaration, *kernel, *specialization));
  KOPT_TRY(TuneSubject subject, subjectOf(extraction, *kernel, *specialization, declaration));
  subject.kernel.clauses = std::move(clauses); // errors name their places
  return subject;
}

Result<std::vector<TuneSubject>> selectSubjects(const ExtractionResult &extraction,
                                                const SelectionRequest &request) {
  KOPT_TRY(const std::vector<KernelInstance> chosen, selectInstances(extraction, request));
  std::vector<TuneSubject> subjects;
  for (const KernelInstance &instance : chosen) {
    KOPT_TRY(TuneSubject subject, makeSubject(extraction, instance, request));
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

} // namespace kopt
