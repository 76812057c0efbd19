// SPDX-License-Identifier: Apache-2.0
// The binary format of a trace, which libkopt-capture.so writes and LogReader reads. See README.md.
// All numbers are little endian, like the machines that CUDA runs on. Enum values are stored on
// disk: add new ones, never change any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace kopt::runtime::trace {

inline constexpr std::uint32_t kLogVersion = 1;
inline constexpr char kLogMagic[8] = {'K', 'O', 'P', 'T', 'L', 'O', 'G', '\0'};
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kSegmentBytes = 1u << 20;
inline constexpr std::uint32_t kSegmentMark = 0x4745534bu; ///< "KSEG"
inline constexpr std::size_t kSegmentHeaderBytes = 16;
inline constexpr std::size_t kRecordHeaderBytes = 16;
/// A record lies within one segment; its writer splits or cuts what is longer.
inline constexpr std::size_t kMaxRecordBytes = 256u << 10;
inline constexpr std::size_t kMaxTextBytes = 16u << 10;

/// The first bytes of a log. They stay mapped as long as the process lives.
struct LogHeader {
  char magic[8];
  std::uint32_t version, segmentBytes;
  std::uint64_t pid;
  std::uint64_t startNanoseconds; ///< since 1970
  std::uint32_t ended;            ///< 1: the program ended normally
  std::uint32_t full;             ///< 1: the disk or the size limit of the log was full
  std::uint64_t lostRecords;      ///< records for which there was no space
  std::uint64_t countedLaunches;  ///< all launches, including those past the limit
};
static_assert(sizeof(LogHeader) == 56);

struct SegmentHeader {
  std::uint32_t mark, thread;
  std::uint64_t reserved;
};
static_assert(sizeof(SegmentHeader) == kSegmentHeaderBytes);

struct RecordHeader {
  /// Of the record and this header, a multiple of 8; written last; 0 ends a segment.
  std::uint32_t bytes;
  std::uint16_t kind, flags;
  std::uint64_t sequence; ///< one counter for all threads of the process
};
static_assert(sizeof(RecordHeader) == kRecordHeaderBytes);

enum class RecordKind : std::uint16_t {
  Process = 1,
  Function = 2,
  Context = 3,
  Allocation = 4,
  Free = 5,
  Launch = 6,
  Duration = 7,
  GraphNode = 8,
  GraphLaunch = 9,
  Snapshot = 10,
  NotSnapshotted = 11,
  Counted = 12, ///< the launches of a kernel, if there were more than the limit on records
  Note = 13,
};

enum LaunchFlag : std::uint16_t {
  /// Has launch attributes that change when and how fast the kernel runs, not what it computes.
  kCooperative = 1,
  kCluster = 2,       ///< launched with thread block clusters
  kLayoutUnknown = 4, ///< the parameter sizes are unknown: no arguments are recorded
  kOtherAttributes = 8,
  kUnknownAttributes = 16, ///< has launch attributes that the capture library does not know
};

enum class AllocationKind : std::uint8_t {
  Device = 0,
  Managed = 1,
  Async = 2,
  Host = 3,   ///< page-locked or registered host memory, which the device reads in place
  Mapped = 4, ///< cuMemMap
  Symbol = 5, ///< a variable of a module; has a name
};

/// XXH3-128 of contents, which names them in the trace.
using ContentHash = std::array<std::uint8_t, 16>;

/// Two digits for each byte.
template <class Bytes> std::string hexOf(const Bytes &bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

/// The path of these contents in a trace folder: "contents/3f/3f….kbuf".
inline std::string contentsPath(const ContentHash &hash) {
  const std::string hex = hexOf(hash);
  return "contents/" + hex.substr(0, 2) + "/" + hex + ".kbuf";
}

inline constexpr char kLogFile[] = "launches.klog"; ///< in the folder of each process

/// Appends fields to a record's payload. Never grows past `Capacity`: a field that does not fit is
/// dropped, and overflow() is then true.
template <std::size_t Capacity> class PayloadWriter {
public:
  void clear() { size_ = 0, overflow_ = false; }
  /// Texts have their length before them and are cut at kMaxTextBytes; all else is put as it lies
  /// in memory.
  template <class... Fields> void put(const Fields &...fields) { (putOne(fields), ...); }
  void putBytes(const void *bytes, std::size_t count) {
    if (count > Capacity - size_) {
      overflow_ = true;
      return;
    }
    if (count > 0)
      std::memcpy(bytes_ + size_, bytes, count);
    size_ += count;
  }
  const std::byte *data() const { return bytes_; }
  std::size_t size() const { return size_; }
  bool overflow() const { return overflow_; }

private:
  template <class Field> void putOne(const Field &field) {
    if constexpr (std::is_convertible_v<Field, std::string_view>) {
      const std::string_view text = std::string_view(field).substr(0, kMaxTextBytes);
      put(std::uint32_t(text.size()));
      putBytes(text.data(), text.size());
    } else {
      putBytes(&field, sizeof field);
    }
  }

  std::size_t size_ = 0;
  bool overflow_ = false;
  std::byte bytes_[Capacity];
};

using RecordPayload = PayloadWriter<kMaxRecordBytes - kRecordHeaderBytes>;

} // namespace kopt::runtime::trace
