// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/overlay/Overlay.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace kopt::overlay {

namespace fs = std::filesystem;

namespace {

/// "sm_90a" or "90-real" as "90a".
std::string archName(std::string arch) {
  for (const char *prefix : {"sm_", "compute_"})
    if (arch.rfind(prefix, 0) == 0)
      arch.erase(0, std::string(prefix).size());
  return arch.substr(0, arch.find('-'));
}

bool isFor(const Entry &entry, const std::string &arch) {
  return std::any_of(entry.archs.begin(), entry.archs.end(), [&](const std::string &own) {
    return own == "all" || archName(own) == archName(arch);
  });
}

std::string escaped(const std::string &path) {
  // The name in an #include has no escapes, so a path with a quote or newline cannot be written.
  return path.find('"') == std::string::npos && path.find('\n') == std::string::npos ? path : "";
}

/// The files of the project that a compilation includes, and which of them include which.
class Closure {
public:
  /// Files in `tuned` count as files of the project, wherever they lie.
  Closure(const OverlayRequest &request, Sources &sources, std::set<std::string> tuned)
      : request_(request), sources_(sources), tuned_(std::move(tuned)) {}

  void add(const std::string &file) {
    const auto [known, isNew] = files_.try_emplace(file);
    if (!isNew)
      return;
    const std::string *text = sources_.read(file);
    if (!text)
      return;
    std::vector<std::string> targets;
    for (const Include &include : includesIn(*text)) {
      const std::string target = resolve(include, file);
      if (!target.empty() && isInProject(target))
        targets.push_back(target);
    }
    files_[file] = targets;
    for (const std::string &target : targets)
      add(target);
  }

  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (const auto &[file, targets] : files_)
      all.push_back(file);
    return all;
  }

  bool has(const std::string &file) const { return files_.count(file) != 0; }

  /// The files of `wanted` that are included, and all files that lead to them.
  std::set<std::string> leadingTo(const std::set<std::string> &wanted) const {
    std::set<std::string> found;
    for (const std::string &file : wanted)
      if (has(file))
        found.insert(file);
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto &[file, targets] : files_)
        if (found.count(file) == 0 &&
            std::any_of(targets.begin(), targets.end(),
                        [&](const auto &target) { return found.count(target) != 0; }))
          grew = found.insert(file).second;
    }
    return found;
  }

  /// The file that the compiler would find; empty: none.
  std::string resolve(const Include &include, const std::string &from) const {
    const fs::path name(include.name);
    if (name.is_absolute())
      return exists(name);
    if (include.isQuoted)
      if (std::string found = exists(fs::path(from).parent_path() / name); !found.empty())
        return found;
    for (const std::string &folder : request_.includeFolders)
      if (std::string found = exists(fs::path(folder) / name); !found.empty())
        return found;
    return "";
  }

private:
  static std::string exists(const fs::path &path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) ? path.lexically_normal().string() : std::string();
  }
  bool isInProject(const std::string &file) const {
    if (tuned_.count(file) != 0)
      return true;
    const fs::path relative = fs::path(file).lexically_relative(request_.project);
    return !relative.empty() && *relative.begin() != "..";
  }

  const OverlayRequest &request_;
  Sources &sources_;
  std::set<std::string> tuned_;
  std::map<std::string, std::vector<std::string>> files_;
};

Message messageOf(const Entry &entry, const Change &change) {
  return {change.file, change.line,
          change.what + " since kopt tuned '" + entry.kernel +
              "', so the original is built; 'kopt check' lists all such kernels, and tuning again "
              "makes a new variant",
          true};
}

/// An entry that a build uses.
struct Chosen {
  const Entry *entry = nullptr;
  Taken taken = Taken::Never;
  Located located;
  std::vector<NewText> texts; ///< of each edit
};

/// Nothing if the original is to be built; `messages` then gives the reason.
std::optional<Chosen> choose(const Entry &entry, const OverlayRequest &request, Sources &sources,
                             std::vector<Message> &messages) {
  Chosen chosen{&entry, takenBy(entry, request.archs), {}, {}};
  if (!entry.regressed.empty()) {
    messages.push_back({request.lockFolder + "/kopt.lock", 0,
                        "the variant of '" + entry.kernel + "' is no longer faster (" +
                            entry.regressed + "), so the original is built"});
    return std::nullopt;
  }
  chosen.located = locate(entry, sources);
  if (!chosen.located.changes.empty()) {
    for (const Change &change : chosen.located.changes)
      messages.push_back(messageOf(entry, change));
    return std::nullopt;
  }
  for (const Edit &edit : entry.edits) {
    Change change;
    std::optional<NewText> text = newTextOf(entry, edit, request.lockFolder, sources, change);
    if (!text) {
      messages.push_back({change.file, change.line,
                          change.what + ", so the original of '" + entry.kernel + "' is built"});
      return std::nullopt;
    }
    chosen.texts.push_back(std::move(*text));
  }
  return chosen;
}

