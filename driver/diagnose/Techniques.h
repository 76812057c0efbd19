// SPDX-License-Identifier: Apache-2.0
// The names of techniques: rules, rewrites, skills, language models and what was learnt of each use
// the same ones.
#pragma once

#include "driver/support/Result.h"

#include <map>
#include <string>
#include <vector>

namespace kopt {

struct Technique {
  std::string id;
  std::string what; ///< in one line
  std::vector<std::string> aliases;
};

/// knowledge/techniques.json. load() fails with Internal, naming the key, if it is wrong or if a
/// name has two meanings.
class Techniques {
public:
  static Result<Techniques> load();
  const std::vector<Technique> &all() const { return all_; }
  /// The id for an id or an alias, whatever its case and with blanks or underscores for dashes. A
  /// name that nobody knows stays as it is.
  std::string named(const std::string &name) const;
  bool has(const std::string &id) const;

private:
  std::vector<Technique> all_;
  std::map<std::string, std::string> ids_; ///< by name or alias
};

} // namespace kopt
