// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/mcp/McpServer.h"

#include "driver/llm/Schema.h"
#include "driver/llm/Wire.h"
#include "driver/model/Version.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kopt {
namespace {

using nlohmann::json;

/// Revisions that begin with `initialize`, the oldest first. They differ in nothing that kopt uses.
constexpr std::array kRevisions{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

/// JSON-RPC 2.0, section 5.1, and the protocol's own for a resource that there is not.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602, kResourceNotFound = -32002;

bool isId(const json &id) { return id.is_string() || id.is_number_integer(); }

std::string textOf(const json &object, const char *key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

} // namespace

struct McpServer::Call {
  json id, progressToken;
  const Tool *tool = nullptr;
  json arguments;
  std::atomic<bool> cancelled = false;
};

McpServer::McpServer(ToolBox &tools, Documents &documents, std::string instructions,
                     std::function<void(const std::string &)> send)
    : tools_(tools), documents_(documents), instructions_(std::move(instructions)),
      send_(std::move(send)) {}

McpServer::~McpServer() {
  const std::lock_guard lock(mutex_);
  for (const auto &[id, call] : calls_)
    call->cancelled = true;
}

void McpServer::finish() {
  worker_.runAndWait([] {});
}

void McpServer::receive(std::string_view line) {
  if (trim(line).empty())
    return;
  const auto message = parseWire(line);
  if (!message)
    return fail(nullptr, kParseError, "the line is not JSON");
  handle(*message);
}

void McpServer::handle(const json &message) {
  if (!message.is_object() || textOf(message, "jsonrpc") != "2.0")
    return fail(nullptr, kInvalidRequest, "a JSON-RPC 2.0 message is expected");
  const auto id = message.find("id");
  const auto method = message.find("method");
  if (method == message.end())
    return; // an answer, and nothing was asked
  if (id != message.end() && !isId(*id))
    return fail(nullptr, kInvalidRequest, "an id is a text or a whole number");
  const json params = message.value("params", json::object());
  if (!method->is_string() || !params.is_object())
    return id == message.end() ? void()
                               : fail(*id, kInvalidRequest,
                                      "the method has to be a text, and the params an object");
  if (id == message.end())
    return notification(*method, params);
  request(*id, *method, params);
}

void McpServer::notification(const std::string &method, const json &params) {
  if (method != "notifications/cancelled")
    return;
  const std::lock_guard lock(mutex_);
  if (const auto id = params.find("requestId"); id != params.end() && isId(*id))
    if (const auto call = calls_.find(id->dump()); call != calls_.end())
      call->second->cancelled = true;
}

void McpServer::request(const json &id, const std::string &method, const json &params) {
  if (method == "ping")
    return reply(id, json::object());
  if (method == "initialize")
    return params.contains("protocolVersion") && params["protocolVersion"].is_string()
               ? reply(id, initialized(params))
               : fail(id, kInvalidParams, "\"protocolVersion\" is missing");
  static const std::array kAfter{"tools/list", "tools/call", "resources/list",
                                 "resources/templates/list", "resources/read"};
  if (std::ranges::find(kAfter, method) == kAfter.end())
    return fail(id, kMethodNotFound, fmt::format("there is no method '{}'", method));
  if (!isInitialized_)
    return fail(id, kInvalidRequest, "the first request has to be 'initialize'");
  if (params.contains("cursor"))
    return fail(id, kInvalidParams, "lists have one page: there is no cursor");
  if (method == "tools/list")
    return reply(id, {{"tools", toolList()}});
  if (method == "resources/list")
    return reply(id, {{"resources", resourceList()}});
  if (method == "resources/templates/list")
    return reply(id, {{"resourceTemplates", json::array()}});
  if (method == "tools/call")
    return callTool(id, params);
  const std::string uri = textOf(params, "uri");
  const auto text = documents_.read(uri);
  if (!text)
    return fail(id, kResourceNotFound, fmt::format("there is no resource '{}'", uri));
  reply(id, {{"contents", {{{"uri", uri}, {"mimeType", "text/markdown"}, {"text", *text}}}}});
}

json McpServer::initialized(const json &params) {
  isInitialized_ = true;
  const std::string wanted = textOf(params, "protocolVersion");
  const bool isKnown = std::ranges::find(kRevisions, wanted) != kRevisions.end();
  return {{"protocolVersion", isKnown ? wanted : kRevisions.back()},
          {"capabilities", {{"tools", json::object()}, {"resources", json::object()}}},
          {"serverInfo", {{"name", "kopt"}, {"version", koptVersion()}}},
          {"instructions", instructions_}};
}

json McpServer::toolList() const {
  json list = json::array();
  for (const Tool &tool : tools_.tools())
    list.push_back(
        {{"name", tool.name},
         {"description", tool.description},
         {"inputSchema", tool.input},
         {"annotations", {{"readOnlyHint", !tool.changesFiles}, {"openWorldHint", false}}}});
  return list;
}

json McpServer::resourceList() {
  json list = json::array();
  for (const Documents::Document &document : documents_.list())
    list.push_back({{"uri", document.uri},
                    {"name", document.name},
                    {"description", document.description},
                    {"mimeType", document.mimeType}});
  return list;
}

void McpServer::callTool(const json &id, const json &params) {
  const std::string name = textOf(params, "name");
  const auto tool = std::ranges::find(tools_.tools(), name, &Tool::name);
  if (tool == tools_.tools().end())
    return fail(id, kInvalidParams, fmt::format("there is no tool '{}'", name));
  auto call = std::make_shared<Call>();
  call->id = id;
  call->tool = &*tool;
  call->arguments = params.value("arguments", json::object());
  if (const auto meta = params.find("_meta"); meta != params.end() && meta->is_object())
    if (const auto token = meta->find("progressToken"); token != meta->end() && isId(*token))
      call->progressToken = *token;
  {
    const std::lock_guard lock(mutex_);
    if (!calls_.emplace(id.dump(), call).second)
      return fail(id, kInvalidRequest, "another request with this id is not answered yet");
  }
  worker_.add([this, call] { run(*call); });
}

void McpServer::run(Call &call) {
  const ToolCall under{call.cancelled, [&](double done, double total, const std::string &what) {
                         if (call.progressToken.is_null() || call.cancelled)
                           return;
                         json params{{"progressToken", call.progressToken}, {"progress", done}};
                         if (total > 0)
                           params["total"] = total;
                         if (!what.empty())
                           params["message"] = what;
                         send({{"jsonrpc", "2.0"},
                               {"method", "notifications/progress"},
                               {"params", std::move(params)}});
                       }};
  ToolResult result;
  // What a model got wrong it is told as the tool's result: that is what it reads.
  std::vector<std::string> wrong;
  for (const SchemaBreach &breach : schemaBreaches(call.arguments, call.tool->input))
    wrong.push_back(breach.text());
  if (!wrong.empty())
    result = {.text = "the arguments are wrong: " + join(wrong, "; "), .failed = true};
  else if (!call.cancelled)
    result = tools_.call(*call.tool, call.arguments, under);
  {
    const std::lock_guard lock(mutex_);
    calls_.erase(call.id.dump());
  }
  if (call.cancelled)
    return; // the protocol: no answer
  json answer{{"content", {{{"type", "text"}, {"text", result.text}}}}, {"isError", result.failed}};
  if (result.data.is_object())
    answer["structuredContent"] = std::move(result.data);
  reply(call.id, std::move(answer));
}

void McpServer::send(const json &message) {
  const std::string line = message.dump(-1, ' ', false, json::error_handler_t::replace);
  const std::lock_guard lock(sending_);
  send_(line);
}

void McpServer::reply(const json &id, json result) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void McpServer::fail(const json &id, int code, const std::string &what) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", what}}}});
}

} // namespace kopt
