// SPDX-License-Identifier: Apache-2.0
#include "driver/source/candidate/CandidateFile.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/InPlaceBuild.h"
#include "driver/source/Includes.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/FileSystem.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <utility>

namespace kopt {
namespace {

namespace fs = std::filesystem;

std::string textOf(const std::string &slice, const SliceChunk &chunk) {
  return slice.substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin);
}

bool sameDeclaration(const SliceChunk &a, const SliceChunk &b) {
  return a.role == b.role && a.name == b.name;
}

/// True for chunks other than includes and instantiations.
bool isDeclaration(const SliceChunk &chunk) {
  return chunk.role != ChunkRole::Include && chunk.role != ChunkRole::Instantiation;
}

/// The namespaces around the chunk, outermost first.
std::vector<std::string> namespacesOf(const SliceChunk &chunk, const Specialization &from) {
  std::vector<std::string> spaces;
  if (chunk.role == ChunkRole::Macro)
    return spaces;
  const auto isType = [&](const std::string &name) {
    return std::ranges::any_of(from.chunks, [&](const SliceChunk &other) {
      return other.role == ChunkRole::Type && other.name == name;
    });
  };
  for (std::size_t begin = 0, end = chunk.name.find("::"); end != std::string::npos;
       begin = end + 2, end = chunk.name.find("::", begin)) {
    const std::string scope = chunk.name.substr(begin, end - begin);
    if (scope.empty() || scope.find('<') != scope.npos || isType(chunk.name.substr(0, end)))
      break; // a class: its member is defined where the class is visible
    spaces.push_back(scope);
  }
  return spaces;
}

/// The text, wrapped in those of its own namespaces that the place of insertion is not in.
std::string inItsNamespaces(const std::string &text, const std::vector<std::string> &own,
                            const std::vector<std::string> &ofPlace) {
  const auto [mine, theirs] = std::mismatch(own.begin(), own.end(), ofPlace.begin(), ofPlace.end());
  std::string opening, closing;
  for (auto space = mine; space != own.end(); ++space) {
    opening += space->starts_with("(anonymous") ? "namespace {\n" : "namespace " + *space + " {\n";
    closing += "\n}";
  }
  return opening + text + closing;
}

const KernelSpec *kernelOf(const TuneSubject &subject, const ExtractionResult &changed) {
  const auto kernel = std::ranges::find_if(
      changed.kernels, [&](const KernelSpec &other) { return other.name == subject.kernel.name; });
  return kernel == changed.kernels.end() ? nullptr : &*kernel;
}

/// For each chunk of `other`, the index of its counterpart in `own`: the one with the same text, or
/// otherwise the first remaining one with the same name. Nothing for new chunks, among them those
/// that are in the user's files already (`isThere`), such as another overload.
std::vector<std::optional<std::size_t>>
counterparts(const Specialization &own, const std::string &ownSlice, const Specialization &other,
             const std::string &otherSlice,
             const std::function<bool(const SliceChunk &, const std::string &)> &isThere) {
  std::vector<std::optional<std::size_t>> found(other.chunks.size());
  std::vector<bool> isTaken(own.chunks.size());
  for (const bool sameText : {true, false})
    for (std::size_t i = 0; i < other.chunks.size(); ++i) {
      const std::string text = textOf(otherSlice, other.chunks[i]);
      for (std::size_t k = 0; !found[i] && k < own.chunks.size(); ++k)
        if (!isTaken[k] && sameDeclaration(own.chunks[k], other.chunks[i]) &&
            (sameText ? textOf(ownSlice, own.chunks[k]) == text
                      : !isThere(other.chunks[i], text))) {
          found[i] = k;
          isTaken[k] = true;
        }
    }
  return found;
}

/// Adds what the candidate's file has and the baseline's slice has not to a candidate.
class Additions {
public:
  Additions(const TuneSubject &subject, const ExtractionResult &original,
            const ExtractionResult &changed, const KernelSpec &kernel, const Specialization &other,
            Candidate &candidate)
      : subject_(subject), original_(original), changed_(changed), kernel_(kernel), other_(other),
        included_(includesOf(original)), candidate_(candidate) {
    for (const SliceChunk &chunk : subject.kernel.unused)
      there_.push_back(chunk);
    // For an in-place build the subject has only the chunks that candidates may edit.
    if (subject.specialization.route == Route::InPlace)
      for (const KernelSpec &whole : original.kernels)
        for (const Specialization &specialization : whole.specializations)
          if (specialization.symbol == subject.specialization.symbol)
            there_.insert(there_.end(), specialization.chunks.begin(), specialization.chunks.end());
  }

