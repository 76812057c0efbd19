// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/TouchedKernels.h"

#include "driver/compare/versions/BaseCommands.h"
#include "driver/source/KernelNames.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

/// Everything that identifies a kernel.
struct Content {
  KernelInstance instance;
  std::string file;      ///< path under which both versions know it
  std::string slice;     ///< flags and a digest of the text
  std::string anonymous; ///< the same without the kernel's name
  std::string launches;
  bool isTaken = false;

  const std::string &symbol() const { return instance.specialization->symbol; }
  const std::string &name() const { return instance.kernel->name; }
};

/// The last part of a qualified name.
std::string plainName(const std::string &name) {
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

std::string launchesOf(const KernelSpec &kernel, const Specialization &specialization) {
  std::set<std::string> sites;
  for (const LaunchSite &site : kernel.launches)
    if (site.symbol == specialization.symbol)
      sites.insert(fmt::format("{} | {} | {}", join({site.grid.begin(), site.grid.end()}, ","),
                               join({site.block.begin(), site.block.end()}, ","),
                               site.sharedBytes));
  for (const NamedConstant &constant : kernel.constants)
    if (constant.usedByLaunch)
      sites.insert(fmt::format("{}={}", constant.name, constant.value));
  return join({sites.begin(), sites.end()}, "\n");
}

/// Flags differ where a file of options does. Commands of the base name no files of options.
std::string flagsOf(const KernelSpec &kernel) {
  std::string flags;
  for (const std::string &flag : kernel.compileFlags)
    if (flag.starts_with('-') && !namesPath(flag))
      flags += flag + "\n";
  return flags;
}

/// The text of a kernel: its slice, or its file if there is none, and the files that it is compiled
/// with, as far as the other version has them.
Result<std::string> textOf(const KernelInstance &instance, const ProjectVersion &version,
                           const std::set<std::string> &ofOther) {
  const auto &[kernel, specialization] = instance;
  std::string all;
  for (const auto &[file, hash] : kernel->projectFiles)
    if (const std::string name = version.name(file); ofOther.contains(name))
      all += "\"" + name + "\"\n" + readFile(file).value_or(hash) + "\n";
  if (specialization->slice.empty()) {
    KOPT_TRY(const std::string text, readFile(kernel->file));
    return all + text;
  }
  KOPT_TRY(const std::string text, readFile(specialization->slice));
  for (const SliceChunk &chunk : specialization->chunks)
    if (chunk.role != ChunkRole::Instantiation && chunk.needed && chunk.sliceEnd <= text.size())
      all += text.substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin) + "\n";
  return all;
}

std::set<std::string> projectFiles(const ProjectVersion &version) {
  std::set<std::string> names;
  for (const KernelSpec &kernel : version.extraction.kernels)
    for (const auto &[file, hash] : kernel.projectFiles)
      names.insert(version.name(file));
  return names;
}

Result<std::vector<Content>> contentsOf(Frontend &frontend, const ProjectVersion &version,
                                        const std::set<std::string> &ofOther) {
  std::vector<Content> contents;
  std::vector<NamedText> texts;
  for (const KernelInstance &instance : instancesIn(version.extraction)) {
    const auto &[kernel, specialization] = instance;
    if (!specialization || !kernel->defined)
      continue;
    KOPT_TRY(std::string text, textOf(instance, version, ofOther));
    texts.push_back({std::move(text), plainName(kernel->name)});
    contents.push_back(
        {instance, version.name(kernel->file), "", "", launchesOf(*kernel, *specialization)});
  }
  KOPT_TRY(const std::vector<CodeDigest> codes, frontend.codes(texts));
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::string flags = flagsOf(*contents[i].instance.kernel);
    contents[i].slice = flags + codes[i].code;
    contents[i].anonymous = flags + codes[i].nameless;
  }
  return contents;
}

bool sameParameters(const Specialization &a, const Specialization &b) {
  return std::ranges::equal(a.params, b.params, {}, &KernelParam::type, &KernelParam::type);
}

