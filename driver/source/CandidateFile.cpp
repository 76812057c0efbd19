// SPDX-License-Identifier: Apache-2.0
#include "driver/source/CandidateFile.h"

#include "driver/source/RenderSlice.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kopt {
namespace {

std::string textOf(const std::string &slice, const SliceChunk &chunk) {
  return slice.substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin);
}

bool sameDeclaration(const SliceChunk &a, const SliceChunk &b) {
  return a.role == b.role && a.name == b.name;
}

/// What a candidate may bring along beside what it may change.
bool isAddition(const SliceChunk &chunk) {
  return chunk.editable || chunk.role == ChunkRole::Type || chunk.role == ChunkRole::Alias;
}

/// The chunk's text in the namespaces that it has in its file and the kernel, which it is put
/// before, has not.
std::string inItsNamespaces(const std::string &text, const SliceChunk &chunk,
                            const Specialization &from, const std::string &kernel) {
  if (chunk.role == ChunkRole::Macro)
    return text;
  const auto isType = [&](const std::string &name) {
    return std::any_of(from.chunks.begin(), from.chunks.end(), [&](const SliceChunk &other) {
      return other.role == ChunkRole::Type && other.name == name;
    });
  };
  std::string rest = chunk.name, opening, closing;
  for (std::size_t end = kernel.find("::"); end != kernel.npos; end = kernel.find("::", end + 2))
    if (chunk.name.starts_with(kernel.substr(0, end + 2)))
      rest = chunk.name.substr(end + 2);
  for (std::size_t end = rest.find("::"); end != rest.npos;
       rest = rest.substr(end + 2), end = rest.find("::")) {
    const std::string scope = rest.substr(0, end);
    if (scope.empty() || scope.find('<') != scope.npos ||
        isType(chunk.name.substr(0, chunk.name.size() - rest.size() + end)))
      break; // a member of a class: it is defined where the class is visible
    opening += scope.starts_with("(anonymous") ? "namespace {\n" : "namespace " + scope + " {\n";
    closing += "\n}";
  }
  return opening + text + closing;
}

/// The specialization that stands for the same one: by its symbol, else (a constant in its template
/// arguments may have changed) by its place.
const Specialization *counterpart(const TuneSubject &subject, const KernelSpec &changed) {
  for (const Specialization &specialization : changed.specializations)
    if (specialization.symbol == subject.specialization.symbol)
      return &specialization;
  for (std::size_t i = 0;
       i < subject.kernel.specializations.size() && i < changed.specializations.size(); ++i)
    if (subject.kernel.specializations[i].symbol == subject.specialization.symbol)
      return &changed.specializations[i];
  return nullptr;
}

const KernelSpec *kernelOf(const TuneSubject &subject, const ExtractionResult &changed) {
  const auto kernel =
      std::find_if(changed.kernels.begin(), changed.kernels.end(),
                   [&](const KernelSpec &other) { return other.name == subject.kernel.name; });
  return kernel == changed.kernels.end() ? nullptr : &*kernel;
}

} // namespace

std::set<std::string> includesOf(const ExtractionResult &original) {
  std::set<std::string> names;
  for (const auto &[file, hash] : original.fileHashes) {
    const Result<std::string> text = readFile(file);
    for (const std::string &line : split(text ? *text : std::string(), '\n')) {
      std::string_view rest = line;
      const auto skip = [&](std::string_view word) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
        const bool isThere = rest.starts_with(word);
        rest.remove_prefix(isThere ? word.size() : 0);
        return isThere;
      };
      if (!skip("#") || !skip("include") || !(skip("<") || skip("\"")))
        continue;
      names.emplace(rest.substr(0, rest.find_first_of(">\"")));
    }
  }
  return names;
}

