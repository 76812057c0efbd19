// SPDX-License-Identifier: Apache-2.0
// What a model may look at in its turn, before it hands a candidate in.
#pragma once

#include "driver/llm/Tool.h"
#include "driver/model/Candidate.h"

namespace kopt {

class CandidateTools {
public:
  virtual ~CandidateTools() = default;
  /// In the order in which a model is told of them. Where the input of one has a `candidate`, it is
  /// of the contract's form.
  virtual const std::vector<Tool> &tools() const = 0;
  /// `candidate`: what the arguments describe; the version to improve where they have none.
  virtual ToolResult call(const Tool &tool, const Candidate &candidate,
                          const nlohmann::json &arguments) = 0;
};

} // namespace kopt
