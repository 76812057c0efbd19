// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/HostMemory.h"

#include "runtime/device/Check.h"
#include "runtime/device/Parallel.h"
#include "runtime/runner/Fill.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace kopt::runtime {

namespace {

constexpr std::uint64_t kMostKept = 8ull << 30;
/// Bytes that a thread draws at a time, a multiple of 8.
constexpr std::uint64_t kDrawGrain = 256u << 10;

class File {
public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0)
      close(fd_);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  int get() const { return fd_; }

private:
  int fd_;
};

/// Makes the file `bytes` long and reserves the space on its disk, so that writing to its mapping
/// cannot fail. Returns 0 or an errno.
int resize(int fd, std::uint64_t bytes, const struct stat &now) {
  if (!S_ISREG(now.st_mode))
    return EINVAL;
  if (std::uint64_t(now.st_size) == bytes)
    return 0;
  if (ftruncate(fd, off_t(bytes)) != 0)
    return errno;
  return bytes == 0 ? 0 : posix_fallocate(fd, 0, off_t(bytes));
}

} // namespace

HostMemory::~HostMemory() {
  endRequest();
  for (const auto &[path, mapping] : mappings_)
    if (mapping.bytes > 0)
      munmap(mapping.memory, mapping.bytes);
}

std::uint64_t HostMemory::defaultCapacity() {
  const std::uint64_t memory =
      std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGESIZE));
  return std::min(memory / 8, kMostKept);
}

HostMemory::Bytes HostMemory::contents(const BufferSpec &spec, std::uint64_t seed,
                                       std::uint64_t stream) {
  if (spec.bytes == 0 || spec.bytes > capacity_)
    return nullptr;
  const bool isStored = !spec.contents.empty();
  const bool isSame = isStored ? !altersCaptured(spec) : spec.fill == FillKind::Values;
  Input wanted{spec, seed, stream, nullptr};
  if (isSame) // the same contents for every seed
    wanted.seed = wanted.stream = wanted.spec.jitter = 0;
  wanted.spec.name.clear();
  wanted.spec.symbol.clear();
  wanted.spec.readOnly = wanted.spec.output = wanted.spec.holdsPointers = false;
  wanted.spec.address = 0;
  const auto found = std::find_if(inputs_.begin(), inputs_.end(), [&](const Input &input) {
    return input.seed == wanted.seed && input.stream == wanted.stream && input.spec == wanted.spec;
  });
  if (found != inputs_.end()) {
    inputs_.splice(inputs_.begin(), inputs_, found);
    return inputs_.front().bytes;
  }
  while (kept_ + spec.bytes > capacity_ && !inputs_.empty()) {
    kept_ -= inputs_.back().spec.bytes;
    inputs_.pop_back();
  }
  // Not value-initialised, so that the threads that draw touch it first.
  std::byte *memory = new (std::nothrow) std::byte[spec.bytes];
  if (!memory)
    return nullptr;
  wanted.bytes = Bytes(memory);
  // Small pages of gigabytes take longer to touch than to fill.
  const std::uintptr_t page = std::uintptr_t(sysconf(_SC_PAGESIZE)),
                       begin = (std::uintptr_t(memory) + page - 1) / page * page,
                       end = (std::uintptr_t(memory) + spec.bytes) / page * page;
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
  if (isStored) {
    const trace::ContentsFile *file = nullptr;
    if (!stored(spec, file).ok() ||
        !readCaptured(*file, spec, seed, stream, 0, spec.bytes, memory).ok())
      return nullptr; // the caller then reads it in parts and reports the error
  } else {
    drawContentsParallel(spec, seed, stream, 0, spec.bytes, memory);
    ++drawn_;
  }
  kept_ += spec.bytes;
  inputs_.push_front(std::move(wanted));
  return inputs_.front().bytes;
}

