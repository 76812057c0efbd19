// SPDX-License-Identifier: Apache-2.0
// A server of the Model Context Protocol (revisions 2024-11-05 to 2025-11-25): tools and resources
// for an agent, as JSON-RPC 2.0 messages of a line each.
#pragma once

#include "driver/llm/Tool.h"
#include "driver/support/JobQueue.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// Texts that an agent may read by name.
class Documents {
public:
  struct Document {
    std::string uri, name, description, mimeType;
  };
  virtual ~Documents() = default;
  virtual std::vector<Document> list() = 0;
  /// Nothing: there is no such document.
  virtual std::optional<std::string> read(const std::string &uri) = 0;
};

class McpServer {
public:
  /// `instructions`: what the agent is told at the beginning. `send` gets a message without its
  /// line end, from any thread, one at a time. All must outlive the server.
  McpServer(ToolBox &tools, Documents &documents, std::string instructions,
            std::function<void(const std::string &)> send);
  /// Cancels all calls and waits for the one that runs.
  ~McpServer();

  /// A message of the client, of which nothing is trusted. Tools are called one after another on a
  /// thread of their own; everything else is answered before it returns.
  void receive(std::string_view line);
  /// Waits until all calls are answered.
  void finish();

private:
  struct Call;

  void handle(const nlohmann::json &message);
  void request(const nlohmann::json &id, const std::string &method, const nlohmann::json &params);
  void notification(const std::string &method, const nlohmann::json &params);
  void callTool(const nlohmann::json &id, const nlohmann::json &params);
  void run(Call &call);
  nlohmann::json initialized(const nlohmann::json &params);
  nlohmann::json toolList() const;
  nlohmann::json resourceList();
  void send(const nlohmann::json &message);
  void reply(const nlohmann::json &id, nlohmann::json result);
  void fail(const nlohmann::json &id, int code, const std::string &what);

  ToolBox &tools_;
  Documents &documents_;
  std::string instructions_;
  std::function<void(const std::string &)> send_;
  bool isInitialized_ = false;
  std::mutex mutex_; ///< guards what follows
  std::mutex sending_;
  std::map<std::string, std::shared_ptr<Call>> calls_; ///< not answered yet, by their id as text
  JobQueue worker_{1};
};

} // namespace kopt