  void addInclude(const SliceChunk &chunk, const std::string &text) {
    const std::vector<IncludeDirective> named = includesIn(text);
    // An include that the original has but its kernel does not need is not needed here either.
    if (named.size() == 1 && (chunk.needed || !included_.contains(named[0].header)))
      candidate_.includes.push_back({named[0].header, false});
  }

  /// Returns why the declaration is refused; empty if it is added.
  Result<std::string> addDeclaration(const SliceChunk &chunk, const std::string &text,
                                     std::size_t before) {
    KOPT_TRY(const Known there, find(chunk, text));
    const SliceChunk *known = there.chunk;
    std::string file = there.isSame ? known->source.file : std::string();
    if (known && file.empty() && chunk.role != ChunkRole::Function && !chunk.name.empty())
      return fmt::format(
          "the candidate's file changes {} '{}' ({}), which the original's kernel does not use but "
          "other code may; leave it as it is, and use another name for what the candidate needs",
          toString(chunk.role), chunk.name, placeOf(known->source));
    if (chunk.role == ChunkRole::Variable)
      if (std::string why = whyNoTable(chunk, known); !why.empty())
        return why;
    if (file.empty() && isOfNewHeader(chunk.source.file)) {
      file = chunk.source.file;
      includeNewHeaders();
    }
    const std::vector<std::string> place =
        namespacesOf(subject_.specialization.chunks[before], subject_.specialization);
    candidate_.declarations.push_back(
        {inItsNamespaces(text, namespacesOf(chunk, other_), place), before, std::move(file)});
    return std::string();
  }

  /// True if the user's files have the declaration, in these words, outside the baseline's slice.
  bool isThere(const SliceChunk &chunk, const std::string &text) const {
    const Result<Known> there = find(chunk, text);
    return there && there->isSame;
  }

private:
  struct Known {
    const SliceChunk *chunk = nullptr; ///< of the same name, if there is one
    bool isSame = false;               ///< it has the same text
  };

  Result<Known> find(const SliceChunk &chunk, const std::string &text) const {
    Known known;
    for (const SliceChunk &unused : there_) {
      if (!sameDeclaration(unused, chunk) || unused.source.file.empty())
        continue;
      KOPT_TRY(const std::string whole, readFile(unused.source.file));
      if (unused.source.end > whole.size())
        return makeError(ErrorCode::StaleInput, unused.source.file + " changed since it was read",
                         "run kopt again");
      known.chunk = &unused;
      known.isSame =
          whole.substr(unused.source.begin, unused.source.end - unused.source.begin) == text;
      if (known.isSame)
        break;
    }
    return known;
  }

  static std::string placeOf(const SourceRange &range) {
    const Result<std::string> text = readFile(range.file);
    const std::size_t at = text ? std::min<std::size_t>(range.begin, text->size()) : 0;
    return fmt::format(
        "{}:{}", range.file,
        text ? std::count(text->begin(), text->begin() + std::ptrdiff_t(at), '\n') + 1 : 1);
  }

  /// A variable that a candidate adds must be a table, with its values at its declaration. Returns
  /// why it is not one. The screen ensures that device code does not change it.
  std::string whyNoTable(const SliceChunk &chunk, const SliceChunk *known) const {
    for (const std::vector<OutsideUser> *users : {&chunk.users, known ? &known->users : nullptr})
      for (const OutsideUser &user : users ? *users : std::vector<OutsideUser>())
        if (user.host)
          return fmt::format("host code ('{}', {}:{}) uses variable '{}', but a candidate has no "
                             "host code: give the values where the variable is declared",
                             user.name, user.file, user.line, chunk.name);
    const std::size_t colons = chunk.name.rfind("::");
    const std::string name = chunk.name.substr(colons == std::string::npos ? 0 : colons + 2);
    for (const ConstantVariable &variable : other_.constantVariables)
      if (variable.name == name)
        return fmt::format("variable '{}' has no values where it is declared, but a candidate has "
                           "no host code that could set them",
                           chunk.name);
    return {};
  }

  /// True for a new header that the patched program finds with the same include directive.
  bool isOfNewHeader(const std::string &file) const {
    if (file == kernel_.unit || original_.fileHashes.contains(file))
      return false;
    std::vector<fs::path> folders =
        includeFolders(subject_.kernel.compileFlags, subject_.kernel.directory);
    folders.push_back(fs::path(subject_.kernel.unit).parent_path());
    return std::ranges::any_of(folders, [&](const fs::path &folder) {
      const fs::path below = fs::path(file).lexically_relative(folder);
      return !below.empty() && *below.begin() != "..";
    });
  }

