// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tools/ProjectFiles.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Glob.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kLargest = 4u << 20;

/// Hidden, or named as keys are.
bool isPrivate(std::string name) {
  static const std::vector<std::string> kKeys = {
      ".*",          "*.pem",     "*.key",    "*.p12",        "*.pfx",
      "*.jks",       "*.kdbx",    "*.gpg",    "*.env",        "id_rsa*",
      "id_ed25519*", "id_ecdsa*", "*secret*", "*credential*", "*password*"};
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(kKeys, [&](const auto &glob) { return matchesGlob(glob, name); });
}

} // namespace

Result<fs::path> projectFile(const fs::path &project, const std::string &name) {
  const auto refuse = [&](const char *why) {
    return makeError(ErrorCode::Usage, fmt::format("'{}' {}", name, why),
                     "name a file within the project's folder");
  };
  if (name.empty() || name.find('\0') != name.npos)
    return refuse("names no file");
  std::error_code error;
  const fs::path root = fs::canonical(project, error);
  const fs::path real = fs::canonical(root / name, error); // follows links
  if (error)
    return refuse("does not exist");
  const fs::path inside = real.lexically_relative(root);
  if (inside.empty() || *inside.begin() == ".." || inside == ".")
    return refuse("lies outside of the project's folder");
  if (std::ranges::any_of(inside, [](const fs::path &part) { return isPrivate(part.string()); }))
    return refuse("is hidden, or may hold a key: agents do not get it");
  if (!fs::is_regular_file(real, error))
    return refuse("is no file");
  return real;
}

Result<std::string> projectLines(const fs::path &project, const std::string &name, std::size_t from,
                                 std::size_t most) {
  KOPT_TRY(const fs::path file, projectFile(project, name));
  std::error_code error;
  if (fs::file_size(file, error) > kLargest || error)
    return makeError(ErrorCode::Usage, fmt::format("'{}' is larger than 4 MiB", name));
  KOPT_TRY(const std::string text, readFile(file));
  if (text.find('\0') != text.npos)
    return makeError(ErrorCode::Usage, fmt::format("'{}' is no text", name));
  const std::vector<std::string> lines = split(text, '\n');
  std::string part;
  for (std::size_t i = from; i < from + most && i <= lines.size(); ++i)
    part += fmt::format("{:>5}  {}\n", i, lines[i - 1]);
  if (from + most <= lines.size())
    part +=
        fmt::format("[{} lines follow: from = {}]\n", lines.size() + 1 - from - most, from + most);
  return part;
}

} // namespace kopt