Status HostMemory::stored(const BufferSpec &spec, const trace::ContentsFile *&out) {
  const std::string &path = spec.contents;
  const std::uint64_t period = spec.period;
  const std::uint64_t most = period == 0 ? spec.bytes : std::min(spec.bytes, period);
  const std::uint64_t own =
      spec.drawnAs.empty() ? most : most / sizeof(double) * scalarSize(spec.drawnAs);
  const std::uint64_t bytes = own - std::min(spec.lead, own); // the lead is not widened
  const bool isTrace = spec.fill == FillKind::Captured;
  std::unique_ptr<trace::ContentsFile> &file = captured_[path];
  std::string why;
  if (!file) {
    const auto attached = attached_.find(path);
    file = (isTrace ? trace::ContentsFile::open : trace::ContentsFile::openPlain)(
        path, why, attached == attached_.end() ? -1 : fcntl(attached->second, F_DUPFD_CLOEXEC, 3));
  }
  // A buffer smaller than the file takes the first bytes of it.
  if (file && file->bytes() < bytes)
    why = path + " holds " + std::to_string(file->bytes()) + " bytes, the buffer has " +
          std::to_string(bytes);
  else if (file && !checked_.contains(path) && file->verify(why))
    checked_.insert(path);
  if (!why.empty()) {
    captured_.erase(path);
    return {StatusCode::DeviceError, std::string(isTrace ? "a captured buffer" : "a fill's file") +
                                         " cannot be read: " + why};
  }
  out = file.get();
  return {};
}

void HostMemory::beginRequest(const std::vector<std::string> &names, std::vector<int> descriptors) {
  endRequest();
  for (std::size_t i = 0; i < descriptors.size(); ++i)
    if (i >= names.size() || !attached_.emplace(names[i], descriptors[i]).second)
      close(descriptors[i]);
  for (auto mapping = mappings_.begin(); mapping != mappings_.end();) {
    const bool wanted = std::find(names.begin(), names.end(), mapping->first) != names.end();
    if (!wanted && mapping->second.bytes > 0)
      munmap(mapping->second.memory, mapping->second.bytes);
    mapping = wanted ? std::next(mapping) : mappings_.erase(mapping);
  }
}

void HostMemory::endRequest() {
  for (const auto &[name, fd] : attached_)
    close(fd);
  attached_.clear();
}

bool HostMemory::isCurrent(const std::string &name, const Mapping &mapping) const {
  struct stat now{};
  const auto attached = attached_.find(name);
  const int found =
      attached != attached_.end() ? fstat(attached->second, &now) : stat(name.c_str(), &now);
  return found == 0 && now.st_dev == mapping.device && now.st_ino == mapping.inode &&
         std::uint64_t(now.st_size) == mapping.bytes;
}

/// Unmaps files that their paths no longer name: the driver has given them up, and their memory is
/// released with the last mapping.
void HostMemory::dropStale() {
  for (auto mapping = mappings_.begin(); mapping != mappings_.end();) {
    if (isCurrent(mapping->first, mapping->second)) {
      ++mapping;
      continue;
    }
    if (mapping->second.bytes > 0)
      munmap(mapping->second.memory, mapping->second.bytes);
    mapping = mappings_.erase(mapping);
  }
}

Status HostMemory::map(const std::string &path, std::uint64_t bytes, std::byte *&out) {
  const auto failed = [&](int error) {
    return Status{StatusCode::DeviceError, "cannot write " + path + ": " + std::strerror(error)};
  };
  dropStale();
  if (const auto known = mappings_.find(path);
      known != mappings_.end() && known->second.bytes == bytes) {
    out = known->second.memory;
    return {};
  }
  const auto attached = attached_.find(path);
  const File file(attached != attached_.end()
                      ? fcntl(attached->second, F_DUPFD_CLOEXEC, 3)
                      : open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct stat now{};
  if (file.get() < 0 || fstat(file.get(), &now) != 0)
    return failed(errno);
  if (const int error = resize(file.get(), bytes, now))
    return failed(error);
  Mapping mapping{nullptr, bytes, now.st_dev, now.st_ino};
  if (bytes > 0) {
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED)
      return failed(errno);
    mapping.memory = static_cast<std::byte *>(memory);
  }
  dropStale(); // the file may have had another size before
  mappings_[path] = mapping;
  out = mapping.memory;
  return {};
}

std::byte *HostMemory::scratch(int slot) {
  if (!scratch_[slot])
    scratch_[slot].reset(new std::byte[kContentsPiece]);
  return scratch_[slot].get();
}

