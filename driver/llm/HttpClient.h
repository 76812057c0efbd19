// SPDX-License-Identifier: Apache-2.0
// One HTTP request and its answer: the seam under the model providers. tests/fakes has one that
// answers from a list.
#pragma once

#include "driver/support/Process.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace kopt {

struct HttpRequest {
  std::string url;
  std::map<std::string, std::string>
      headers; ///< may hold a key: never logged, never part of an error
  std::string body;
  Duration timeout{300}; ///< for the whole exchange
  Duration stall{60};    ///< without a byte, once the answer has begun
};

struct HttpResponse {
  long status = 0;
  std::map<std::string, std::string> headers; ///< names in lower case
  std::string body;
};

class HttpClient {
public:
  virtual ~HttpClient() = default;
  /// Any status is an answer. Fails with Environment where there is none: no connection, a stalled
  /// or cut transfer. The message names the host, never the headers.
  virtual Result<HttpResponse> post(const HttpRequest &request) = 0;
  /// As post(), but the body of an answer with status 2xx goes to `take` as it arrives, which
  /// returns false when it has enough: that ends the exchange.
  virtual Result<HttpResponse> stream(const HttpRequest &request,
                                      const std::function<bool(std::string_view)> &take) = 0;
  /// As post(), with the method GET and without the body.
  virtual Result<HttpResponse> get(const HttpRequest &request) = 0;
};

/// Scheme and host of an address, for messages: without user, path and query.
std::string hostOf(const std::string &url);

/// libcurl over HTTP and HTTPS, certificates checked, proxies from the environment, no redirects (a
/// key stays with the host it was meant for). A body is at most 32 MiB.
std::unique_ptr<HttpClient> makeHttpClient();

} // namespace kopt
