// SPDX-License-Identifier: Apache-2.0
// Answers requests from a list, in order, and keeps what was asked.
#pragma once

#include "driver/llm/HttpClient.h"

#include <deque>
#include <vector>

namespace kopt::fakes {

class FakeHttpClient final : public HttpClient {
public:
  /// What outlives the client, which a model owns.
  struct Script {
    std::deque<Result<HttpResponse>> answers;
    std::vector<HttpRequest> requests;

    void answer(long status, std::string body, std::map<std::string, std::string> headers = {}) {
      answers.push_back(HttpResponse{status, std::move(headers), std::move(body)});
    }
    void fail(std::string what) {
      answers.push_back(makeError(ErrorCode::Environment, std::move(what)));
    }
  };

  explicit FakeHttpClient(Script &script) : script_(script) {}

  Result<HttpResponse> post(const HttpRequest &request) override { return answerTo(request); }
  Result<HttpResponse> get(const HttpRequest &request) override { return answerTo(request); }
  /// In pieces of a few bytes. A body that is too short for its "content-length" breaks off.
  Result<HttpResponse> stream(const HttpRequest &request,
                              const std::function<bool(std::string_view)> &take) override {
    KOPT_TRY(HttpResponse response, answerTo(request));
    if (response.status < 200 || response.status >= 300)
      return response;
    const std::string body = std::move(response.body);
    response.body.clear();
    for (std::size_t at = 0; at < body.size(); at += 7)
      if (!take(std::string_view(body).substr(at, 7)))
        return response;
    if (const auto length = response.headers.find("content-length");
        length != response.headers.end() && std::stoul(length->second) > body.size())
      return makeError(ErrorCode::Environment, "no answer from http://host: cut off");
    return response;
  }

private:
  Result<HttpResponse> answerTo(const HttpRequest &request) {
    script_.requests.push_back(request);
    if (script_.answers.empty())
      return makeError(ErrorCode::Environment, "the script has ended");
    Result<HttpResponse> answer = std::move(script_.answers.front());
    script_.answers.pop_front();
    return answer;
  }

  Script &script_;
};

} // namespace kopt::fakes
