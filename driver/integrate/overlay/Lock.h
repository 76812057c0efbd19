// SPDX-License-Identifier: Apache-2.0
// kopt.lock lists the kernels that have variants, the text of the user's files that each depends
// on, and the text that it replaces. Users' builds compile this folder, so it is limited to C++17
// and the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::overlay {

/// Two polynomial hashes modulo 2^61-1 over the bytes, as 32 hex digits. It detects changes of a
/// text and can be searched for in a file; it does not protect against an adversary. Locks contain
/// it: never change it.
std::string contentHash(std::string_view bytes);

/// Every offset at which a text of that length and hash begins.
std::vector<std::size_t> findByHash(std::string_view text, std::size_t length,
                                    const std::string &hash);

/// The name of a use that is a whole file, which nothing may be added to.
inline constexpr const char *kWholeFile = "the file";

/// Text that a variant was judged with. As long as it is unchanged, the variant holds.
struct Use {
  /// Relative to the project, or "build:" and a path relative to the build folder.
  std::string file;
  std::uint64_t begin = 0, end = 0; ///< byte offsets when it was tuned
  unsigned line = 0;                ///< of `begin`, from 1
  std::string name;                 ///< for messages: "the kernel 'blur'", "the launch"
  std::string hash;
};

/// Bytes of a file that the variant replaces.
struct Edit {
  std::size_t use = 0;              ///< index of the use that contains it
  std::uint64_t begin = 0, end = 0; ///< as Use::begin and Use::end
  std::string hash;                 ///< of the new text
  std::string text, was;            ///< the new and the old text, if both are one line
  std::string section;              ///< otherwise the name of the new text in the .cuh file
};

/// A variant of a kernel.
struct Entry {
  std::string kernel, symbol, place;        ///< label, mangled name, file:line when it was tuned
  std::string title;                        ///< what it changes
  std::string state, reason;                ///< "confirmed", "modelled" or "unconfirmed", and why
  std::string variants;                     ///< name of the .cuh file beside the lock
  std::string device;                       ///< that it was measured on
  std::string assurance;                    ///< full or partial
  std::string run, session, tunedUtc, kopt; ///< the run that found it; the version of kopt
  std::string regressed;                    ///< why it is no longer used; empty: it is used
  std::vector<std::string> archs;           ///< for which it is used: "sm_90"; "all"
  std::vector<std::string> gaps;            ///< what was not shown
  /// Of nvcc, for each file that compiles it; "{project}" stands for the project's folder.
  std::vector<std::string> options;
  /// It changes device code only, so that other architectures of one build can keep the original.
  bool deviceOnly = false;
  bool inProgram = false; ///< the speedup is of the program's launches, not of isolated ones
  bool modelled = false;  ///< the speedup is of the emulated device
  double speedup = 1, low = 1, high = 1;
  std::vector<Use> uses;
  std::vector<Edit> edits;

  /// The files of its uses, each once; with `editedOnly`, only those with edits.
  std::vector<std::string> files(bool editedOnly) const;
};

struct Lock {
  std::vector<Entry> entries;
};

/// The current contents of the user's files, each read once.
class Sources {
public:
  /// `buildFolder` may be empty.
  Sources(std::string project, std::string buildFolder)
      : project_(std::move(project)), build_(std::move(buildFolder)) {}
  /// The absolute path for a path of the lock.
  std::string resolve(const std::string &file) const;
  /// The content of an absolute path; null if it cannot be read.
  const std::string *read(const std::string &path);

private:
  std::string project_, build_;
  std::map<std::string, std::optional<std::string>> read_;
};

/// A change that invalidates a variant, or the lock.
struct Change {
  std::string file;  ///< absolute
  unsigned line = 0; ///< 0: the whole file
  std::string what;  ///< "the constant 'TILE' changed"
};

/// Nothing if the text is not a valid lock; `problem` then gives the reason and the line.
std::optional<Lock> parseLock(std::string_view text, Change &problem);
/// The text of a lock; it is the same for equal locks.
std::string lockText(const Lock &lock);

/// Where the texts of an entry are now.
struct Located {
  std::vector<std::uint64_t> begins; ///< of each use; valid if `changes` is empty
  std::vector<Change> changes;       ///< empty: the variant holds
};

/// Finds the texts of an entry, also if they moved within their files, unless that is ambiguous.
Located locate(const Entry &entry, Sources &sources);

/// The new text of an edit, and where it comes from.
struct NewText {
  std::string text;
  std::string file;  ///< absolute path of the .cuh file; empty: it is in the lock
  unsigned line = 0; ///< of its first line there
};

/// Nothing if the .cuh file lacks the text or has another one; `change` then describes that.
std::optional<NewText> newTextOf(const Entry &entry, const Edit &edit,
                                 const std::string &lockFolder, Sources &sources, Change &change);

/// The lines that begin and end a section of a .cuh file.
std::string sectionBegin(const std::string &name);
inline constexpr std::string_view kSectionEnd = "//! end of the text\n";

/// The line number of a byte, from 1.
unsigned lineAt(std::string_view text, std::size_t byte);

} // namespace kopt::overlay
