// SPDX-License-Identifier: Apache-2.0
// What language models and their services answer: code replies, and the two kinds of HTTP bodies
// and streams with their status.
#include "driver/llm/CodeReply.h"
#include "driver/llm/Models.h"
#include "driver/llm/Wire.h"
#include "tests/fakes/FakeClock.h"
#include "tests/fakes/FakeHttpClient.h"
#include "tests/fuzz/Fuzz.h"

using namespace kopt;
using kopt::fuzz::require;

#include <algorithm>
namespace {

void code(std::string_view input) {
  static const CodeContract contract{
      {{"k", "__global__ void k() {} // ... the rest of it\n"}, {"operator ()", "int f;"}},
      {"TILE", "kRows"}};
  const auto reply = parseCodeReply(input, contract);
  if (!reply) {
    require(!reply.error().empty(), "a refusal says why");
    return;
  }
  if (!reply->stop.empty()) {
    require(reply->chunks.empty() && reply->constants.empty() && !reply->block,
            "who stops changes nothing");
    return;
  }
  require(!reply->technique.empty() && reply->technique.size() <= 40,
          "a technique is a short slug");
  require(reply->title.find('\n') == reply->title.npos && reply->title.size() <= 120,
          "a title is one short line");
  for (const auto &[label, text] : reply->chunks) {
    require(contract.chunks.count(label), "only chunks of the contract");
    require(findElision(text, contract.chunks.at(label)).empty(), "no chunk leaves code out");
  }
  for (const auto &[name, value] : reply->constants)
    require(contract.constants.count(name), "only constants of the contract");
  if (reply->block)
    for (const std::string &extent : *reply->block)
      require(!extent.empty() && extent != "0", "no extent is missing or none");
  for (const ReplyTunable &tunable : reply->tunables)
    require(std::ranges::count(tunable.values, tunable.value) == 1, "a value is one of its values");
}

/// Answers are the sections of the input: a status, a blank, a Retry-After or nothing, a newline,
/// the body.
void service(std::string_view input, bool anthropic) {
  fakes::FakeHttpClient::Script script;
  for (const std::string &section : kopt::fuzz::sections(input)) {
    const std::size_t end = std::min(section.find('\n'), section.size());
    const std::string head = section.substr(0, end);
    const std::string body = end < section.size() ? section.substr(end + 1) : "";
    const std::size_t blank = head.find(' ');
    script.answer(std::atoi(head.substr(0, 3).c_str()), body,
                  blank == head.npos ? std::map<std::string, std::string>{}
                                     : std::map<std::string, std::string>{
                                           {"retry-after", head.substr(blank + 1)}});
  }
  fakes::FakeClock clock;
  auto dialect = anthropic ? makeAnthropicDialect("m", "key", "http://localhost")
                           : makeOpenAiDialect("m", "key", "http://localhost/v1", true);
  const auto model =
      makeHttpChat(std::move(dialect), std::make_unique<fakes::FakeHttpClient>(script), clock);
  const auto reply = model->complete(
      {"coder", "system", {{"user", "hello"}}, {{"time", "times it", {{"type", "object"}}}}});
  if (!reply) {
    require(!reply.error().what.empty(), "an error says what");
    return;
  }
  require(!reply->text.empty() || !reply->uses.empty(), "a reply says something");
  for (const ToolUse &use : reply->uses)
    require(!use.id.empty() && argumentsOf(use).is_object(), "a use can be answered and repeated");
  require(reply->inputTokens >= 0 && reply->outputTokens >= 0 && reply->cachedTokens >= 0,
          "tokens are counted from 0");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view input = kopt::fuzz::textOf(data, size);
  const unsigned kind = kopt::fuzz::takeChoice(input, 3);
  if (kind == 0)
    code(input);
  else
    service(input, kind == 1);
  return 0;
}
