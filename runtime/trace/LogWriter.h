// SPDX-License-Identifier: Apache-2.0
// Writes the log of one process. Each thread appends to its own segment, mapped from the file: this
// needs a lock and system calls only once a megabyte, and an appended record is in the file even if
// the process is killed right after.
#pragma once

#include "runtime/trace/Format.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace kopt::runtime::trace {

class LogFile {
public:
  /// Creates the file; it must not exist. `maxBytes` limits the size of the file; records past it
  /// are lost and counted. Null, with the reason in `why`, on failure.
  static std::unique_ptr<LogFile> create(const std::string &path, std::uint64_t maxBytes,
                                         std::string &why);
  /// Does not unmap the segments, because other threads may still write to them.
  ~LogFile();
  LogFile(const LogFile &) = delete;
  LogFile &operator=(const LogFile &) = delete;

  std::uint64_t nextSequence() { return sequence_.fetch_add(1, std::memory_order_relaxed); }
  /// The header as mapped from the file: writes to it are in the file at once.
  LogHeader &header() { return *header_; }
  /// A number that no other LogFile of this process has.
  std::uint64_t id() const { return id_; }

private:
  friend class Appender;
  LogFile() = default;
  /// The memory of a new segment; null if the log is full.
  std::byte *takeSegment();
  void lose();

  static std::uint64_t nextId();

  std::uint64_t id_ = nextId();
  int fd_ = -1;
  std::uint64_t bytes_ = kHeaderBytes, maxBytes_ = 0;
  std::uint32_t segments_ = 0;
  LogHeader *header_ = nullptr;
  std::mutex growing_;
  std::atomic<std::uint64_t> sequence_{1};
  std::atomic<bool> full_{false};
};

/// Appends the records of one thread to the log. Not to be shared between threads.
class Appender {
public:
  explicit Appender(LogFile &log) : log_(log) {}
  ~Appender();
  Appender(const Appender &) = delete;
  Appender &operator=(const Appender &) = delete;

  /// False if there was no space: the record is lost, and counted as lost.
  bool append(RecordKind kind, std::uint16_t flags, std::uint64_t sequence, const void *payload,
              std::size_t bytes);
  bool append(RecordKind kind, std::uint16_t flags, std::uint64_t sequence,
              const RecordPayload &payload) {
    return append(kind, flags, sequence, payload.data(), payload.size());
  }

private:
  LogFile &log_;
  std::byte *segment_ = nullptr;
  std::size_t used_ = 0;
};

} // namespace kopt::runtime::trace
