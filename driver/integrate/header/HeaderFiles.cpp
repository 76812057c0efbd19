// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/header/HeaderFiles.h"

#include "driver/integrate/header/FolderSwap.h"
#include "driver/integrate/overlay/Lock.h"
#include "driver/judge/Statistics.h"
#include "driver/model/Json.h"
#include "driver/model/Version.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"
#include "headermode/HeaderModeFiles.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

/// The lock as JSON; null if there is none. Fails with StaleInput if it is not valid.
Result<json> readDocument(const fs::path &folder) {
  const fs::path path = folder / kLockName;
  if (!isThere(path))
    return json();
  KOPT_TRY(const std::string text, readFile(path));
  std::string problem;
  if (!overlay::parseLock(text, problem))
    return makeError(ErrorCode::StaleInput, fmt::format("the lock cannot be read: {}", problem),
                     "restore it from your version control, or remove it to begin anew",
                     path.string());
  return json::parse(text);
}

class HeaderWriter {
public:
  HeaderWriter(const SessionRecord &session, const HeaderRequest &request)
      : session_(session), request_(request), project_(request.folder.parent_path()) {}

  Result<HeaderChange> write(const std::vector<const SessionWin *> &wins) {
    KOPT_CHECK(readOld());
    std::vector<json> fresh;
    for (const SessionWin *win : wins) {
      KOPT_TRY(json entry, entryOf(*win));
      fresh.push_back(std::move(entry));
    }
    for (const json &entry : fresh)
      removeReplaced(entry);
    for (json &entry : fresh) {
      written_.insert(entry["variants"].get<std::string>());
      entries_.push_back(std::move(entry));
    }
    std::stable_sort(entries_.begin(), entries_.end(), [](const json &a, const json &b) {
      const auto key = [](const json &entry) {
        return std::tuple(entry.value("place", ""), entry.value("kernel", ""),
                          entry.value("symbol", ""), entry["archs"].dump());
      };
      return key(a) < key(b);
    });
    KOPT_CHECK(render());
    return finish();
  }

private:
  Status readOld() {
    KOPT_TRY(const json document, readDocument(request_.folder));
    if (!document.is_null())
      entries_ = document.at("entries").get<std::vector<json>>();
    return {};
  }

