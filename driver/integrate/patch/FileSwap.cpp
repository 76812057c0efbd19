// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/patch/FileSwap.h"

#include "driver/support/FileSystem.h"

#include <fmt/format.h>
#include <unistd.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// The replacement of one file: `fresh` holds the new text, `old` is a second name of the old file.
struct Move {
  fs::path file, fresh, old;
  bool renamed = false;
};

/// The names beside the file, followed by the number of the process.
constexpr std::string_view kNew = ".kopt-new.", kOld = ".kopt-old.";

/// Replaces files. The destructor restores the old files unless the changes were kept.
class Swap {
public:
  ~Swap() {
    std::error_code ignored;
    for (const Move &move : moves_) {
      if (move.renamed && !kept_)
        fs::rename(move.old, move.file, ignored);
      fs::remove(move.fresh, ignored);
      fs::remove(move.old, ignored);
    }
  }

  Status prepare(const NewContent &content) {
    std::error_code error;
    const fs::path file = fs::canonical(content.file, error);
    if (error)
      return swapFailure("find", content.file, error);
    const fs::file_status status = fs::status(file, error);
    if (error)
      return swapFailure("examine", file, error);
    // Renaming would replace a read-only file, which is meant to stay as it is.
    if (::access(file.c_str(), W_OK) != 0)
      return swapFailure("write to", file, std::error_code(errno, std::generic_category()));
    removeLeftovers(file);
    const std::string pid = std::to_string(::getpid());
    moves_.push_back({file, file.string() + std::string(kNew) + pid,
                      file.string() + std::string(kOld) + pid, false});
    const Move &move = moves_.back();
    KOPT_CHECK(writeFileAtomically(move.fresh, content.text));
    fs::permissions(move.fresh, status.permissions(), error);
    if (error)
      return swapFailure("set the permissions of", move.fresh, error);
    fs::create_hard_link(move.file, move.old, error);
    if (error) // a file system without hard links
      fs::copy_file(move.file, move.old, error);
    if (error)
      return swapFailure("keep a copy of", move.file, error);
    return {};
  }

  Status commit() {
    for (Move &move : moves_) {
      std::error_code error;
      fs::rename(move.fresh, move.file, error);
      if (error)
        return swapFailure("replace", move.file, error);
      move.renamed = true;
    }
    kept_ = true;
    return {};
  }

private:
  std::vector<Move> moves_;
  bool kept_ = false;
};

} // namespace

tl::unexpected<Error> swapFailure(const char *verb, const fs::path &path,
                                  const std::error_code &error) {
  return makeError(
      ErrorCode::Environment, fmt::format("cannot {} {}: {}", verb, path.string(), error.message()),
      "nothing was changed; check the permissions and the free space of its folder", path.string());
}

void removeLeftovers(const fs::path &file) {
  const std::string name = file.filename().string();
  for (const std::string_view marker : {kNew, kOld})
    for (const char *hidden : {"", "."}) // hidden: writeFileAtomically() was interrupted
      removeLeftovers(file.parent_path(), hidden + name + std::string(marker));
}

Status swapFiles(const std::vector<NewContent> &contents) {
  Swap swap;
  for (const NewContent &content : contents)
    KOPT_CHECK(swap.prepare(content));
  return swap.commit();
}

} // namespace kopt
