// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/patch/Patch.h"

#include "driver/integrate/patch/FileSwap.h"
#include "driver/source/SourceEdits.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// The end of a mail's message, and what follows it where git am does not do.
const std::string kEndOfMessage = "---\n", kApplyWith = kEndOfMessage + "apply with ";
constexpr const char *kTuneAgain = "run kopt tune again on the file as it is now";

/// The path as the diff names it; empty if the file lies outside the root.
std::string relativeName(const fs::path &file, const fs::path &root) {
  std::error_code error;
  const fs::path relative =
      fs::weakly_canonical(file, error).lexically_relative(fs::weakly_canonical(root, error));
  if (error || relative.empty() || *relative.begin() == ".." || relative == ".")
    return {};
  return relative.generic_string();
}

/// True for a line at which `git am` ends the message; a leading space keeps such a line in the
/// message.
bool cutsMessage(std::string_view line) {
  const auto startsWith = [&](std::string_view prefix) {
    return line.substr(0, prefix.size()) == prefix;
  };
  return startsWith("---") || startsWith("diff ") || startsWith("Index: ") || startsWith("From ") ||
         startsWith(">From ") || startsWith("-- ");
}

std::string messageBody(std::string_view body) {
  std::string text;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    const std::string_view line = body.substr(0, end);
    if (cutsMessage(line))
      text += ' ';
    text.append(line);
    text += '\n';
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  while (text.size() > 1 && text[text.size() - 2] == '\n')
    text.pop_back();
  return text;
}

/// Makes the edits in `before`, whose hash is `hash`. Fails if the file is not the one that was
/// tuned.
Result<std::string> changedText(const std::string &before, const std::string &hash,
                                const FileEdits &edits, const fs::path &file) {
  if (hash != edits.baseHash)
    return makeError(
        ErrorCode::StaleInput,
        fmt::format("{} changed since it was tuned, so what was measured may no longer hold",
                    edits.path),
        "run kopt tune again, or try git apply with the run's winner.patch", file.string());
  KOPT_TRY(std::string after, applyEdits(before, edits.edits));
  if (hashHex(after) != edits.resultHash)
    return makeError(ErrorCode::StaleInput,
                     fmt::format("the edits of {} are damaged in the database", edits.path),
                     "run kopt tune again, or use git apply with the run's winner.patch",
                     file.string());
  return after;
}

/// The source folder of a CMake build folder; empty if it is none.
fs::path sourceOf(const fs::path &build) {
  const fs::path folder = build.extension() == ".json" ? build.parent_path() : build;
  const std::string cache = readFile(folder / "CMakeCache.txt").value_or(std::string());
  constexpr std::string_view kHome = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (const std::string &line : split(cache, '\n'))
    if (line.starts_with(kHome))
      return line.substr(kHome.size());
  return {};
}

/// The edits with the line ends of the text around them.
std::vector<SourceEdit> withLineEnds(std::vector<SourceEdit> edits, const std::string &text) {
  for (SourceEdit &edit : edits) {
    const std::size_t newline = std::min(text.find('\n', edit.range.begin), text.rfind('\n'));
    if (newline != text.npos && newline > 0 && text[newline - 1] == '\r')
      edit.text = replaceAll(replaceAll(edit.text, "\r\n", "\n"), "\n", "\r\n");
  }
  return edits;
}

fs::path projectOf(const fs::path &path, const fs::path &build) {
  std::error_code error;
  const fs::path absolute = fs::weakly_canonical(fs::absolute(path, error), error);
  const fs::path start = fs::is_directory(absolute, error) ? absolute : absolute.parent_path();
  for (fs::path folder = start;; folder = folder.parent_path()) {
    if (isThere(folder / ".git")) // a folder, or in a worktree or submodule a file
      return folder;
    if (folder == folder.parent_path())
      break;
  }
  for (const fs::path &folder : {sourceOf(build), fs::current_path(error)})
    if (!folder.empty() && !relativeName(absolute, folder).empty())
      return fs::weakly_canonical(folder, error);
  return start;
}

} // namespace

fs::path patchRoot(const std::vector<fs::path> &files, const fs::path &build) {
  fs::path root;
  for (const fs::path &file : files) {
    const fs::path own = projectOf(file, build);
    fs::path common;
    for (auto [part, other] = std::pair(root.begin(), own.begin());
         part != root.end() && other != own.end() && *part == *other; ++part, ++other)
      common /= *part;
    root = root.empty() ? own : common;
  }
  return root;
}

FlagsOfFiles flagsOf(const KernelSpec &kernel, const Candidate &candidate) {
  return candidate.options ? FlagsOfFiles{{kernel.unit, candidate.options->flags()}}
                           : FlagsOfFiles();
}

std::string flagsInWords(const std::string &path, const std::vector<std::string> &flags) {
  return fmt::format(
      "{} has to be compiled with {}, which also applies to its other kernels. In the "
      "CMakeLists.txt that has the file:\n"
      "  set_source_files_properties({} PROPERTIES COMPILE_OPTIONS \"{}\")",
      path, join(flags, " "), path, join(flags, ";"));
}