std::string notTaken(const TuneSubject &subject, const ExtractionResult &changed,
                     const std::set<std::string> &included) {
  const KernelSpec *kernel = kernelOf(subject, changed);
  const Specialization *other = kernel ? counterpart(subject, *kernel) : nullptr;
  std::vector<std::string> left, unneeded;
  bool hasVariable = false;
  const std::vector<SliceChunk> &own = subject.specialization.chunks;
  for (const SliceChunk &chunk : other ? other->chunks : std::vector<SliceChunk>()) {
    if ((chunk.role != ChunkRole::Include && chunk.role != ChunkRole::Variable) ||
        std::any_of(own.begin(), own.end(),
                    [&](const SliceChunk &mine) { return sameDeclaration(mine, chunk); }))
      continue;
    hasVariable |= chunk.role == ChunkRole::Variable;
    if (chunk.role == ChunkRole::Variable)
      left.push_back(fmt::format("variable '{}'", chunk.name));
    else if (included.count(chunk.name))
      unneeded.push_back(fmt::format("<{}>", chunk.name));
    else
      left.push_back(fmt::format("#include <{}>", chunk.name));
  }
  std::string text;
  if (!left.empty())
    text += fmt::format("; a candidate is device code, so of its file {} {} not taken: have it in "
                        "the original first{}",
                        fmt::join(left, ", "), left.size() == 1 ? "was" : "were",
                        hasVariable ? ", or a table as a constexpr array within the kernel" : "");
  if (!unneeded.empty())
    text += fmt::format(
        "; the original's kernel needs nothing of {}, so a candidate has nothing of {} either",
        fmt::join(unneeded, ", "), unneeded.size() == 1 ? "it" : "them");
  return text;
}

Result<CandidateFile> readCandidateFile(Frontend &frontend, ExtractRequest request,
                                        const std::vector<std::string> &fallbackFlags) {
  CandidateFile read;
  read.path = request.files.front();
  request.prove = false;
  request.untrusted = true;
  Result<ExtractionResult> found = frontend.extract(request);
  if (!found && found.error().code == ErrorCode::BaselineFailed && !fallbackFlags.empty()) {
    request.flags.insert(request.flags.end(), fallbackFlags.begin(), fallbackFlags.end());
    found = frontend.extract(request);
  }
  if (found)
    read.extraction = std::move(*found);
  else if (found.error().code == ErrorCode::BaselineFailed)
    read.compileError = std::move(found.error());
  else
    return tl::unexpected(std::move(found.error()));
  return read;
}

Result<FileCandidate> candidateFromFile(const TuneSubject &subject,
                                        const ExtractionResult &changed) {
  const KernelSpec *kernel = kernelOf(subject, changed);
  const Specialization *other = kernel ? counterpart(subject, *kernel) : nullptr;
  if (!other || other->slice.empty())
    return makeError(ErrorCode::Usage,
                     fmt::format("the candidate's file has no kernel '{}'", subject.label),
                     "give the whole file, or its slice, with that kernel's code changed");
  KOPT_TRY(const std::string otherSlice, readFile(other->slice));

  FileCandidate made;
  Candidate &candidate = made.candidate;
  candidate.proposer = "person";
  candidate.technique = "person";
  candidate.title = "candidate";
  const Specialization &own = subject.specialization;
  std::string added;
  for (const SliceChunk &chunk : other->chunks) {
    if (!isAddition(chunk))
      continue;
    std::size_t index = 0;
    while (index < own.chunks.size() && !sameDeclaration(own.chunks[index], chunk))
      ++index;
    const std::string text = textOf(otherSlice, chunk);
    if (index == own.chunks.size())
      added += inItsNamespaces(text, chunk, *other, subject.kernel.name) + "\n\n";
    else if (text == textOf(subject.sliceText, own.chunks[index]))
      continue;
    else if (own.chunks[index].editable)
      candidate.chunks[index] = text;
    else {
      made.refusal = fmt::format(
          "the candidate's file has another {} '{}', which host code may use as well; leave it as "
          "it is, and give what the candidate needs another name",
          toString(chunk.role), chunk.name);
      return made;
    }
  }
  if (!added.empty()) {
    std::string &kernelText = candidate.chunks[own.kernelChunk];
    kernelText =
        added +
        (kernelText.empty() ? textOf(subject.sliceText, own.chunks[own.kernelChunk]) : kernelText);
  }
  // The launch is computed with the constants' new values; their text is part of the chunks
  // already.
  for (const NamedConstant &constant : constantsInScope(*kernel, *other))
    for (const NamedConstant &before : constantsInScope(subject.kernel, own))
      if (before.name == constant.name && before.value != constant.value)
        candidate.constants[constant.name] = constant.value;
  return made;
}

} // namespace kopt
