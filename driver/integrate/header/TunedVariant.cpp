// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/header/TunedVariant.h"

#include "driver/integrate/compose/OtherUsers.h"
#include "driver/integrate/overlay/Lock.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

namespace fs = std::filesystem;

std::string nameOf(const SliceChunk &chunk) {
  static const std::set<ChunkRole> kNamed = {ChunkRole::Kernel, ChunkRole::Function,
                                             ChunkRole::Type, ChunkRole::Constant,
                                             ChunkRole::Macro};
  if (kNamed.contains(chunk.role))
    return fmt::format("the {} '{}'", toString(chunk.role), chunk.name);
  return chunk.name.empty() ? "the text" : fmt::format("'{}'", chunk.name);
}

class Collector {
public:
  Collector(const Win &win, const ExtractionResult &extraction, const fs::path &root)
      : win_(win), extraction_(extraction), hashes_(extraction.fileHashes), root_(root) {}

  Result<TunedVariant> collect() {
    KOPT_CHECK(addInstantiation(win_.subject->kernel, win_.subject->specialization));
    for (const OtherUser &user : otherUsers(win_, extraction_))
      KOPT_CHECK(addInstantiation(*user.kernel, *user.specialization));
    for (const SourceEdit &edit : win_.edits)
      KOPT_CHECK(addEdit(edit));
    made_.deviceOnly = isDeviceOnly();
    if (win_.candidate().options)
      KOPT_CHECK(addOptions(*win_.candidate().options));
    std::sort(made_.uses.begin(), made_.uses.end(), [](const TunedText &a, const TunedText &b) {
      return std::tie(a.file, a.begin, a.end) < std::tie(b.file, b.begin, b.end);
    });
    return std::move(made_);
  }

private:
  Status addInstantiation(const KernelSpec &kernel, const Specialization &specialization) {
    if (specialization.route != Route::Slice)
      KOPT_CHECK(addWhole(kernel.unit));
    hashes_.insert(kernel.projectFiles.begin(), kernel.projectFiles.end());
    for (const auto &[file, hash] : kernel.projectFiles)
      KOPT_CHECK(addWhole(file));
    for (const SliceChunk &chunk : specialization.chunks)
      if (chunk.role != ChunkRole::Instantiation && chunk.role != ChunkRole::Include)
        KOPT_CHECK(add(chunk.source, nameOf(chunk), false));
    for (const NamedConstant &constant : constantsInScope(kernel, specialization))
      KOPT_CHECK(add(constant.valueRange, fmt::format("the constant '{}'", constant.name), true));
    for (const LaunchSite &site : kernel.launches) {
      if (site.symbol != specialization.symbol)
        continue;
      for (const auto &[range, variable] :
           {std::pair(site.gridRange, site.gridVariable), {site.blockRange, site.blockVariable}})
        if (range && variable) {
          const std::uint64_t end = isChanged(*variable) ? range->end : variable->value.end;
          KOPT_CHECK(add({site.file, variable->value.begin, end},
                         "the variable that is launched with", true));
        }
      for (const auto &range : {site.gridRange, site.blockRange, site.sharedRange})
        if (range)
          KOPT_CHECK(add(*range, "the launch", true));
      KOPT_CHECK(addLine(site));
    }
    return {};
  }

  /// True if the win gives the variable another value, of others that must stay the same up to the
  /// launch.
  bool isChanged(const LaunchVariable &variable) const {
    return std::ranges::any_of(win_.edits, [&](const SourceEdit &edit) {
      return edit.range == variable.value &&
             std::ranges::any_of(variable.settled, [&](const std::string &name) {
               return edit.text.find(name) != edit.text.npos;
             });
    });
  }

  Result<const std::string *> textOf(const std::string &file) {
    auto known = texts_.find(file);
    if (known == texts_.end()) {
      KOPT_TRY(std::string text, readFile(file));
      const auto hash = hashes_.find(file);
      if (hash == hashes_.end() || hash->second != hashHex(text))
        return makeError(ErrorCode::StaleInput, file + " changed since it was tuned",
                         "run kopt tune again on the file as it is now", file);
      known = texts_.emplace(file, std::move(text)).first;
    }
    return &known->second;
  }

  std::string relative(const std::string &file) const {
    return fs::path(file).lexically_relative(root_).generic_string();
  }

