// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/header/HeaderFiles.h"

#include "driver/integrate/header/FolderSwap.h"
#include "driver/judge/Statistics.h"
#include "driver/model/Version.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"
#include "headermode/HeaderModeFiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <utility>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using overlay::Edit;
using overlay::Entry;
using overlay::Use;

constexpr const char *kLockName = "kopt.lock";

/// "ns::stencil<float, 4>" as "ns_stencil.cuh".
std::string variantsName(const std::string &label) {
  std::string name = label.substr(0, label.find('<'));
  for (std::size_t at = name.find("::"); at != name.npos; at = name.find("::"))
    name.replace(at, 2, "_");
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; },
      '_');
  return name + ".cuh";
}

class HeaderWriter {
public:
  HeaderWriter(const SessionRecord &session, const HeaderRequest &request)
      : session_(session), request_(request), project_(request.folder.parent_path()) {}

  Result<HeaderChange> write(const std::vector<const SessionWin *> &wins) {
    KOPT_TRY(lock_, lockIn(request_.folder));
    std::vector<Entry> fresh;
    for (const SessionWin *win : wins) {
      KOPT_TRY(Entry entry, entryOf(*win));
      fresh.push_back(std::move(entry));
    }
    for (const Entry &entry : fresh)
      removeReplaced(entry);
    for (Entry &entry : fresh) {
      written_.insert(entry.variants);
      lock_.entries.push_back(std::move(entry));
    }
    std::ranges::stable_sort(lock_.entries, {}, [](const Entry &entry) {
      return std::tie(entry.place, entry.kernel, entry.symbol, entry.archs);
    });
    KOPT_CHECK(render());
    return finish();
  }

private:
  /// A file of the session; null if it cannot be read.
  const std::string *textOf(const std::string &file) {
    return sources_.read((fs::path(session_.root) / file).string());
  }

  /// A path of the session in the form that the lock uses.
  std::string lockPath(const std::string &file) const {
    const fs::path path = (fs::path(session_.root) / file).lexically_normal();
    if (!request_.buildFolder.empty()) {
      const fs::path built = path.lexically_relative(request_.buildFolder);
      if (!built.empty() && *built.begin() != "..")
        return "build:" + built.generic_string();
    }
    return path.lexically_relative(project_).generic_string();
  }

  /// The place of a win, "src/k.cu:12", with the path in the form that the lock uses.
  std::string placeOf(const SessionWin &win) const {
    const std::size_t colon = win.place.rfind(':');
    const fs::path file = win.place.substr(0, colon);
    if (!file.is_absolute() || colon == win.place.npos)
      return win.place;
    return lockPath(file.lexically_relative(session_.root).generic_string()) +
           win.place.substr(colon);
  }

  Result<Entry> entryOf(const SessionWin &win) {
    if (!win.variant)
      return makeError(
          ErrorCode::Usage,
          fmt::format("the win of '{}' was recorded by a kopt without header mode", win.kernel),
          "run kopt tune again");
    const TunedVariant &variant = *win.variant;
    for (const auto &[file, hash] : variant.fileHashes)
      if (const std::string *text = textOf(file); !text || hashHex(*text) != hash)
        return makeError(
            ErrorCode::StaleInput,
            fmt::format("{} changed since it was tuned, so what was measured may no longer hold",
                        file),
            "run kopt tune again", (fs::path(session_.root) / file).string());
    const Speedup &speedup = win.program ? win.program->speedup : win.isolated;
    Entry entry;
    entry.kernel = win.kernel;
    entry.symbol = win.symbol;
    entry.place = placeOf(win);
    entry.title = win.title;
    entry.state = toString(win.state);
    entry.reason = win.reason;
    entry.variants = variantsName(win.kernel);
    entry.device = variant.device;
    entry.assurance = toString(variant.assurance.level);
    entry.run = win.runName;
    entry.session = session_.name;
    entry.tunedUtc = session_.startedUtc;
    entry.kopt = koptVersion();
    entry.archs = request_.archs.empty() ? std::vector{variant.arch} : request_.archs;
    for (const AssuranceGap &gap : variant.assurance.gaps)
      entry.gaps.push_back(gap.what);
    entry.deviceOnly = variant.deviceOnly;
    entry.options = variant.options.value_or(std::vector<std::string>());
    entry.inProgram = win.program.has_value();
    entry.modelled = speedup.modelled;
    entry.speedup = speedup.estimate;
    entry.low = speedup.low;
    entry.high = speedup.high;
    for (const TunedText &use : variant.uses) {
      const std::string &text = *textOf(use.file);
      entry.uses.push_back(
          {lockPath(use.file), use.begin, use.end, overlay::lineAt(text, use.begin), use.name,
           overlay::contentHash(std::string_view(text).substr(use.begin, use.end - use.begin))});
    }
    for (const TunedEdit &edit : variant.edits) {
      KOPT_TRY(Edit made, editOf(edit, variant));
      entry.edits.push_back(std::move(made));
    }
    return entry;
  }