Message notForTheseArchs(const Entry &entry, const OverlayRequest &request,
                         const Sources &sources) {
  std::string own, built;
  for (const std::string &arch : entry.archs)
    own += (own.empty() ? "" : ", ") + arch;
  for (const std::string &arch : request.archs.names)
    built += (built.empty() ? "sm_" : ", sm_") + arch;
  const Use &use = entry.uses.at(entry.edits.empty() ? 0 : entry.edits.front().use);
  return {sources.resolve(use.file), use.line,
          "the variant of '" + entry.kernel + "' is for " + own +
              " and changes host code, and this build is for " +
              (built.empty() ? "architectures that CMake does not name" : built) +
              ", so the original is built",
          false};
}

/// The replacements that an entry makes, by file.
std::map<std::string, std::vector<Splice>> splicesOf(const Chosen &chosen, const Sources &sources) {
  std::map<std::string, std::vector<Splice>> made;
  const Entry &entry = *chosen.entry;
  for (std::size_t i = 0; i < entry.edits.size(); ++i) {
    const Edit &edit = entry.edits[i];
    const Use &use = entry.uses[edit.use];
    Splice splice;
    splice.begin = chosen.located.begins[edit.use] + (edit.begin - use.begin);
    splice.end = splice.begin + (edit.end - edit.begin);
    splice.text = chosen.texts[i];
    if (chosen.taken == Taken::ByArch)
      for (const std::string &arch : entry.archs)
        splice.archs.push_back(archName(arch));
    made[sources.resolve(use.file)].push_back(std::move(splice));
  }
  return made;
}

bool isSame(const Splice &a, const Splice &b) {
  return a.begin == b.begin && a.end == b.end && a.text.text == b.text.text && a.archs == b.archs;
}

/// True if two entries replace the same bytes of one build by different texts.
bool clashes(const std::map<std::string, std::vector<Splice>> &own,
             const std::map<std::string, std::vector<Splice>> &others) {
  for (const auto &[file, list] : own) {
    const auto known = others.find(file);
    if (known == others.end())
      continue;
    for (const Splice &a : list)
      for (const Splice &b : known->second) {
        const bool overlap = a.begin < b.end && b.begin < a.end;
        const bool apart =
            !a.archs.empty() && !b.archs.empty() &&
            std::none_of(a.archs.begin(), a.archs.end(), [&](const std::string &arch) {
              return std::find(b.archs.begin(), b.archs.end(), arch) != b.archs.end();
            });
        if (overlap && !apart && !isSame(a, b))
          return true;
      }
  }
  return false;
}

/// Adds the options of an entry. False if the compilation cannot have them.
bool addOptions(const Entry &entry, const OverlayRequest &request, OverlaySet &set) {
  if (entry.options.empty() || request.archs.kind == Archs::Kind::None) // no device code
    return true;
  const bool areOthers = !set.options.empty() && set.options != entry.options;
  if (request.isNvcc && !areOthers) {
    set.options = entry.options;
    return true;
  }
  std::string options;
  for (const std::string &option : entry.options)
    options += " " + option;
  set.messages.push_back({request.lockFolder + "/kopt.lock", 0,
                          "the variant of '" + entry.kernel + "' is compiled with" + options +
                              ", and " +
                              (areOthers ? "another one in the file with other options"
                                         : "this compiler is not nvcc") +
                              ", so it is not used"});
  return false;
}

/// Replaces #include names that were found beside the file, and those of overlays, by absolute
/// paths.
std::string withIncludes(const std::string &text, const std::string &file, const Closure &closure,
                         const std::map<std::string, std::string> &places) {
  std::string made;
  std::size_t at = 0;
  for (const Include &include : includesIn(text)) {
    const std::string target = closure.resolve(include, file);
    const auto overlay = places.find(target);
    std::string path;
    if (overlay != places.end())
      path = escaped(overlay->second);
    else if (include.isQuoted && !target.empty() &&
             fs::path(target) == (fs::path(file).parent_path() / include.name).lexically_normal())
      path = escaped(target);
    if (path.empty())
      continue;
    made += text.substr(at, include.begin - at) + '"' + path + '"';
    at = include.end;
  }
  return made + text.substr(at);
}

} // namespace

