// SPDX-License-Identifier: Apache-2.0
// A server on loopback that does to each connection what it was told, in order, and then the last
// of it again: for what goes wrong below HTTP.
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kopt::fakes {

struct Treatment {
  std::string bytes;     ///< sent when the request is there
  std::size_t piece = 0; ///< bytes at once, with a pause after each; 0: all
  bool repeats = false;  ///< sends the bytes for ever
  enum { Close, Reset, Hang } end = Close;
  bool reads = true; ///< the request, before anything else
};

class LoopbackServer {
public:
  explicit LoopbackServer(std::vector<Treatment> treatments)
      : treatments_(std::move(treatments)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr *>(&address), size);
    listen(listener_, 16);
    getsockname(listener_, reinterpret_cast<sockaddr *>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~LoopbackServer() {
    isOver_ = true;
    thread_.join();
    close(listener_);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::size_t connections() const { return connections_; }
  /// Of all requests together.
  std::string received() {
    const std::lock_guard lock(mutex_);
    return received_;
  }

private:
  bool isReady(int descriptor, int milliseconds) const {
    pollfd entry{descriptor, POLLIN, 0};
    return poll(&entry, 1, milliseconds) > 0;
  }

  void serve() {
    while (!isOver_)
      if (isReady(listener_, 4)) {
        const int client = accept(listener_, nullptr, nullptr);
        treat(client, treatments_[std::min<std::size_t>(connections_++, treatments_.size() - 1)]);
        close(client);
      }
  }

  /// False when the client has closed the connection.
  bool read(int client) {
    char buffer[4096];
    const ssize_t count = recv(client, buffer, sizeof buffer, 0);
    if (count <= 0)
      return false;
    const std::lock_guard lock(mutex_);
    received_.append(buffer, std::size_t(count));
    return true;
  }
  void readRequest(int client) {
    std::size_t begin = received().size();
    while (!isOver_) {
      const std::string text = received().substr(begin);
      const std::size_t end = text.find("\r\n\r\n"), length = text.find("Content-Length: ");
      if (end != text.npos &&
          (length == text.npos || text.size() - end - 4 >= std::stoul(text.substr(length + 16))))
        return;
      if (isReady(client, 4) && !read(client))
        return;
    }
  }

  void treat(int client, const Treatment &treatment) {
    if (treatment.reads)
      readRequest(client);
    do {
      const std::size_t piece = treatment.piece ? treatment.piece : treatment.bytes.size();
      for (std::size_t at = 0; at < treatment.bytes.size() && !isOver_; at += piece) {
        const std::size_t count = std::min(piece, treatment.bytes.size() - at);
        if (send(client, treatment.bytes.data() + at, count, MSG_NOSIGNAL) != ssize_t(count))
          return; // the client has enough
        if (treatment.piece)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    } while (treatment.repeats && !isOver_);
    if (treatment.end == Treatment::Hang)
      while (!isOver_ && (!isReady(client, 4) || read(client)))
        ;
    const linger atOnce{1, 0};
    if (treatment.end == Treatment::Reset)
      setsockopt(client, SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
    else
      shutdown(client, SHUT_WR);
  }

  std::vector<Treatment> treatments_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> isOver_ = false;
  std::atomic<std::size_t> connections_ = 0;
  std::mutex mutex_;
  std::string received_;
  std::thread thread_;
};

} // namespace kopt::fakes
