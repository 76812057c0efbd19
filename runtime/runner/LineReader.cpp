// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/LineReader.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace kopt::runtime {

namespace {

constexpr std::size_t kMostDescriptors = 253; ///< the kernel's limit for one message

} // namespace

bool LineReader::next(std::string &line, std::vector<int> &descriptors) {
  for (;;) {
    if (const std::size_t end = pending_.find('\n'); end != pending_.npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      descriptors = std::exchange(received_, {});
      return true;
    }
    char bytes[65536];
    const ssize_t got = receive(bytes, sizeof bytes);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    pending_.append(bytes, std::size_t(got));
  }
}

ssize_t LineReader::receive(char *bytes, std::size_t size) {
  iovec piece{bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(from_, &message, MSG_CMSG_CLOEXEC);
  if (got < 0)
    return errno == ENOTSOCK ? read(from_, bytes, size) : got;
  for (cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      const std::size_t known = received_.size();
      received_.resize(known + count);
      std::memcpy(received_.data() + known, CMSG_DATA(header), count * sizeof(int));
    }
  return got;
}

bool writeAll(int to, const std::string &text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(to, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    done += std::size_t(written);
  }
  return true;
}

} // namespace kopt::runtime