Archs parseArchs(const std::string &text) {
  Archs archs;
  if (text == "none") {
    archs.kind = Archs::Kind::None;
    return archs;
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string arch = archName(text.substr(begin, end - begin));
    if (arch.empty() || std::isdigit(static_cast<unsigned char>(arch[0])) == 0)
      return {};
    archs.names.push_back(arch);
    begin = end + 1;
  }
  if (!archs.names.empty())
    archs.kind = Archs::Kind::Known;
  return archs;
}

Taken takenBy(const Entry &entry, const Archs &archs) {
  if (archs.kind == Archs::Kind::None)
    return Taken::Always;
  const auto count = std::count_if(archs.names.begin(), archs.names.end(),
                                   [&](const std::string &arch) { return isFor(entry, arch); });
  if (std::find(entry.archs.begin(), entry.archs.end(), "all") != entry.archs.end() ||
      (archs.kind == Archs::Kind::Known && std::size_t(count) == archs.names.size()))
    return Taken::Always;
  // All architectures share the host code, so a variant that changes it must be for all of them.
  if (!entry.deviceOnly)
    return Taken::Never;
  return count > 0 || archs.kind == Archs::Kind::Unknown ? Taken::ByArch : Taken::Never;
}

OverlaySet makeOverlays(const Lock &lock, const OverlayRequest &request, Sources &sources) {
  OverlaySet set;
  std::set<std::string> dependencies, tuned, always;
  for (const Entry &entry : lock.entries)
    for (const std::string &file : entry.files(true))
      tuned.insert(sources.resolve(file));
  Closure closure(request, sources, std::move(tuned));
  closure.add(request.source);
  std::map<std::string, std::vector<Splice>> splices; // by file
  std::vector<Chosen> chosen;
  for (const Entry &entry : lock.entries) {
    const std::vector<std::string> edited = entry.files(true);
    if (std::none_of(edited.begin(), edited.end(),
                     [&](const std::string &file) { return closure.has(sources.resolve(file)); }))
      continue;
    for (const std::string &file : entry.files(false))
      dependencies.insert(sources.resolve(file));
    if (std::any_of(entry.edits.begin(), entry.edits.end(),
                    [](const Edit &edit) { return !edit.section.empty(); }))
      dependencies.insert(request.lockFolder + "/" + entry.variants);
    if (takenBy(entry, request.archs) == Taken::Never) {
      if (!entry.deviceOnly)
        set.messages.push_back(notForTheseArchs(entry, request, sources));
      continue;
    }
    if (std::optional<Chosen> one = choose(entry, request, sources, set.messages)) {
      if (one->taken == Taken::Always)
        always.insert(entry.symbol);
      chosen.push_back(std::move(*one));
    }
  }
  std::set<std::string> seen; // kernels whose variant for all architectures is used
  for (const Chosen &one : chosen) {
    const Entry &entry = *one.entry;
    // If one variant is for everything that is built, other variants of the kernel are not needed.
    if (always.count(entry.symbol) != 0 &&
        (one.taken != Taken::Always || !seen.insert(entry.symbol).second))
      continue;
    std::map<std::string, std::vector<Splice>> own = splicesOf(one, sources);
    if (clashes(own, splices)) {
      set.messages.push_back({request.lockFolder + "/kopt.lock", 0,
                              "the variant of '" + entry.kernel +
                                  "' changes the same text as another one, so it is not used; tune "
                                  "both kernels again"});
      continue;
    }
    if (!addOptions(entry, request, set))
      continue;
    for (auto &[file, list] : own)
      for (Splice &splice : list)
        if (std::none_of(splices[file].begin(), splices[file].end(),
                         [&](const Splice &other) { return isSame(splice, other); }))
          splices[file].push_back(std::move(splice));
  }
  std::set<std::string> changed;
  for (const auto &[file, list] : splices)
    changed.insert(file);
  for (const std::string &file : closure.leadingTo(changed))
    set.places[file] =
        (fs::path(request.work) / shortName(file) / fs::path(file).filename()).string();
  for (const auto &[file, place] : set.places) {
    const std::string &text = *sources.read(file);
    const auto own = splices.find(file);
    set.texts[file] =
        withIncludes(splice(text, file, own == splices.end() ? std::vector<Splice>() : own->second),
                     file, closure, set.places);
  }
  set.dependencies.assign(dependencies.begin(), dependencies.end());
  set.seen = closure.files();
  return set;
}

std::string shortName(const std::string &path) { return contentHash(path).substr(0, 12); }

} // namespace kopt::overlay