  Result<const std::string *> textOf(const std::string &file) {
    auto known = texts_.find(file);
    if (known == texts_.end()) {
      KOPT_TRY(std::string text, readFile(fs::path(session_.root) / file));
      known = texts_.emplace(file, std::move(text)).first;
    }
    return &known->second;
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

  Result<json> entryOf(const SessionWin &win) {
    if (!win.variant)
      return makeError(
          ErrorCode::Usage,
          fmt::format("the win of '{}' was recorded by a kopt without header mode", win.kernel),
          "run kopt tune again");
    const TunedVariant &variant = *win.variant;
    for (const auto &[file, hash] : variant.fileHashes) {
      KOPT_TRY(const std::string *text, textOf(file));
      if (hashHex(*text) != hash)
        return makeError(
            ErrorCode::StaleInput,
            fmt::format("{} changed since it was tuned, so what was measured may no longer hold",
                        file),
            "run kopt tune again", (fs::path(session_.root) / file).string());
    }
    const Speedup &speedup = win.program ? win.program->speedup : win.isolated;
    json entry = {
        {"kernel", win.kernel},
        {"symbol", win.symbol},
        {"place", placeOf(win)},
        {"title", win.title},
        {"state", toString(win.state)},
        {"reason", win.reason},
        {"variants", variantsName(win.kernel)},
        {"archs", request_.archs.empty() ? json::array({variant.arch}) : json(request_.archs)},
        {"device_only", variant.deviceOnly},
        {"device", variant.device},
        {"gain",
         {{"speedup", speedup.estimate},
          {"low", speedup.low},
          {"high", speedup.high},
          {"in_program", bool(win.program)},
          {"modelled", speedup.modelled}}},
        {"assurance", kopt::toJson(variant.assurance)},
        {"run", win.runName},
        {"session", session_.name},
        {"tuned_utc", session_.startedUtc},
        {"kopt", koptVersion()},
        {"uses", json::array()},
        {"edits", json::array()},
        {"launches", json::array()}};
    for (const TunedText &use : variant.uses) {
      KOPT_TRY(const std::string *text, textOf(use.file));
      const unsigned line = overlay::lineAt(*text, use.begin);
      entry["uses"].push_back({{"file", lockPath(use.file)},
                               {"begin", use.begin},
                               {"end", use.end},
                               {"line", line},
                               {"name", use.name},
                               {"hash", overlay::contentHash(std::string_view(*text).substr(
                                            use.begin, use.end - use.begin))}});
      if (use.name == "the launch")
        entry["launches"].push_back(fmt::format("{}:{}", lockPath(use.file), line));
    }
    for (const TunedEdit &edit : variant.edits) {
      KOPT_TRY(const std::string *text, textOf(edit.file));
      std::size_t use = variant.uses.size();
      for (std::size_t i = 0; i < variant.uses.size(); ++i) {
        const TunedText &one = variant.uses[i];
        if (one.file == edit.file && one.begin <= edit.begin && edit.end <= one.end &&
            (use == variant.uses.size() ||
             one.end - one.begin < variant.uses[use].end - variant.uses[use].begin))
          use = i;
      }
      if (use == variant.uses.size())
        return makeError(ErrorCode::Internal, "an edit belongs to no text of its kernel");
      const std::string hash = overlay::contentHash(edit.text);
      json one = {{"use", use}, {"begin", edit.begin}, {"end", edit.end}, {"hash", hash}};
      const bool hasLines =
          edit.text.find('\n') != std::string::npos ||
          text->substr(edit.begin, edit.end - edit.begin).find('\n') != std::string::npos;
      if (hasLines) {
        one["section"] = hash.substr(0, 12);
        sections_[hash.substr(0, 12)] = edit.text;
      } else {
        one["text"] = edit.text;
      }
      one["was"] = hasLines ? json() : json(text->substr(edit.begin, edit.end - edit.begin));
      entry["edits"].push_back(std::move(one));
    }
    return entry;
  }

  static bool sharesArch(const json &a, const json &b) {
    return std::any_of(a["archs"].begin(), a["archs"].end(), [&](const json &arch) {
      return arch == "all" ||
             std::any_of(b["archs"].begin(), b["archs"].end(),
                         [&](const json &other) { return other == "all" || other == arch; });
    });
  }

  /// True if `editor` changes text that `other` was judged with, and `other` does not make the same
  /// change.
  static bool disturbs(const json &editor, const json &other) {
    for (const json &edit : editor["edits"]) {
      const json &within = editor["uses"].at(edit["use"].get<std::size_t>());
      for (const json &use : other["uses"]) {
        const std::uint64_t begin = edit["begin"], end = edit["end"];
        if (use["file"] != within["file"] || begin >= use["end"].get<std::uint64_t>() ||
            use["begin"].get<std::uint64_t>() >= end)
          continue;
        const bool same =
            std::any_of(other["edits"].begin(), other["edits"].end(), [&](const json &own) {
              return own["begin"] == edit["begin"] && own["end"] == edit["end"] &&
                     own["hash"] == edit["hash"] &&
                     other["uses"].at(own["use"].get<std::size_t>())["file"] == within["file"];
            });
        if (!same)
          return true;
      }
    }
    return false;
  }

  /// Removes older variants that the new one replaces, and those that share text with it but were
  /// not judged together with it.
  void removeReplaced(const json &fresh) {
    std::erase_if(entries_, [&](const json &old) {
      if (!sharesArch(old, fresh))
        return false;
      const bool own =
          old["symbol"] == fresh["symbol"] &&
          old["place"].get<std::string>().substr(0, old["place"].get<std::string>().rfind(':')) ==
              fresh["place"].get<std::string>().substr(
                  0, fresh["place"].get<std::string>().rfind(':'));
      const bool sameSession = !own && old["session"] == fresh["session"] &&
                               old.value("tuned_utc", "") == fresh.value("tuned_utc", "");
      if (!own && (sameSession || (!disturbs(old, fresh) && !disturbs(fresh, old))))
        return false;
      if (!own)
        change_.notes.push_back(fmt::format(
            "the variant of '{}' from {} is removed: it and the new one of '{}' change text of "
            "each "
            "other, and were not judged together; tune both in one run",
            old.value("kernel", ""), old.value("session", ""), fresh.value("kernel", "")));
      written_.insert(old["variants"].get<std::string>());
      return true;
    });
  }

  /// Makes the texts of the .cuh files that change.
  Status render() {
    for (const std::string &name : written_) {
      std::string text;
      overlay::Sources sources(project_.string(), {});
      std::set<std::string> there;
      for (const json &entry : entries_) {
        if (entry["variants"] != name)
          continue;
        text += evidence(entry);
        for (const json &edit : entry["edits"]) {
          if (!edit.contains("section"))
            continue;
          const std::string section = edit["section"];
          if (!there.insert(section).second)
            continue;
          KOPT_TRY(const std::string body, sectionText(name, section, edit["hash"], sources));
          text += overlay::sectionBegin(section) + body + "\n" + std::string(overlay::kSectionEnd);
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
    files_[kLockName] =
        json{{"schema_version", 1},
             {"about",
              "Written by kopt; belongs into version control. docs/header-mode.md explains it."},
             {"kopt", koptVersion()},
             {"entries", entries_}}
            .dump(1) +
        "\n";
    for (const auto &[name, text] : headermode::kFiles)
      files_[std::string(name)] = std::string(text);
    return {};
  }

  Result<std::string> sectionText(const std::string &file, const std::string &section,
                                  const std::string &hash, overlay::Sources &sources) {
    if (const auto known = sections_.find(section); known != sections_.end())
      return known->second;
    overlay::Entry entry;
    entry.variants = file;
    overlay::Edit edit;
    edit.section = section;
    edit.hash = hash;
    overlay::Change change;
    const auto text = overlay::newTextOf(entry, edit, request_.folder.string(), sources, change);
    if (!text)
      return makeError(ErrorCode::StaleInput,
                       fmt::format("an older variant cannot be kept: {}", change.what),
                       "restore the file from your version control", change.file);
    return text->text;
  }

  static std::string evidence(const json &entry) {
    const json &gain = entry["gain"];
    std::vector<std::string> archs = entry["archs"];
    std::string text = fmt::format(
        "\n// {} ({}), for {}: {:.2f} times as fast{} {} on {}\n", entry.value("kernel", ""),
        entry.value("place", ""), join(archs, ", "), gain.value("speedup", 1.0),
        gain.value("modelled", false)
            ? " (modelled, not measured)"
            : fmt::format(" [{:.2f}, {:.2f}]", gain.value("low", 1.0), gain.value("high", 1.0)),
        gain.value("in_program", false) ? "in the program" : "in isolation",
        entry.value("device", ""));
    text += fmt::format("//   {}\n//   {}: {}\n", withoutControls(entry.value("title", "")),
                        entry.value("state", ""), withoutControls(entry.value("reason", "")));
    const json &assurance = entry["assurance"];
    text += fmt::format("//   assurance: {}\n", assurance.value("level", ""));
    for (const json &gap : assurance["gaps"])
      text += fmt::format("//     not shown: {}\n", withoutControls(gap.value("what", "")));
    text += fmt::format("//   run {} of {}, kopt {}\n", entry.value("run", ""),
                        entry.value("session", ""), entry.value("kopt", ""));
    for (const json &edit : entry["edits"]) {
      const json &use = entry["uses"].at(edit["use"].get<std::size_t>());
      if (edit.contains("section"))
        text += fmt::format("//   {} ({}:{}) becomes the text {}\n", use.value("name", ""),
                            use.value("file", ""), use.value("line", 0), edit.value("section", ""));
      else
        text += fmt::format("//   {} ({}:{}): '{}' becomes '{}'\n", use.value("name", ""),
                            use.value("file", ""), use.value("line", 0),
                            edit["was"].get<std::string>(), edit.value("text", ""));
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
      AppliedFile summary{path, 0, 0};
      for (const DiffHunk &hunk : diffTexts(file->first, before, file->second).hunks)
        for (const DiffLine &line : hunk.lines) {
          summary.linesAdded += line.kind == '+';
          summary.linesRemoved += line.kind == '-';
        }
      change_.files.push_back(std::move(summary));
      ++file;
    }
    if (!request_.checkOnly && !files_.empty())
      KOPT_CHECK(changeFolder(request_.folder, files_));
    return std::move(change_);
  }

  const SessionRecord &session_;
  const HeaderRequest &request_;
  const fs::path project_;
  std::vector<json> entries_;
  /// Of the user's files, by their path in the session.
  std::map<std::string, std::string> texts_;
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

Status recordRegression(const fs::path &folder, std::size_t entry, const std::string &why) {
  KOPT_TRY(json document, readDocument(folder));
  if (document.is_null() || entry >= document.at("entries").size())
    return makeError(ErrorCode::StaleInput, "the lock changed while its variants were measured",
                     "measure again", (folder / kLockName).string());
  json &recorded = document["entries"][entry];
  if (why == (recorded.contains("regressed") ? recorded.value("regressed", "") : ""))
    return {};
  if (why.empty())
    recorded.erase("regressed");
  else
    recorded["regressed"] = withoutControls(why);
  return changeFolder(folder, {{kLockName, document.dump(1) + "\n"}});
}

} // namespace kopt
