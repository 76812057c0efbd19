// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/HttpClient.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <curl/curl.h>
#include <fmt/format.h>

namespace kopt {
namespace {

constexpr std::size_t kBodyLimit = 32u << 20;

/// Where a body goes: into the response, or to who takes it.
struct Body {
  CURL *handle;
  HttpResponse &response;
  const std::function<bool(std::string_view)> *take;
  std::size_t size = 0;
  bool isEnough = false;
};

std::size_t receiveBody(char *data, std::size_t size, std::size_t count, void *user) {
  auto &body = *static_cast<Body *>(user);
  body.size += size * count;
  if (body.size > kBodyLimit)
    return 0; // curl reports it as a write error
  long status = 0;
  curl_easy_getinfo(body.handle, CURLINFO_RESPONSE_CODE, &status);
  if (!body.take || status < 200 || status >= 300)
    body.response.body.append(data, size * count);
  else
    body.isEnough = !(*body.take)({data, size * count});
  return body.isEnough ? 0 : size * count;
}

std::size_t collectHeader(char *data, std::size_t size, std::size_t count, void *user) {
  auto &headers = *static_cast<std::map<std::string, std::string> *>(user);
  std::string_view line(data, size * count);
  if (std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    std::string name(trim(line.substr(0, colon)));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    headers[name] = std::string(trim(line.substr(colon + 1)));
  }
  return size * count;
}

class CurlHttpClient final : public HttpClient {
public:
  CurlHttpClient() {
    static const CURLcode kInitialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    ready_ = kInitialised == CURLE_OK;
  }

  Result<HttpResponse> post(const HttpRequest &request) override {
    return send(request, true, nullptr);
  }
  Result<HttpResponse> stream(const HttpRequest &request,
                              const std::function<bool(std::string_view)> &take) override {
    return send(request, true, &take);
  }
  Result<HttpResponse> get(const HttpRequest &request) override {
    return send(request, false, nullptr);
  }

private:
  Result<HttpResponse> send(const HttpRequest &request, bool hasBody,
                            const std::function<bool(std::string_view)> *take) {
    std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(ready_ ? curl_easy_init() : nullptr,
                                                             &curl_easy_cleanup);
    if (!curl)
      return makeError(ErrorCode::Environment, "libcurl cannot be initialised");
    curl_slist *list = nullptr;
    for (const auto &[name, value] : request.headers)
      list = curl_slist_append(list, (name + ": " + value).c_str());
    // Without this curl waits a second for the server's permission to send a large body.
    list = curl_slist_append(list, "Expect:");
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list, &curl_slist_free_all);

    HttpResponse response;
    char message[CURL_ERROR_SIZE] = "";
    CURL *handle = curl.get();
    curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    if (hasBody) {
      curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.c_str());
      curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    }
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, 20000L);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS,
                     std::max(1L, static_cast<long>(request.timeout.count() * 1000)));
    Body body{handle, response, take};
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receiveBody);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, collectHeader);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &response.headers);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message);
    Stall stall{request.stall};
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, watchForStall);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &stall);

    CURLcode code = curl_easy_perform(handle);
    if (code != CURLE_OK && !body.isEnough)
      return makeError(ErrorCode::Environment,
                       fmt::format("no answer from {}: {}", hostOf(request.url),
                                   code == CURLE_ABORTED_BY_CALLBACK
                                       ? fmt::format("the transfer stalled for {}",
                                                     formatDuration(request.stall.count()))
                                   : body.size > kBodyLimit ? "it is longer than any reply"
                                   : *message               ? message
                                                            : curl_easy_strerror(code)),
                       "check the network, the proxy and the endpoint");
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &response.status);
    return response;
  }

  /// A model thinks for minutes before its first byte, so curl's own low-speed limit does not serve
  /// here.
  struct Stall {
    Duration limit;
    curl_off_t received = 0;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  };
  static int watchForStall(void *user, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) {
    auto &stall = *static_cast<Stall *>(user);
    auto now = std::chrono::steady_clock::now();
    if (received != stall.received || received == 0)
      stall = {stall.limit, received, now};
    return now - stall.since > stall.limit ? 1 : 0;
  }

  bool ready_ = false;
};

} // namespace

std::string hostOf(const std::string &url) {
  std::size_t scheme = url.find("://");
  std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  std::string host = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  if (std::size_t at = host.rfind('@'); at != std::string::npos)
    host.erase(0, at + 1);
  return (scheme == std::string::npos ? "" : url.substr(0, begin)) + host;
}

std::unique_ptr<HttpClient> makeHttpClient() { return std::make_unique<CurlHttpClient>(); }

} // namespace kopt