  Result<Edit> editOf(const TunedEdit &edit, const TunedVariant &variant) {
    Edit made;
    made.use = variant.uses.size();
    for (std::size_t i = 0; i < variant.uses.size(); ++i) {
      const TunedText &one = variant.uses[i];
      if (one.file == edit.file && one.begin <= edit.begin && edit.end <= one.end &&
          (made.use == variant.uses.size() ||
           one.end - one.begin < variant.uses[made.use].end - variant.uses[made.use].begin))
        made.use = i;
    }
    if (made.use == variant.uses.size())
      return makeError(ErrorCode::Internal, "an edit belongs to no text of its kernel");
    made.begin = edit.begin;
    made.end = edit.end;
    made.hash = overlay::contentHash(edit.text);
    made.text = edit.text;
    made.was = textOf(edit.file)->substr(edit.begin, edit.end - edit.begin);
    if ((made.text + made.was).find('\n') != std::string::npos) {
      made.section = made.hash.substr(0, 12);
      sections_[made.section] = std::exchange(made.text, {});
      made.was.clear();
    }
    return made;
  }

  static bool sharesArch(const Entry &a, const Entry &b) {
    return std::ranges::any_of(a.archs, [&](const std::string &arch) {
      return arch == "all" || std::ranges::any_of(b.archs, [&](const std::string &other) {
               return other == "all" || other == arch;
             });
    });
  }

  /// True if `editor` changes text that `other` was judged with, and `other` does not make the same
  /// change.
  static bool disturbs(const Entry &editor, const Entry &other) {
    return std::ranges::any_of(editor.edits, [&](const Edit &edit) {
      const std::string &file = editor.uses[edit.use].file;
      const bool isUsed = std::ranges::any_of(other.uses, [&](const Use &use) {
        return use.file == file && edit.begin < use.end && use.begin < edit.end;
      });
      return isUsed && std::ranges::none_of(other.edits, [&](const Edit &own) {
               return own.begin == edit.begin && own.end == edit.end && own.hash == edit.hash &&
                      other.uses[own.use].file == file;
             });
    });
  }

  /// Removes older variants that the new one replaces, and those that share text with it but were
  /// not judged together with it.
  void removeReplaced(const Entry &fresh) {
    const auto fileOf = [](const Entry &entry) {
      return entry.place.substr(0, entry.place.rfind(':'));
    };
    std::erase_if(lock_.entries, [&](const Entry &old) {
      if (!sharesArch(old, fresh))
        return false;
      const bool own = old.symbol == fresh.symbol && fileOf(old) == fileOf(fresh);
      const bool sameSession =
          !own && old.session == fresh.session && old.tunedUtc == fresh.tunedUtc;
      if (!own && (sameSession || (!disturbs(old, fresh) && !disturbs(fresh, old))))
        return false;
      if (!own)
        change_.notes.push_back(fmt::format(
            "the variant of '{}' from {} is removed: it and the new one of '{}' change text of "
            "each other, and were not judged together; tune both in one run",
            old.kernel, old.session, fresh.kernel));
      written_.insert(old.variants);
      return true;
    });
  }

  /// Makes the texts of the .cuh files that change.
  Status render() {
    for (const std::string &name : written_) {
      std::string text;
      std::set<std::string> there;
      for (const Entry &entry : lock_.entries) {
        if (entry.variants != name)
          continue;
        text += evidence(entry);
        for (const Edit &edit : entry.edits) {
          if (edit.section.empty() || !there.insert(edit.section).second)
            continue;
          KOPT_TRY(const std::string body, sectionText(entry, edit));
          text +=
              overlay::sectionBegin(edit.section) + body + "\n" + std::string(overlay::kSectionEnd);
        }
      }
      if (!text.empty())
        text =
            "// Variants that kopt found faster. The build puts them in the place of the originals "
            "(kopt.lock says\n// where), so nothing includes this file. Change the originals, and "
            "tune them again.\n" +
            text;
      files_[name] = text;
    }
    files_[kLockName] = overlay::lockText(lock_);
    for (const auto &[name, text] : headermode::kFiles)
      files_[std::string(name)] = std::string(text);
    return {};
  }

