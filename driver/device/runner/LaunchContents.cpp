// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/LaunchContents.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace kopt {

namespace {

constexpr double kBufferBytesPerSecond = 40e6;

} // namespace

LaunchContents::~LaunchContents() {
  for (std::size_t i = others_; i < all_.size(); ++i)
    ::close(all_[i]);
}

Status LaunchContents::addContents(const Launch &launch) {
  for (const Buffer &buffer : launch.buffers) {
    if (buffer.fill.path.empty())
      continue;
    const int fd = ::open(buffer.fill.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return makeError(
          ErrorCode::StaleInput,
          fmt::format("the {} of '{}' cannot be read: {}",
                      buffer.fill.kind == FillKind::Captured ? "captured contents" : "fill",
                      buffer.name, std::error_code(errno, std::generic_category()).message()),
          buffer.fill.kind == FillKind::Captured
              ? "capture the program's launches again with 'kopt observe'"
              : "",
          buffer.fill.path);
    all_.push_back(fd);
  }
  return {};
}

Duration bufferTime(const Launch &launch) {
  std::uint64_t bytes = 0;
  for (const Buffer &buffer : launch.buffers)
    bytes += buffer.bytes;
  return Duration(double(bytes) / kBufferBytesPerSecond);
}

} // namespace kopt