Result<Patch> makePatch(const std::vector<SourceEdit> &edits,
                        const std::map<std::string, std::string> &fileHashes, const fs::path &root,
                        const std::map<std::string, std::string> &others,
                        const FlagsOfFiles &flags) {
  Patch patch;
  KOPT_TRY(const auto files, editsByFile(edits));
  for (const auto &[file, written] : files) {
    const auto hash = fileHashes.find(file);
    if (hash == fileHashes.end())
      return makeError(ErrorCode::StaleInput,
                       fmt::format("{} was not among the files that were tuned", file), kTuneAgain,
                       file);
    KOPT_TRY(const std::string before, readFile(file));
    if (hashHex(before) != hash->second)
      return makeError(ErrorCode::StaleInput, fmt::format("{} changed since it was tuned", file),
                       kTuneAgain, file);
    const std::vector<SourceEdit> list = withLineEnds(written, before);
    KOPT_TRY(const std::string after, applyEdits(before, list));
    const std::string name = relativeName(file, root);
    if (name.empty())
      return makeError(
          ErrorCode::Usage,
          fmt::format("the win changes {}, which lies outside {}", file, root.string()),
          "run kopt from a folder that contains all of the kernel's files", file);
    if (after == before)
      continue;
    patch.text += formatDiff(diffTexts(name, before, after));
    fs::path folder = root;
    for (const fs::path &part : fs::path(name))
      patch.isOfSeveralTrees |= isThere((folder /= part) / ".git");
    FileEdits &made = patch.files.emplace_back(FileEdits{name, hash->second, hashHex(after), list});
    for (SourceEdit &edit : made.edits)
      edit.range.file = name;
    if (const auto own = flags.find(file); own != flags.end())
      made.flags = own->second;
  }
  for (const auto &[file, hash] : others)
    if (const std::string name = fs::path(file).lexically_relative(root).generic_string();
        !files.contains(file))
      patch.others.push_back({name, hash, hash, {{{name, 0, 0}, {}}}});
  return patch;
}

std::string formatMail(const Patch &patch, const PatchMessage &message) {
  std::string mail = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n";
  mail += fmt::format("From: {}\n", withoutControls(message.author));
  if (!message.date.empty())
    mail += fmt::format("Date: {}\n", withoutControls(message.date));
  mail += fmt::format("Subject: [PATCH] {}\n", withoutControls(message.subject));
  mail += "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: "
          "8bit\n\n";
  std::string body = message.body;
  for (const FileEdits &file : patch.files)
    if (file.flags)
      body += "\n\n" + flagsInWords(file.path, *file.flags);
  mail += messageBody(body);
  mail += '\n';
  const auto trailer = [&](std::string_view key, const std::string &value) {
    if (!value.empty())
      mail += fmt::format("{}: {}\n", key, withoutControls(value));
  };
  trailer("Kopt-Kernel", message.kernel);
  trailer("Kopt-Device", message.device);
  trailer("Kopt-Speedup", message.speedup);
  trailer("Kopt-Verified-By", message.verifiedBy);
  for (const FileEdits &file : patch.files)
    trailer("Kopt-Source-Hash", file.baseHash + " " + file.path);
  const std::string how =
      patch.isOfSeveralTrees ? "kopt apply: it changes several git work trees"
      : patch.text.find('\r') != patch.text.npos
          ? "git am --keep-cr, or git am where .gitattributes or core.autocrlf make the CR LF"
          : "";
  mail += how.empty() ? kEndOfMessage : kApplyWith + how + "\n\n";
  return mail + patch.text + "-- \nkopt\n";
}

std::string howToApply(const std::string &mail) {
  const std::size_t at = mail.find(kApplyWith), begin = at + kEndOfMessage.size();
  return at == mail.npos ? std::string() : mail.substr(begin, mail.find('\n', begin) - begin);
}

Result<std::vector<AppliedFile>> applyPatch(const std::vector<FileEdits> &files,
                                            const fs::path &root, bool checkOnly) {
  std::vector<AppliedFile> applied;
  std::vector<NewContent> contents;
  std::string done;
  for (const FileEdits &edits : files) {
    const fs::path file = root / edits.path;
    const bool isOther = edits.baseHash == edits.resultHash;
    if (!isOther && relativeName(file, root).empty())
      return makeError(ErrorCode::Usage,
                       fmt::format("the patch changes {}, outside {}", edits.path, root.string()),
                       "apply only patches that kopt wrote for this project", file.string());
    if (!isThere(file))
      return makeError(
          ErrorCode::StaleInput,
          fmt::format("the patch needs {}, which is not in {}", edits.path, root.string()),
          "apply it in the project that was tuned", file.string());
    KOPT_TRY(const std::string before, readFile(file));
    const std::string hash = hashHex(before);
    if (isOther && hash == edits.baseHash)
      continue;
    if (hash == edits.resultHash) {
      done = edits.path;
      if (!checkOnly)
        removeLeftovers(file);
      continue; // a kill interrupted an earlier call, which is completed
    }
    KOPT_TRY(std::string after, changedText(before, hash, edits, file));
    applied.push_back({file, countLines(diffTexts(edits.path, before, after)),
                       edits.flags.value_or(std::vector<std::string>())});
    contents.push_back({file, std::move(after)});
  }
  if (contents.empty() && !done.empty())
    return makeError(ErrorCode::StaleInput, fmt::format("the patch is already applied to {}", done),
                     "to undo it, use git apply --reverse", (root / done).string());
  if (!checkOnly)
    KOPT_CHECK(swapFiles(contents));
  return applied;
}

} // namespace kopt
