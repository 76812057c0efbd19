// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ListFlow.h"

#include "driver/source/KernelNames.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"
#include "driver/workload/DeclaredNames.h"

#include <algorithm>

namespace kopt {

Result<std::vector<KernelSpec>> listKernels(Services services, const SourceSettings &sources) {
  KOPT_TRY(const auto frontend, openFrontend(services));
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt"));
  ExtractRequest request = extractRequest(sources, scratch.path());
  request.prove = false;
  KOPT_TRY(ExtractionResult extraction, frontend->extract(request));
  for (const ExtractionNote &note : extraction.notes)
    if (note.kind == NoteKind::SeveralCommands)
      services.terminal.line("note: " + note.text);
  return std::move(extraction.kernels);
}

Result<std::vector<InitKernel>> initKernels(Services services, const InitSettings &settings) {
  KOPT_TRY(const auto frontend, openFrontend(services));
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt"));
  ExtractRequest request = extractRequest(settings.sources, scratch.path());
  request.prove = false;
  services.terminal.status("reading the sources");
  KOPT_TRY(const ExtractionResult extraction, frontend->extract(request));
  SelectionRequest selection = settings.selection;
  if (selection.globs.empty())
    selection.globs = {"*"};
  KOPT_TRY(const std::string note, checkKernelNames(extraction, selection.clauses));
  if (!note.empty())
    services.terminal.line("note: " + note);
  KOPT_TRY(const std::vector<KernelInstance> instances, selectInstances(extraction, selection));
  std::vector<InitKernel> kernels;
  for (const auto &[kernel, specialization] : instances) {
    const std::string name = settings.selection.globs.empty() || !specialization
                                 ? kernel->name
                                 : specialization->expression;
    // The clauses of a template apply to all of its specializations.
    if (!specialization || !kernel->defined ||
        std::ranges::any_of(kernels, [&](const InitKernel &one) { return one.name == name; }))
      continue;
    std::vector<TuneClause> clauses = kernel->clauses;
    for (const KernelClauses &declared : selection.clauses)
      if (namesKernel(declared.pattern, *kernel, specialization))
        clauses.insert(clauses.end(), declared.clauses.begin(), declared.clauses.end());
    KOPT_TRY(const TuneDeclaration known, parseTuneDeclaration(clauses));
    InitKernel made{name, {}, ""};
    for (const KernelParam &param : specialization->params)
      if (const auto why = whyNotDeclarable(*kernel, param))
        made.leftOut = why->what + "; " + why->hint;
    if (made.leftOut.empty())
      made.clauses = inferClauses(*kernel, *specialization, known);
    // What is only a comment is not written again each time.
    if (!std::ranges::all_of(made.clauses, &InferredClause::isDoubt) || !made.leftOut.empty())
      kernels.push_back(std::move(made));
  }
  services.terminal.clear();
  if (settings.dryRun || !hasClauses(kernels))
    return kernels;
  std::string text;
  if (isThere(settings.file)) {
    KOPT_TRY(text, readFile(settings.file));
  }
  for (const InitKernel &kernel : kernels)
    if (kernel.leftOut.empty() || text.find(kernel.table()) == text.npos)
      text += "\n" + kernel.table();
  KOPT_CHECK(writeFileAtomically(settings.file, text));
  return kernels;
}

std::string InitKernel::table() const {
  return leftOut.empty() ? clauseTable(name, clauses)
                         : "# " + replaceAll(leftOut, "\n", " ") + "\n";
}

bool hasClauses(const std::vector<InitKernel> &kernels) {
  return std::ranges::any_of(kernels, [](const InitKernel &one) { return !one.clauses.empty(); });
}

} // namespace kopt
