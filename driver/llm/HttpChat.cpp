// SPDX-License-Identifier: Apache-2.0
// What all providers over HTTP share: waiting and asking again, going on where a reply was cut off,
// errors in words.
#include "driver/llm/Models.h"

#include "driver/support/JsonText.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

const char *const kContinue =
    "Your reply was cut off by its length limit. Continue exactly where it stopped, in the "
    "middle of a line if need be. Repeat nothing, and write nothing before it.";

bool isRetriable(long status) { return status == 408 || status == 429 || status >= 500; }

/// The provider's own words, from {"error":{"message":...}} or {"error":"..."}; they are short or
/// made so.
std::string messageOf(const std::string &body) {
  nlohmann::json document = nlohmann::json::parse(body, nullptr, false);
  std::string message = textIn(document, "error");
  if (document.is_object() && message.empty())
    message = textIn(document.value("error", nlohmann::json()), "message");
  if (message.empty())
    message = "no message";
  return message.substr(0, 300);
}

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
      : dialect_(std::move(dialect)), http_(std::move(http)), clock_(clock), policy_(policy) {}

  std::string name() const override { return dialect_->name(); }

  Result<ChatReply> complete(const ChatRequest &request) override {
    auto begin = clock_.now();
    ChatRequest next = request;
    ChatReply whole;
    for (int part = 0;; ++part) {
      KOPT_TRY(ChatDialect::Part answer, ask(next));
      whole.text += answer.reply.text;
      whole.model = answer.reply.model;
      whole.inputTokens += answer.reply.inputTokens;
      whole.outputTokens += answer.reply.outputTokens;
      whole.cachedTokens += answer.reply.cachedTokens;
      if (!answer.cutOff)
        break;
      if (answer.reply.text.empty())
        return makeError(
            ErrorCode::Environment,
            fmt::format("{} used all of its {} tokens without writing a word", name(),
                        request.maxTokens),
            "raise the limit of tokens per reply, or choose a model that reasons less");
      if (part == policy_.continuations)
        return makeError(
            ErrorCode::Environment,
            fmt::format("the reply of {} was cut off {} times and is still not complete", name(),
                        part + 1),
            "raise the limit of tokens per reply");
      next.messages.push_back({"assistant", answer.reply.text});
      next.messages.push_back({"user", kContinue});
    }
    whole.seconds = Duration(clock_.now() - begin).count();
    return whole;
  }

private:
  /// One reply, possibly cut off. Transient failures are waited out.
  Result<ChatDialect::Part> ask(const ChatRequest &request) {
    HttpRequest http = dialect_->encode(request);
    Duration delay = policy_.firstDelay;
    for (int attempt = 1;; ++attempt) {
      std::string failure;
      std::optional<Duration> wanted;
      Result<HttpResponse> response = http_->post(http);
      if (!response) {
        failure = response.error().what;
      } else if (response->status >= 200 && response->status < 300) {
        if (auto part = dialect_->decode(response->body)) {
          if (!part->refusal.empty())
            return makeError(ErrorCode::Environment,
                             fmt::format("{} gave no reply: {}", name(), part->refusal));
          return std::move(*part);
        }
        failure = "the answer is not a reply of this kind of service";
      } else if (isRetriable(response->status)) {
        failure = fmt::format("status {}: {}", response->status, messageOf(response->body));
        wanted = retryAfter(*response);
      } else {
        return refused(*response);
      }
      if (wanted && *wanted > policy_.longestDelay)
        return makeError(ErrorCode::Environment,
                         fmt::format("{} is limited ({}) and asks to wait {:.0f} s", name(),
                                     failure, wanted->count()),
                         "run again later with --resume, or use another model");
      if (attempt == policy_.attempts)
        return makeError(
            ErrorCode::Environment,
            fmt::format("{} did not answer in {} attempts; the last: {}", name(), attempt, failure),
            "check the endpoint, and run again with --resume");
      clock_.sleep(wanted ? *wanted : delay);
      delay = std::min(delay * 2, policy_.longestDelay);
    }
  }

  tl::unexpected<Error> refused(const HttpResponse &response) const {
    std::string message = messageOf(response.body);
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
};

} // namespace

std::unique_ptr<ChatModel> makeHttpChat(std::unique_ptr<ChatDialect> dialect,
                                        std::unique_ptr<HttpClient> http, Clock &clock,
                                        RetryPolicy policy) {
  return std::make_unique<HttpChat>(std::move(dialect), std::move(http), clock, policy);
}

} // namespace kopt
