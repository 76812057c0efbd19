// SPDX-License-Identifier: Apache-2.0
// The model of a kernel in words, for people: `kopt-frontend model`.
#pragma once

#include "clang_plugin/output/Variants.h"

namespace kopt {

struct ModelRequest {
  KernelSource source;
  std::vector<LaunchShape> launches; ///< strides are said for the one with the most weight
};
KOPT_FIELDS(ModelRequest, source, launches)

struct ModelLine {
  unsigned line = 0, column = 0; ///< of the slice; 0: nowhere in particular
  std::string text;
};
KOPT_FIELDS(ModelLine, line, column, text)

/// Parameters through which the kernel may read memory, and through which it may write.
struct ParameterUses {
  std::vector<std::string> read, written;
};
KOPT_FIELDS(ParameterUses, read, written)

struct ModelReply {
  std::vector<ModelLine> facts;    ///< everything the model knows, in order of lines
  std::vector<ModelLine> accesses; ///< what an engineer looks for, one line an access
  /// Parameters whose memory threads certainly read where others store, were it the output's, too,
  /// without waiting for them: such a kernel cannot be used in place.
  std::vector<std::string> readAcross;
  std::optional<ParameterUses> uses{}; ///< nothing: an access or a call may be of any memory
  /// How often the code has what: "global load, lanes adjacent". It names nothing of the user's.
  std::map<std::string, double> counts;
};
KOPT_FIELDS(ModelReply, facts, accesses, readAcross, uses, counts)

} // namespace kopt