  /// Adds a text that the variant depends on. With `lines`, extends it to whole lines, and adds the
  /// line before if these are empty.
  Status add(SourceRange range, const std::string &name, bool lines) {
    // Texts of the toolkit and of kopt itself are not the user's and do not count.
    if (range.file.empty() || !hashes_.contains(range.file))
      return {};
    KOPT_TRY(const std::string *text, textOf(range.file));
    if (range.end > text->size())
      return makeError(ErrorCode::Internal, "a range lies outside of " + range.file);
    if (lines) {
      const auto lineStart = [&](std::size_t at) {
        const std::size_t newline = at == 0 ? text->npos : text->rfind('\n', at - 1);
        return newline == text->npos ? 0 : newline + 1;
      };
      range.begin = lineStart(range.begin);
      range.end = std::min(text->find('\n', range.end), text->size());
      while (range.begin > 0 && text->find_first_not_of(" \t\r\n", range.begin) >=
                                    std::max(range.end, range.begin + 1))
        range.begin = lineStart(range.begin - 1);
    }
    if (range.begin == range.end)
      return {};
    const std::string file = relative(range.file);
    const bool known = std::any_of(made_.uses.begin(), made_.uses.end(), [&](const TunedText &use) {
      return use.file == file && use.begin <= range.begin && range.end <= use.end;
    });
    if (!known) {
      made_.uses.push_back({file, range.begin, range.end, name});
      made_.fileHashes[file] = hashHex(*text);
    }
    return {};
  }

  Status addWhole(const std::string &file) {
    if (!hashes_.contains(file))
      return {};
    KOPT_TRY(const std::string *text, textOf(file));
    return add({file, 0, text->size()}, overlay::kWholeFile, false);
  }

  /// Options are for all architectures of a build.
  Status addOptions(const CompilerOptions &options) {
    made_.deviceOnly = false;
    made_.options.emplace();
    for (const std::string &flag : options.flags())
      made_.options->push_back(replaceAll(flag, root_.string() + "/", "{project}/"));
    if (options.controls.empty() || relative(options.controls).starts_with(".."))
      return {};
    hashes_.emplace(options.controls, options.controlsHash);
    return addWhole(options.controls);
  }

  Status addLine(const LaunchSite &site) {
    if (!hashes_.contains(site.file))
      return {};
    KOPT_TRY(const std::string *text, textOf(site.file));
    std::size_t at = 0;
    for (unsigned line = 1; line < site.line && at < text->size(); ++line)
      at = std::min(text->find('\n', at), text->size() - 1) + 1;
    return add({site.file, std::min(at, text->size()), std::min(at, text->size())}, "the launch",
               true);
  }

  Status addEdit(const SourceEdit &edit) {
    KOPT_TRY(const std::string *text, textOf(edit.range.file));
    const std::string file = relative(edit.range.file);
    const auto isWithin = [&](const TunedText &use) {
      return use.file == file && use.begin <= edit.range.begin && edit.range.end <= use.end;
    };
    if (std::none_of(made_.uses.begin(), made_.uses.end(), isWithin))
      KOPT_CHECK(add(edit.range, "the text that the variant changes", true));
    if (std::none_of(made_.uses.begin(), made_.uses.end(), isWithin))
      return makeError(ErrorCode::Internal,
                       fmt::format("an edit of {} stands in an empty file", edit.range.file));
    if (text->compare(edit.range.begin, edit.range.end - edit.range.begin, edit.text) != 0)
      made_.edits.push_back({file, edit.range.begin, edit.range.end, edit.text});
    return {};
  }

  /// True if host code is the same with and without the win.
  bool isDeviceOnly() const {
    const Specialization &own = win_.subject->specialization;
    const auto isDeviceCode = [&](const SliceChunk &chunk) {
      if (chunk.role == ChunkRole::Kernel)
        return true;
      if (chunk.role != ChunkRole::Function)
        return false;
      const std::string &file = texts_.at(chunk.source.file);
      const std::string text =
          file.substr(chunk.source.begin, chunk.source.end - chunk.source.begin);
      return text.find("__device__") != text.npos && text.find("__host__") == text.npos &&
             text.find("constexpr") == text.npos && text.find("HOST") == text.npos;
    };
    return std::all_of(win_.edits.begin(), win_.edits.end(), [&](const SourceEdit &edit) {
      return std::any_of(own.chunks.begin(), own.chunks.end(), [&](const SliceChunk &chunk) {
        const SourceRange &range = chunk.source;
        // An edit before the chunk may belong to a macro or a constant.
        const bool within = range.file == edit.range.file && range.begin <= edit.range.begin &&
                            edit.range.end <= range.end && edit.range.end > range.begin;
        return within && texts_.contains(range.file) && isDeviceCode(chunk);
      });
    });
  }

  const Win &win_;
  const ExtractionResult &extraction_;
  std::map<std::string, std::string> hashes_; ///< of all files that may be used
  const fs::path root_;
  std::map<std::string, std::string> texts_; ///< by absolute path
  TunedVariant made_;
};

} // namespace

Result<TunedVariant> tunedVariant(const Win &win, const ExtractionResult &extraction,
                                  const fs::path &root, const std::string &device,
                                  const std::string &arch) {
  KOPT_TRY(TunedVariant made, Collector(win, extraction, root).collect());
  made.device = device;
  made.arch = arch;
  made.assurance = win.trial.assurance;
  return made;
}

} // namespace kopt