KernelChange changeOf(const Content &base, const Content &head) {
  const Specialization &before = *base.instance.specialization,
                       &now = *head.instance.specialization;
  if (base.name() != head.name())
    return KernelChange::Renamed;
  if (!sameParameters(before, now) ||
      (before.expression != now.expression && !isSameKernel(before.symbol, now.symbol)))
    return KernelChange::Signature;
  if (base.slice == head.slice && base.launches == head.launches)
    return KernelChange::Moved;
  return KernelChange::Modified;
}

/// Pairs the kernels of both versions.
class Matcher {
public:
  Matcher(std::vector<Content> base, std::vector<Content> head)
      : base_(std::move(base)), head_(std::move(head)), partner_(head_.size()) {}

  TouchedKernels match() {
    const auto sameFile = [](const Content &a, const Content &b) { return a.file == b.file; };
    const auto sameSymbol = [](const Content &a, const Content &b) {
      return a.symbol() == b.symbol() || isSameKernel(a.symbol(), b.symbol());
    };
    const auto sameName = [](const Content &a, const Content &b) { return a.name() == b.name(); };
    const auto sameExpression = [&](const Content &a, const Content &b) {
      return sameName(a, b) &&
             a.instance.specialization->expression == b.instance.specialization->expression;
    };
    const auto sameText = [](const Content &a, const Content &b) {
      return a.anonymous == b.anonymous &&
             sameParameters(*a.instance.specialization, *b.instance.specialization);
    };
    pair([&](const Content &a, const Content &b) { return sameSymbol(a, b) && sameFile(a, b); });
    pair(
        [&](const Content &a, const Content &b) { return sameSymbol(a, b) && a.slice == b.slice; });
    pair(sameSymbol);
    pair(
        [&](const Content &a, const Content &b) { return sameExpression(a, b) && sameFile(a, b); });
    pair(sameExpression);
    pair([&](const Content &a, const Content &b) { return sameName(a, b) && sameFile(a, b); },
         true);
    pair(sameName, true);
    pair(sameText);
    return result();
  }

private:
  /// Pairs each unpaired kernel of the head with the first unpaired one of the base for which
  /// `same` is true. `unambiguous`: only if each has exactly one possible partner.
  template <class Same> void pair(Same same, bool unambiguous = false) {
    for (std::size_t h = 0; h < head_.size(); ++h) {
      if (head_[h].isTaken)
        continue;
      std::vector<std::size_t> found;
      for (std::size_t b = 0; b < base_.size(); ++b)
        if (!base_[b].isTaken && same(base_[b], head_[h]))
          found.push_back(b);
      if (found.empty())
        continue;
      if (unambiguous &&
          (found.size() > 1 || std::ranges::count_if(head_, [&](const Content &other) {
                                 return !other.isTaken && same(base_[found.front()], other);
                               }) > 1))
        continue;
      partner_[h] = found.front();
      head_[h].isTaken = base_[found.front()].isTaken = true;
    }
  }

  TouchedKernels result() const {
    TouchedKernels touched;
    for (std::size_t h = 0; h < head_.size(); ++h) {
      const Content &head = head_[h];
      if (!partner_[h]) {
        touched.kernels.push_back({KernelChange::Added, std::nullopt, head.instance});
        continue;
      }
      const Content &base = base_[*partner_[h]];
      const KernelChange change = changeOf(base, head);
      if (change == KernelChange::Moved && base.file == head.file)
        ++touched.unchanged;
      else
        touched.kernels.push_back(
            {change, base.instance, head.instance, base.launches == head.launches});
    }
    for (const Content &base : base_)
      if (!base.isTaken)
        touched.kernels.push_back({KernelChange::Removed, base.instance, std::nullopt});
    return touched;
  }

  std::vector<Content> base_, head_;
  std::vector<std::optional<std::size_t>> partner_; ///< for each kernel of the head
};

} // namespace

Result<TouchedKernels> touchedKernels(Frontend &frontend, const ProjectVersion &base,
                                      const ProjectVersion &head) {
  KOPT_TRY(std::vector<Content> before, contentsOf(frontend, base, projectFiles(head)));
  KOPT_TRY(std::vector<Content> now, contentsOf(frontend, head, projectFiles(base)));
  return Matcher(std::move(before), std::move(now)).match();
}

} // namespace kopt
