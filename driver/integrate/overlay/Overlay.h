// SPDX-License-Identifier: Apache-2.0
// Makes overlays: files of the user with the variants in place of the originals, for the compiler.
// Reads files through Sources and has no other effects.
#pragma once

#include "driver/integrate/overlay/Splice.h"

namespace kopt::overlay {

/// The architectures of a build.
struct Archs {
  enum class Kind {
    Known, ///< `names`
    None,  ///< no device code is built
    Unknown
  } kind = Kind::Unknown;
  std::vector<std::string> names; ///< "80", "90a"
};

/// Parses "80,90a" or "none"; anything else is unknown.
Archs parseArchs(const std::string &text);

/// How a build uses a variant: always, only when compiling device code of certain architectures, or
/// never.
enum class Taken { Always, ByArch, Never };
Taken takenBy(const Entry &entry, const Archs &archs);

/// A message for the user.
struct Message {
  std::string file; ///< absolute
  unsigned line = 0;
  std::string text;
  bool isWarning = true;
};

struct OverlayRequest {
  std::string source;                      ///< as the command line spells it, but absolute
  std::string lockFolder, work;            ///< folder of kopt.lock; folder for overlays
  std::string project;                     ///< only headers below it are examined
  std::vector<std::string> includeFolders; ///< absolute, in the compiler's order
  Archs archs;
  bool isNvcc = true; ///< the compiler, which takes the options of variants
};

/// The overlays of one compilation.
struct OverlaySet {
  std::map<std::string, std::string> texts;  ///< text of each overlay, by the user's file
  std::map<std::string, std::string> places; ///< path of each overlay, by the user's file
  /// Files that decided the result, besides the included ones.
  std::vector<std::string> dependencies;
  std::vector<std::string> seen; ///< the source and the included headers of the project
  std::vector<Message> messages;
  std::vector<std::string> options; ///< that the compiler has to be given
};

/// `texts` is empty if the compilation includes no file that has a variant.
OverlaySet makeOverlays(const Lock &lock, const OverlayRequest &request, Sources &sources);

/// A short name for a file, the same in every build.
std::string shortName(const std::string &path);

} // namespace kopt::overlay
