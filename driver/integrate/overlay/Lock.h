// SPDX-License-Identifier: Apache-2.0
// kopt.lock: which kernels have variants, what text of the user's files each depends on, and what
// it replaces. This folder is C++17 and the standard library alone: users' builds compile it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::overlay {

/// 32 hex digits: two polynomial hashes modulo 2^61-1 over the bytes. It tells a text from a
/// changed one and can be looked for in a file; it is no protection against an adversary. Locks
/// hold it: never change it.
std::string contentHash(std::string_view bytes);

/// Every place where a text of that length and hash begins.
std::vector<std::size_t> findByHash(std::string_view text, std::size_t length,
                                    const std::string &hash);

/// Text that a variant was judged with. Unchanged, the variant still holds.
struct Use {
  std::string file; ///< relative to the project, or "build:" and relative to the build folder
  std::uint64_t begin = 0, end = 0; ///< bytes, when it was tuned
  unsigned line = 0;                ///< of `begin`, from 1
  std::string name;                 ///< for people: "the kernel 'blur'", "the launch"
  std::string hash;
};

/// Bytes of a file that the variant replaces.
struct Edit {
  std::size_t use = 0;              ///< the text that they are part of
  std::uint64_t begin = 0, end = 0; ///< as those of the use
  std::string text;                 ///< the new text where it is one line
  std::string section;              ///< otherwise its name in the .cuh file
  std::string hash;                 ///< of the new text
};

/// A variant of a kernel.
struct Entry {
  std::string kernel, symbol, place; ///< label, mangled, file:line when it was tuned
  std::string title, state;          ///< what it changes; "confirmed", "modelled" or "unconfirmed"
  std::string variants;              ///< name of the .cuh file beside the lock
  std::string run;                   ///< that found it
  std::string regressed;             ///< why it is no longer used; empty: nothing speaks against it
  std::vector<std::string> archs;    ///< that it is for, "sm_90"; "all"
  /// It changes nothing but code of the device: others may have the original beside it.
  bool deviceOnly = false;
  double speedup = 1;
  std::vector<Use> uses;
  std::vector<Edit> edits;

  /// Its files, each once, those with edits or all.
  std::vector<std::string> files(bool editedOnly) const;
};

struct Lock {
  std::vector<Entry> entries;
};

/// Nothing where the text is no lock; `problem` then says why, with a line.
std::optional<Lock> parseLock(std::string_view text, std::string &problem);

/// The user's files as they are, each read once.
class Sources {
public:
  /// `buildFolder` may be empty.
  Sources(std::string project, std::string buildFolder)
      : project_(std::move(project)), build_(std::move(buildFolder)) {}
  /// Absolute, for a path of the lock.
  std::string resolve(const std::string &file) const;
  /// The content of an absolute path; null where it cannot be read.
  const std::string *read(const std::string &path);

private:
  std::string project_, build_;
  std::map<std::string, std::optional<std::string>> read_;
};

/// What changed.
struct Change {
  std::string file; ///< absolute
  unsigned line = 0;
  std::string what; ///< "the constant 'TILE' changed"
};

/// Where the text of an entry is now.
struct Located {
  std::vector<std::uint64_t> begins; ///< of each use; meaningful where nothing changed
  std::vector<Change> changes;       ///< empty: the variant holds
};

/// A text that moved within its file is found again, where that is unambiguous.
Located locate(const Entry &entry, Sources &sources);

/// The new text of an edit, and where it stands.
struct NewText {
  std::string text;
  std::string file;  ///< absolute, of the .cuh; empty: it stands in the lock
  unsigned line = 0; ///< of its first line there
};

/// Nothing where the .cuh file lacks it or has another text; `change` then says so.
std::optional<NewText> newTextOf(const Entry &entry, const Edit &edit,
                                 const std::string &lockFolder, Sources &sources, Change &change);

/// The lines around a section of a .cuh file.
std::string sectionBegin(const std::string &name);
inline constexpr std::string_view kSectionEnd = "//! end of the text\n";

/// The line of a byte, from 1.
unsigned lineAt(std::string_view text, std::size_t byte);

} // namespace kopt::overlay
