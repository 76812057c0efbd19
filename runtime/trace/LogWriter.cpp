// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/LogWriter.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kopt::runtime::trace {

std::unique_ptr<LogFile> LogFile::create(const std::string &path, std::uint64_t maxBytes,
                                         std::string &why) {
  std::unique_ptr<LogFile> log(new LogFile);
  const auto failed = [&](int error) {
    why = "cannot write " + path + ": " + std::strerror(error);
    return nullptr;
  };
  log->maxBytes_ = maxBytes;
  log->fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (log->fd_ < 0)
    return failed(errno);
  // Reserve disk space first: without it, writing to the mapping would kill the program.
  if (const int error = posix_fallocate(log->fd_, 0, off_t(kHeaderBytes)))
    return failed(error);
  void *memory = mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd_, 0);
  if (memory == MAP_FAILED)
    return failed(errno);
  log->header_ = static_cast<LogHeader *>(memory);
  log->header_->version = kLogVersion;
  log->header_->segmentBytes = kSegmentBytes;
  log->header_->pid = std::uint64_t(getpid());
  log->header_->startNanoseconds =
      std::uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count());
  std::memcpy(log->header_->magic, kLogMagic, sizeof kLogMagic);
  return log;
}

std::uint64_t LogFile::nextId() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

LogFile::~LogFile() {
  if (header_)
    munmap(header_, kHeaderBytes);
  if (fd_ >= 0)
    close(fd_);
}

void LogFile::lose() {
  full_.store(true, std::memory_order_relaxed);
  std::atomic_ref(header_->full).store(1, std::memory_order_relaxed);
  std::atomic_ref(header_->lostRecords).fetch_add(1, std::memory_order_relaxed);
}

std::byte *LogFile::takeSegment() {
  const std::lock_guard lock(growing_);
  if (bytes_ + kSegmentBytes > maxBytes_ ||
      posix_fallocate(fd_, off_t(bytes_), off_t(kSegmentBytes)) != 0)
    return nullptr;
  void *memory = mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      fd_, off_t(bytes_));
  if (memory == MAP_FAILED)
    return nullptr;
  bytes_ += kSegmentBytes;
  const SegmentHeader header{kSegmentMark, segments_++, 0};
  std::memcpy(memory, &header, sizeof header);
  return static_cast<std::byte *>(memory);
}

Appender::~Appender() {
  if (segment_)
    munmap(segment_, kSegmentBytes);
}

bool Appender::append(RecordKind kind, std::uint16_t flags, std::uint64_t sequence,
                      const void *payload, std::size_t bytes) {
  const std::size_t whole = (kRecordHeaderBytes + bytes + 7) / 8 * 8;
  if (whole > kMaxRecordBytes) {
    log_.lose();
    return false;
  }
  if (!segment_ || used_ + whole > kSegmentBytes) {
    std::byte *fresh = log_.takeSegment();
    if (!fresh) {
      log_.lose();
      return false;
    }
    if (segment_)
      munmap(segment_, kSegmentBytes);
    segment_ = fresh;
    used_ = kSegmentHeaderBytes;
  }
  std::byte *at = segment_ + used_;
  RecordHeader header{0, std::uint16_t(kind), flags, sequence};
  std::memcpy(at, &header, sizeof header);
  if (bytes > 0)
    std::memcpy(at + kRecordHeaderBytes, payload, bytes);
  used_ += whole;
  // Write the size last, so that a process that is killed before leaves no partial record.
  std::atomic_ref(*reinterpret_cast<std::uint32_t *>(at))
      .store(std::uint32_t(whole), std::memory_order_release);
  return true;
}

} // namespace kopt::runtime::trace