namespace {

/// Reads bytes of the file with several threads.
Status readFile(const trace::ContentsFile &file, std::uint64_t offset, std::size_t size,
                std::byte *out) {
  std::mutex failing;
  std::string why;
  parallelFor(
      size, trace::kPieceBytes,
      [&](std::uint64_t begin, std::uint64_t end) {
        std::string reason;
        if (file.read(offset + begin, end - begin, out + begin, reason))
          return;
        const std::lock_guard lock(failing);
        why = reason;
      },
      threadsFor(size));
  return why.empty() ? Status{}
                     : Status{StatusCode::DeviceError, "a captured buffer cannot be read: " + why};
}

/// As readFile(), for contents whose first `period` bytes repeat; 0: they do not repeat.
Status readRepeated(const trace::ContentsFile &file, std::uint64_t period, std::uint64_t offset,
                    std::size_t size, std::byte *out) {
  if (period == 0 || offset + size <= period)
    return readFile(file, offset, size, out);
  std::size_t done = 0;
  while (done < size && done < period) {
    const std::uint64_t at = (offset + done) % period;
    const std::size_t part = std::size_t(std::min<std::uint64_t>(size - done, period - at));
    KOPT_CHECK(readFile(file, at, std::min<std::uint64_t>(part, period - done), out + done));
    done += std::size_t(std::min<std::uint64_t>(part, period - done));
  }
  for (; done < size; done += std::size_t(std::min<std::uint64_t>(period, size - done)))
    std::memcpy(out + done, out + done - period,
                std::size_t(std::min<std::uint64_t>(period, size - done)));
  return {};
}

} // namespace

Status readCaptured(const trace::ContentsFile &file, const BufferSpec &spec, std::uint64_t seed,
                    std::uint64_t stream, std::uint64_t offset, std::size_t size, std::byte *out) {
  if (!spec.drawnAs.empty()) {
    BufferSpec narrow = spec;
    narrow.scalar = std::exchange(narrow.drawnAs, "");
    const std::uint64_t width = scalarSize(narrow.scalar), count = size / sizeof(double);
    narrow.bytes = spec.bytes / sizeof(double) * width;
    narrow.period = spec.period / sizeof(double) * width;
    std::vector<std::byte> numbers(count * width);
    KOPT_CHECK(readCaptured(file, narrow, seed, stream, offset / sizeof(double) * width,
                            numbers.size(), numbers.data()));
    widenNumbers(narrow.scalar, numbers.data(), count, out);
    return {};
  }
  const std::uint64_t lead = leadOf(spec);
  const std::size_t before =
      offset < lead ? std::size_t(std::min<std::uint64_t>(size, lead - offset)) : 0;
  std::memset(out, 0, before);
  if (before == size)
    return {};
  KOPT_CHECK(readRepeated(file, spec.period, offset + before - lead, size - before, out + before));
  if (!altersCaptured(spec))
    return {};
  parallelFor(
      size, StructType::parse(spec.scalar) ? kContentsPiece : kDrawGrain,
      [&](std::uint64_t begin, std::uint64_t end) {
        alterCaptured(spec, seed, stream, offset + begin, end - begin, out + begin);
      },
      threadsFor(size));
  return {};
}

void drawContentsParallel(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                          std::uint64_t offset, std::size_t size, std::byte *out,
                          unsigned threads) {
  parallelFor(
      size, kDrawGrain,
      [&](std::uint64_t begin, std::uint64_t end) {
        drawContents(spec, seed, stream, offset + begin, end - begin, out + begin);
      },
      threads ? threads : threadsFor(size));
}

void drawPoisonParallel(std::uint64_t seed, std::uint64_t stream, bool inverted,
                        std::uint64_t offset, std::size_t size, std::byte *out, unsigned threads) {
  parallelFor(
      size, kDrawGrain,
      [&](std::uint64_t begin, std::uint64_t end) {
        drawPoison(seed, stream, inverted, offset + begin, end - begin, out + begin);
      },
      threads ? threads : threadsFor(size));
}

} // namespace kopt::runtime