  Result<std::string> sectionText(const Entry &entry, const Edit &edit) {
    if (const auto known = sections_.find(edit.section); known != sections_.end())
      return known->second;
    overlay::Change change;
    const auto text = overlay::newTextOf(entry, edit, request_.folder.string(), sources_, change);
    if (!text)
      return makeError(ErrorCode::StaleInput,
                       fmt::format("an older variant cannot be kept: {}", change.what),
                       "restore the file from your version control", change.file);
    return text->text;
  }

  static std::string evidence(const Entry &entry) {
    std::string text =
        fmt::format("\n// {} ({}), for {}: {:.2f} times as fast{} {} on {}\n", entry.kernel,
                    entry.place, join(entry.archs, ", "), entry.speedup,
                    entry.modelled ? " (modelled, not measured)"
                                   : fmt::format(" [{:.2f}, {:.2f}]", entry.low, entry.high),
                    entry.inProgram ? "in the program" : "in isolation", entry.device);
    text += fmt::format("//   {}\n//   {}: {}\n", withoutControls(entry.title), entry.state,
                        withoutControls(entry.reason));
    if (!entry.options.empty())
      text += fmt::format("//   compiled with {}\n", withoutControls(join(entry.options, " ")));
    text += fmt::format("//   assurance: {}\n", entry.assurance);
    for (const std::string &gap : entry.gaps)
      text += fmt::format("//     not shown: {}\n", withoutControls(gap));
    text += fmt::format("//   run {} of {}, kopt {}\n", entry.run, entry.session, entry.kopt);
    for (const Edit &edit : entry.edits) {
      const Use &use = entry.uses[edit.use];
      text += fmt::format("//   {} ({}:{})", use.name, use.file, use.line);
      text += edit.section.empty() ? fmt::format(": '{}' becomes '{}'\n", edit.was, edit.text)
                                   : fmt::format(" becomes the text {}\n", edit.section);
    }
    return text;
  }

  Result<HeaderChange> finish() {
    for (auto file = files_.begin(); file != files_.end();) {
      const fs::path path = request_.folder / file->first;
      std::string before;
      if (isThere(path)) {
        KOPT_TRY(before, readFile(path));
      }
      if (before == file->second) {
        file = files_.erase(file);
        continue;
      }
      change_.files.push_back({path, countLines(diffTexts(file->first, before, file->second))});
      ++file;
    }
    if (!request_.checkOnly && !files_.empty())
      KOPT_CHECK(changeFolder(request_.folder, files_));
    return std::move(change_);
  }

  const SessionRecord &session_;
  const HeaderRequest &request_;
  const fs::path project_;
  overlay::Lock lock_;
  overlay::Sources sources_{{}, {}};            ///< of absolute paths
  std::map<std::string, std::string> sections_; ///< new sections, by name
  std::set<std::string> written_;               ///< .cuh files that change
  /// Files of the folder by name; an empty text removes the file.
  std::map<std::string, std::string> files_;
  HeaderChange change_;
};

} // namespace

Result<HeaderChange> writeHeaders(const SessionRecord &session,
                                  const std::vector<const SessionWin *> &wins,
                                  const HeaderRequest &request) {
  return HeaderWriter(session, request).write(wins);
}

Result<overlay::Lock> lockIn(const fs::path &folder) {
  const fs::path path = folder / kLockName;
  if (!isThere(path))
    return overlay::Lock();
  KOPT_TRY(const std::string text, readFile(path));
  overlay::Change problem;
  if (auto lock = overlay::parseLock(text, problem))
    return std::move(*lock);
  return makeError(ErrorCode::StaleInput, "the lock cannot be read: " + problem.what,
                   "restore it from your version control, or remove it to begin anew",
                   fmt::format("{}:{}", path.string(), problem.line));
}

Status recordRegression(const fs::path &folder, std::size_t entry, const std::string &why) {
  KOPT_TRY(overlay::Lock lock, lockIn(folder));
  if (entry >= lock.entries.size())
    return makeError(ErrorCode::StaleInput, "the lock changed while its variants were measured",
                     "measure again", (folder / kLockName).string());
  if (std::exchange(lock.entries[entry].regressed, withoutControls(why)) == why)
    return {};
  return changeFolder(folder, {{kLockName, overlay::lockText(lock)}});
}

} // namespace kopt
