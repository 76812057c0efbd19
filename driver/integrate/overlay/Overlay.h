// SPDX-License-Identifier: Apache-2.0
// A file of the user's with the variants in place of the originals, as the compiler is to see it.
// Pure but for reading files through Sources.
#pragma once

#include "driver/integrate/overlay/Splice.h"

namespace kopt::overlay {

/// The architectures of a build.
struct Archs {
  enum class Kind {
    Known, ///< `names`
    None,  ///< no device code is built at all
    Unknown
  } kind = Kind::Unknown;
  std::vector<std::string> names; ///< "80", "90a"
};

/// "80,90a"; "none"; anything else is unknown.
Archs parseArchs(const std::string &text);

/// Whether the build takes a variant: always, only where the device code of one architecture is
/// compiled, or never.
enum class Taken { Always, ByArch, Never };
Taken takenBy(const Entry &entry, const Archs &archs);

/// What to tell the user.
struct Message {
  std::string file; ///< absolute
  unsigned line = 0;
  std::string text;
  bool isWarning = true;
};

struct OverlayRequest {
  std::string source;                      ///< as the command line spells it; absolute
  std::string lockFolder, work;            ///< of kopt.lock; where overlays go
  std::string project;                     ///< headers are looked through below it alone
  std::vector<std::string> includeFolders; ///< absolute, in the compiler's order
  Archs archs;
};

/// What a compilation is to see.
struct OverlaySet {
  std::map<std::string, std::string> texts;  ///< by the user's file: the overlay's text
  std::map<std::string, std::string> places; ///< by the user's file: where it is to be written
  std::vector<std::string> dependencies;     ///< files that decided it, beside those it includes
  std::vector<std::string> seen; ///< the source and the headers of the project that it includes
  std::vector<Message> messages;
};

/// Nothing in `texts` where the compilation sees no file that has a variant.
OverlaySet makeOverlays(const Lock &lock, const OverlayRequest &request, Sources &sources);

/// A short name for a file: the same in every build.
std::string shortName(const std::string &path);

} // namespace kopt::overlay
