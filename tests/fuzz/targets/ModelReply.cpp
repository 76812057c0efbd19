// SPDX-License-Identifier: Apache-2.0
// What language models and their services answer: code replies, candidates for tools, and the two
// kinds of HTTP bodies and streams with their status.
#include "driver/llm/Models.h"
#include "driver/llm/Wire.h"
#include "driver/llm/contract/Contract.h"
#include "driver/llm/contract/ReplyText.h"
#include "tests/fakes/FakeClock.h"
#include "tests/fakes/FakeHttpClient.h"
#include "tests/fuzz/Fuzz.h"

#include <algorithm>
#include <set>

using namespace kopt;
using kopt::fuzz::require;

namespace {

const CodeContract &contract() {
  static const CodeContract kContract{
      {{"k", "__global__ void k() {} // ... the rest of it\n"}, {"operator ()", "int f;"}},
      {"TILE", "kRows"}};
  return kContract;
}

bool isLine(const std::string &text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20; });
}

void requireOfCandidate(const ReplyCandidate &candidate) {
  require(!candidate.id.empty() && isLine(candidate.id) && candidate.id.size() <= 40,
          "an id is short");
  require(!candidate.title.empty() && isLine(candidate.title) && candidate.title.size() <= 120,
          "a title is one short line");
  require(candidate.technique.size() <= 40, "a technique is a short slug");
  require(!candidate.chunks.empty() || !candidate.constants.empty() || candidate.block ||
              candidate.grid || candidate.sharedBytes,
          "a candidate changes something");
  for (const ReplyExpectation &expected : candidate.expects)
    require(expected.factor > 0 && !expected.metric.empty(), "a factor is above 0");
  for (const auto &[label, text] : candidate.chunks) {
    require(contract().chunks.count(label), "only chunks of the contract");
    require(findElision(text, contract().chunks.at(label)).empty(), "no chunk leaves code out");
  }
  for (const auto &[name, value] : candidate.constants)
    require(contract().constants.count(name), "only constants of the contract");
  for (const auto &extents : {candidate.block, candidate.grid})
    for (const std::string &extent : extents.value_or(std::array<std::string, 3>{"1", "1", "1"}))
      require(!extent.empty() && extent != "0", "no extent is missing or none");
  for (const ReplyTunable &tunable : candidate.tunables)
    require(std::ranges::count(tunable.values, tunable.value) == 1, "a value is one of its values");
}

void requireOfReply(const CodeReply &reply) {
  require(!reply.candidates.empty() || !reply.breaches.empty() || !reply.stop.empty() ||
              !reply.plan.empty(),
          "who offers nothing says why or is told what is wrong");
  require(reply.candidates.size() <= 4, "few candidates are read");
  std::set<std::string> ids;
  for (const ReplyCandidate &candidate : reply.candidates) {
    requireOfCandidate(candidate);
    require(ids.insert(candidate.id).second, "ids are unique");
  }
  for (const ReplyBreach &breach : reply.breaches) {
    require(!breach.what.empty() && !breach.where.empty(), "a breach says what and where");
    require(!ids.count(breach.candidate), "no candidate with a breach is taken");
  }
}

/// What was read of a reply is read in the same way as an object with its chunks inside.
void requireSameOfTool(const ReplyCandidate &candidate) {
  nlohmann::json object{{"id", candidate.id},
                        {"title", candidate.title},
                        {"constants", candidate.constants},
                        {"chunks", candidate.chunks}};
  if (candidate.block)
    object["launch"]["block"] = *candidate.block;
  const CodeReply again = readCandidate(object, contract());
  requireOfReply(again);
  if (candidate.chunks.empty() && candidate.constants.empty() && !candidate.block)
    return;
  require(again.candidates.size() == 1 && again.candidates[0].chunks == candidate.chunks &&
              again.candidates[0].constants == candidate.constants &&
              again.candidates[0].block == candidate.block,
          "a tool takes what a reply says");
}

void code(std::string_view input) {
  const CodeReply reply = readReply(input, contract());
  requireOfReply(reply);
  for (const ReplyCandidate &candidate : reply.candidates)
    requireSameOfTool(candidate);
}

void candidate(std::string_view input) {
  const nlohmann::json object = nlohmann::json::parse(input, nullptr, false);
  if (!object.is_discarded())
    requireOfReply(readCandidate(object, contract()));
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
  const unsigned kind = kopt::fuzz::takeChoice(input, 4);
  if (kind == 0)
    code(input);
  else if (kind == 3)
    candidate(input);
  else
    service(input, kind == 1);
  return 0;
}
