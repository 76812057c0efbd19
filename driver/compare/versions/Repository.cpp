// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/Repository.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

Result<ProcessResult> runGit(ProcessRunner &processes, const fs::path &folder,
                             std::vector<std::string> arguments,
                             const std::map<std::string, std::string> &env) {
  ProcessSpec spec;
  spec.argv = {"git", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.cwd = folder;
  spec.env = env;
  spec.env["LC_ALL"] = "C";
  spec.timeout = Duration(600);
  spec.outputLimit = 256u << 20;
  return processes.run(spec);
}

std::string oneLine(const std::string &text) {
  return replaceAll(std::string(trim(text)), "\n", "; ");
}

std::string_view hashOf(const std::string &answer) { return trim(answer); }

} // namespace

Result<Repository> Repository::open(ProcessRunner &processes, const fs::path &folder) {
  KOPT_TRY(const ProcessResult result,
           runGit(processes, folder, {"rev-parse", "--show-toplevel"}, {}));
  if (!result.ok())
    return makeError(
        ErrorCode::Usage,
        fmt::format("{} is not in a git repository: {}", folder.string(), oneLine(result.err)),
        "start kopt ci in a working tree of the repository");
  std::error_code ignored;
  fs::path top = fs::canonical(std::string(trim(result.out)), ignored);
  return Repository(processes, ignored ? fs::path(trim(result.out)) : top);
}

Result<std::string> Repository::git(std::vector<std::string> arguments,
                                    const std::map<std::string, std::string> &env) const {
  const std::string command = arguments.front();
  KOPT_TRY(ProcessResult result, runGit(*processes_, top_, std::move(arguments), env));
  if (!result.ok())
    return makeError(ErrorCode::Environment,
                     result.timedOut ? fmt::format("'git {}' did not end", command)
                                     : fmt::format("'git {}' failed with exit code {}: {}", command,
                                                   result.exitCode, oneLine(result.err)),
                     "", top_.string());
  return std::move(result.out);
}

Result<std::string> Repository::head() const {
  const auto answer = git({"rev-parse", "--verify", "--quiet", "HEAD^{commit}"});
  if (!answer)
    return makeError(ErrorCode::Usage, "the repository has no commit yet", "", top_.string());
  return std::string(hashOf(*answer));
}

Result<std::string> Repository::mergeBase(const std::string &ref) const {
  // A name that begins with a dash is not an option.
  const auto commit =
      git({"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"});
  if (!commit)
    return makeError(ErrorCode::Usage, fmt::format("there is no commit '{}'", ref),
                     "give a branch, a tag or a commit that was fetched, as in 'git fetch origin "
                     "main' and --base origin/main");
  const auto base = git({"merge-base", "HEAD", std::string(hashOf(*commit))});
  if (!base)
    return makeError(ErrorCode::Usage,
                     fmt::format("no common commit of HEAD and '{}' is known here", ref),
                     "a shallow clone may lack it: fetch more of the history (git fetch "
                     "--unshallow; in GitHub Actions fetch-depth: 0; in GitLab GIT_DEPTH: 0)");
  return std::string(hashOf(*base));
}

Result<std::vector<ChangedFile>> parseNameStatus(const std::string &text) {
  std::vector<std::string> words = split(text, '\0');
  if (!words.empty() && words.back().empty())
    words.pop_back();
  std::vector<ChangedFile> files;
  for (std::size_t i = 0; i < words.size();) {
    const std::string &status = words[i];
    const bool isPair = status.starts_with("R") || status.starts_with("C");
    if (status.empty() || i + (isPair ? 2 : 1) >= words.size())
      return makeError(ErrorCode::Internal, "git gave a list of changes that cannot be read");
    ChangedFile file;
    file.status = status[0] == 'C' ? 'A' : status[0];
    if (status[0] == 'R')
      file.oldPath = words[i + 1];
    file.path = words[i + (isPair ? 2 : 1)];
    files.push_back(std::move(file));
    i += isPair ? 3 : 2;
  }
  return files;
}

Result<std::vector<ChangedFile>> Repository::changes(const std::string &commit) const {
  KOPT_TRY(const std::string tracked, git({"diff", "--name-status", "-z", "--find-renames",
                                           "--no-ext-diff", "--no-textconv", commit, "--"}));
  KOPT_TRY(std::vector<ChangedFile> files, parseNameStatus(tracked));
  KOPT_TRY(const std::string others, git({"ls-files", "-z", "--others", "--exclude-standard"}));
  for (const std::string &path : split(others, '\0'))
    if (!path.empty())
      files.push_back({'?', path, ""});
  return files;
}

Result<bool> Repository::isDirty() const {
  KOPT_TRY(const std::string answer, git({"status", "--porcelain", "--untracked-files=no"}));
  return !trim(answer).empty();
}

Status Repository::checkOut(const std::string &commit, const fs::path &folder) const {
  KOPT_CHECK(createDirectories(folder));
  const std::map<std::string, std::string> env = {{"GIT_INDEX_FILE", folder.string() + ".index"}};
  KOPT_CHECK(git({"read-tree", commit}, env));
  KOPT_CHECK(git({"checkout-index", "--all", "--force", "--prefix=" + folder.string() + "/"}, env));
  KOPT_TRY(const std::string tree, git({"ls-tree", "-r", "-z", commit}));
  for (const std::string &entry : split(tree, '\0')) {
    const std::size_t tab = entry.find('\t');
    if (!entry.starts_with("160000 ") || tab == entry.npos)
      continue;
    const fs::path link = folder / entry.substr(tab + 1);
    std::error_code failed;
    fs::remove(link, failed); // git leaves an empty folder
    KOPT_CHECK(createDirectories(link.parent_path()));
    fs::create_directory_symlink(top_ / entry.substr(tab + 1), link, failed);
    if (failed)
      return makeError(ErrorCode::Environment,
                       fmt::format("cannot link the submodule: {}", failed.message()), "",
                       link.string());
  }
  return {};
}

} // namespace kopt
