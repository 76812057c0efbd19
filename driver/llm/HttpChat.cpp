// SPDX-License-Identifier: Apache-2.0
// What all providers over HTTP share: waiting and asking again, going on where a reply was cut off,
// errors in words.
#include "driver/llm/Models.h"

#include "driver/llm/EventStream.h"
#include "driver/llm/Wire.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using nlohmann::json;

const char *const kContinue =
    "Your reply was cut off by its length limit. Continue exactly where it stopped, in the "
    "middle of a line if need be. Repeat nothing, and write nothing before it.";

const char *const kWithinUse =
    "Your use of a tool was cut off by the length limit of a reply, and was not run. Use the tool "
    "again with a shorter input, and write nothing before it.";

bool isRetriable(long status) { return status == 408 || status == 429 || status >= 500; }

/// The provider's own words, from {"error":{"message":...}}, {"error":"..."} or {"message":"..."}.
std::string messageIn(const json &document) {
  for (const std::string &message :
       {textIn(document, "error"), textIn(memberIn(document, "error"), "message"),
        textIn(document, "message")})
    if (!message.empty())
      return withoutControls(message);
  return "no message";
}

/// The body of an answer while it arrives: a stream of events, or a document in one piece from
/// services that do not stream.
class IncomingReply {
public:
  explicit IncomingReply(const ChatDialect &dialect)
      : dialect_(dialect), events_([this](const std::string &data) { receive(data); }) {}

  /// False when nothing more is needed.
  bool take(std::string_view bytes) {
    if (body_.empty() && !isStream_)
      bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
    if (bytes.empty())
      return true;
    isStream_ = isStream_ || (body_.empty() && bytes[0] != '{' && bytes[0] != '<');
    if (isStream_)
      events_.add(bytes);
    else
      body_ += bytes;
    return !hasEnded_ && failure_.empty();
  }

  /// What has arrived, whole or not.
  std::optional<ChatDialect::Part> part() const {
    const auto document = arrived();
    return document ? dialect_.decode(*document) : std::nullopt;
  }
  /// Why it is no reply; empty where it may be one.
  std::string failure() const {
    if (!failure_.empty())
      return failure_;
    const json document = arrived().value_or(json());
    if (isStream_ && !hasEnded_ && !document.is_null())
      return "the stream ended before the reply did";
    if (!memberIn(document, "error").is_null())
      return "an error in place of a reply: " + messageIn(document);
    return part() ? "" : "the answer is not a reply of this kind of service";
  }

private:
  std::optional<json> arrived() const {
    return isStream_ ? std::optional(document_) : parseWire(validUtf8(body_));
  }

  void receive(const std::string &data) {
    if (hasEnded_ || !failure_.empty())
      return;
    if (trim(data) == "[DONE]") {
      hasEnded_ = true;
      return;
    }
    const auto event = parseWire(validUtf8(data));
    if (!event || !event->is_object())
      failure_ = "the stream has an event that is none of this kind of service";
    else if (!memberIn(*event, "error").is_null())
      failure_ = "the stream broke off: " + messageIn(*event);
    else if (const auto fold = dialect_.fold(*event, document_); fold == ChatDialect::Fold::Broken)
      failure_ = "the events of the stream do not fit together";
    else
      hasEnded_ = fold == ChatDialect::Fold::Ended;
  }

  const ChatDialect &dialect_;
  EventStream events_;
  std::string body_, failure_;
  json document_;
  bool isStream_ = false, hasEnded_ = false;
};

std::string shortened(const std::string &text) { return validUtf8(text.substr(0, 300)); }

std::optional<Duration> retryAfter(const HttpResponse &response) {
  auto header = response.headers.find("retry-after");
  if (header == response.headers.end())
    return std::nullopt;
  char *end = nullptr;
  double seconds = std::strtod(header->second.c_str(), &end);
  if (end == header->second.c_str() || *end || !(seconds >= 0))
    return std::nullopt; // a date: the usual backoff serves
  return Duration{seconds};
}

class HttpChat final : public ChatModel {
public:
  HttpChat(std::unique_ptr<ChatDialect> dialect, std::unique_ptr<HttpClient> http, Clock &clock,
           RetryPolicy policy)
      : dialect_(std::move(dialect)), http_(std::move(http)), clock_(clock), policy_(policy),
        streamed_(policy.streamed) {}

  std::string name() const override { return dialect_->name(); }

  Result<ChatReply> complete(const ChatRequest &request) override {
    const auto begin = clock_.now();
    const auto left = [&] { return request.timeout - Duration(clock_.now() - begin); };
    ChatRequest next = request;
    ChatReply whole;
    for (int part = 0;; ++part) {
      KOPT_TRY(const ChatDialect::Part answer, ask(next, left, whole));
      const ChatReply &reply = answer.reply;
      whole.text += reply.text;
      whole.model = reply.model;
      count(reply, whole);
      if (!request.tools.empty())
        whole.uses.insert(whole.uses.end(), reply.uses.begin(), reply.uses.end());
      if (!answer.cutOff || !whole.uses.empty())
        break; // uses that are complete are answered first, whatever would have followed them
      if (reply.text.empty() && !answer.cutWithin)
        return makeError(
            ErrorCode::Environment,
            fmt::format("{} used all of its {} tokens without writing a word", name(),
                        request.maxTokens),
            "raise the limit of tokens per reply, or choose a model that reasons less");
      if (part == std::min(policy_.continuations, request.continuations))
        return makeError(
            ErrorCode::Environment,
            fmt::format("the reply of {} was cut off {} times and is still not complete", name(),
                        part + 1),
            "raise the limit of tokens per reply");
      next.messages.push_back({"assistant", reply.text.empty() ? "(a use of a tool)" : reply.text});
      next.messages.push_back({"user", answer.cutWithin ? kWithinUse : kContinue});
    }
    if (whole.text.empty() && whole.uses.empty())
      return makeError(ErrorCode::Environment,
                       fmt::format("{} gave no reply: it used tools, and has none", name()));
    identify(whole.uses, request);
    whole.seconds = Duration(clock_.now() - begin).count();
    return whole;
  }

private:
  static void count(const ChatReply &part, ChatReply &whole) {
    whole.inputTokens += part.inputTokens;
    whole.outputTokens += part.outputTokens;
    whole.cachedTokens += part.cachedTokens;
    whole.cacheWriteTokens += part.cacheWriteTokens;
  }