  /// Adds the candidate's includes of headers that were not read for the original.
  void includeNewHeaders() {
    if (std::exchange(hasNewHeaders_, true))
      return;
    const Result<std::string> text = readFile(kernel_.unit);
    for (const IncludeDirective &include : includesIn(text ? *text : std::string())) {
      const std::string name =
          fs::path(include.header.substr(1, include.header.size() - 2)).filename().string();
      const bool isNew = std::ranges::any_of(changed_.fileHashes, [&](const auto &read) {
        return fs::path(read.first).filename() == name && isOfNewHeader(read.first);
      });
      if (isNew && !included_.contains(include.header))
        candidate_.includes.push_back({include.header, true});
    }
  }

  const TuneSubject &subject_;
  const ExtractionResult &original_, &changed_;
  const KernelSpec &kernel_; ///< the candidate's kernel; `other_` is its specialization
  const Specialization &other_;
  const std::set<std::string> included_;
  Candidate &candidate_;
  std::vector<SliceChunk> there_; ///< declarations in the user's files that are not in the slice
  bool hasNewHeaders_ = false;
};

} // namespace

Result<CandidateFile> readCandidateFile(Frontend &frontend, ExtractRequest request,
                                        const fs::path &original,
                                        const std::vector<std::string> &fallbackFlags) {
  CandidateFile read;
  read.path = request.files.front();
  request.prove = false;
  request.untrusted = true;
  const fs::path folder = fs::absolute(original).lexically_normal().parent_path(),
                 own = fs::absolute(read.path).lexically_normal().parent_path();
  if (folder != own) // resolve a copy's includes as in the original's place
    for (const std::string &flag : headersBeside(original.string()))
      request.flags.push_back(flag);
  for (const fs::path &header : headersNamedBy(fs::absolute(read.path), {folder, own}))
    request.readable.push_back(header);
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
                                        const ExtractionResult &original,
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
  Additions additions(subject, original, changed, *kernel, *other, candidate);
  const auto found =
      counterparts(own, subject.sliceText, *other, otherSlice,
                   [&](const SliceChunk &chunk, const std::string &text) {
                     return chunk.role == ChunkRole::Function && additions.isThere(chunk, text);
                   });
  // A new declaration goes before the chunk that it precedes in the candidate's file; chunks that
  // may be in any namespace do not count.
  const auto placeFrom = [&](std::size_t i) {
    for (; i < found.size(); ++i)
      if (found[i] && *found[i] <= own.kernelChunk && isDeclaration(own.chunks[*found[i]]) &&
          own.chunks[*found[i]].role != ChunkRole::Macro)
        return *found[i];
    return own.kernelChunk;
  };
  for (std::size_t i = 0; i < other->chunks.size(); ++i) {
    const SliceChunk &chunk = other->chunks[i];
    const std::string text = textOf(otherSlice, chunk);
    if (chunk.role == ChunkRole::Include && !found[i]) {
      additions.addInclude(chunk, text);
    } else if (isDeclaration(chunk) && !found[i]) {
      KOPT_TRY(made.refusal, additions.addDeclaration(chunk, text, placeFrom(i)));
    } else if (isDeclaration(chunk) && text != textOf(subject.sliceText, own.chunks[*found[i]])) {
      if (own.chunks[*found[i]].editable)
        candidate.chunks[*found[i]] = text;
      else
        made.refusal =
            fmt::format("the candidate's file changes {} '{}', which host code may use as well; "
                        "leave it as it is, and use another name for what the candidate needs",
                        toString(chunk.role), chunk.name);
    }
    if (!made.refusal.empty())
      return made;
  }
  // The launch is computed with the new values of constants; their text is already part of the
  // chunks.
  for (const NamedConstant &constant : constantsInScope(*kernel, *other))
    for (const NamedConstant &before : constantsInScope(subject.kernel, own))
      if (before.name == constant.name && before.value != constant.value)
        candidate.constants[constant.name] = constant.value;
  if (const auto refusal = takeLaunch(subject, *kernel, *other, candidate))
    made.refusal = *refusal;
  return made;
}

Result<FileCandidate> candidateFromFile(const TuneSubject &subject,
                                        const ExtractionResult &original,
                                        const CandidateFile &file) {
  KOPT_TRY(FileCandidate made, candidateFromFile(subject, original, file.extraction));
  made.candidate.launch.largeShared = file.largeShared.contains(subject.kernel.name);
  if (made.refusal.empty())
    made.refusal = file.hostChange;
  return made;
}

} // namespace kopt
