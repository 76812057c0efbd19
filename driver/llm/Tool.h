// SPDX-License-Identifier: Apache-2.0
// What a model may ask kopt to do, the same for a conversation that kopt leads and for an agent
// that leads its own.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kopt {

struct Tool {
  std::string name; ///< "compile"
  std::string description;
  nlohmann::json input;      ///< JSON schema of its arguments, an object (Schema.h)
  bool changesFiles = false; ///< of the user
};

struct ToolResult {
  std::string text;              ///< what the model reads
  bool failed = false;           ///< it was not done, for the reason in the text
  nlohmann::json data = nullptr; ///< the same as an object; null: there is only the text
};

/// What a call under way may see and say.
struct ToolCall {
  const std::atomic<bool> &cancelled;
  /// How far it is, of how much (0: not known), and a line for a person. May be called at any time.
  std::function<void(double done, double total, const std::string &what)> progress;
};

/// The tools of one conversation.
class ToolBox {
public:
  virtual ~ToolBox() = default;
  virtual const std::vector<Tool> &tools() const = 0;
  /// `arguments` have been checked against the tool's schema. Calls come one after another.
  virtual ToolResult call(const Tool &tool, const nlohmann::json &arguments,
                          const ToolCall &call) = 0;
};

} // namespace kopt