  /// One reply, possibly cut off. Transient failures are waited out; what is known of the tokens of
  /// replies that broke off is counted in `whole`.
  Result<ChatDialect::Part> ask(const ChatRequest &request, const std::function<Duration()> &left,
                                ChatReply &whole) {
    Duration delay = policy_.firstDelay;
    for (int attempt = 1;; ++attempt) {
      const bool streamed = streamed_;
      HttpRequest http = dialect_->encode(request, streamed);
      http.timeout = left();
      std::string failure;
      std::optional<Duration> wanted;
      IncomingReply incoming(*dialect_);
      const auto take = [&](std::string_view bytes) { return incoming.take(bytes); };
      const Result<HttpResponse> response =
          streamed ? http_->stream(http, take) : http_->post(http);
      const bool isReply = response && response->status >= 200 && response->status < 300;
      if (isReply && !streamed)
        take(response->body);
      if (isReply || !response) {
        failure = response ? incoming.failure() : response.error().what;
        auto part = incoming.part();
        if (part && failure.empty())
          return taken(std::move(*part));
        if (part)
          count(part->reply, whole);
      } else if (isRetriable(response->status)) {
        failure = fmt::format("status {}: {}", response->status, wordsOf(response->body));
        wanted = retryAfter(*response);
      } else if (streamed && response->status == 400 &&
                 response->body.find("stream") != std::string::npos) {
        streamed_ = false; // a service that cannot
        continue;
      } else {
        return refused(*response);
      }
      failure = shortened(withoutKey(failure));
      if (wanted && *wanted > std::min(policy_.longestDelay, left()))
        return makeError(ErrorCode::Environment,
                         fmt::format("{} is limited ({}) and asks to wait {:.0f} s", name(),
                                     failure, wanted->count()),
                         "run again later with --resume, or use another model");
      const bool isLate = wanted.value_or(delay) >= left();
      if (isLate || attempt == policy_.attempts)
        return makeError(ErrorCode::Environment,
                         fmt::format("{} did not answer {}; the last: {}", name(),
                                     isLate ? fmt::format("in time, asked {} times", attempt)
                                            : fmt::format("in {} attempts", attempt),
                                     failure),
                         "check the endpoint, and run again with --resume");
      clock_.sleep(wanted.value_or(delay));
      delay = std::min(delay * 2, policy_.longestDelay);
    }
  }

  /// A service may repeat what it was sent. What is shorter than this is no key, but "none" or so,
  /// and a word of other texts.
  std::string withoutKey(std::string text) const {
    constexpr std::size_t kShortest = 12;
    const std::string key = dialect_->key();
    return key.size() < kShortest ? text : replaceAll(std::move(text), key, "(the key)");
  }
  Result<ChatDialect::Part> taken(ChatDialect::Part part) const {
    for (std::string *text : {&part.reply.text, &part.reply.model, &part.refusal})
      *text = withoutKey(std::move(*text));
    for (ToolUse &use : part.reply.uses)
      for (std::string *text : {&use.id, &use.name, &use.input})
        *text = withoutKey(std::move(*text));
    if (!part.refusal.empty())
      return makeError(ErrorCode::Environment,
                       fmt::format("{} gave no reply: {}", name(), shortened(part.refusal)));
    return part;
  }
  /// The words of an error, made short.
  std::string wordsOf(const std::string &body) const {
    return shortened(withoutKey(messageIn(parseWire(validUtf8(body)).value_or(json()))));
  }

  tl::unexpected<Error> refused(const HttpResponse &response) const {
    const std::string message = wordsOf(response.body);
    switch (response.status) {
    case 401:
    case 403:
      return makeError(
          ErrorCode::Environment,
          fmt::format("{} refused the key (status {}): {}", name(), response.status, message),
          fmt::format("set {} to a valid key", dialect_->keyVariable()));
    case 404:
      return makeError(ErrorCode::Environment,
                       fmt::format("the service does not know model \"{}\" (status 404): {}",
                                   dialect_->model(), message),
                       "check the model's name and the endpoint");
    default:
      return makeError(ErrorCode::Environment, fmt::format("{} refused the request (status {}): {}",
                                                           name(), response.status, message));
    }
  }

  std::unique_ptr<ChatDialect> dialect_;
  std::unique_ptr<HttpClient> http_;
  Clock &clock_;
  RetryPolicy policy_;
  std::atomic<bool> streamed_; ///< until the service says that it cannot
};

} // namespace

std::unique_ptr<ChatModel> makeHttpChat(std::unique_ptr<ChatDialect> dialect,
                                        std::unique_ptr<HttpClient> http, Clock &clock,
                                        RetryPolicy policy) {
  return std::make_unique<HttpChat>(std::move(dialect), std::move(http), clock, policy);
}

} // namespace kopt
