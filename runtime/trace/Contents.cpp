// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/Contents.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace kopt::runtime::trace {

namespace {

constexpr char kMagic[8] = {'K', 'O', 'P', 'T', 'B', 'U', 'F', '\0'};
constexpr std::uint32_t kPlain = 1u << 31; ///< flag in a piece's size: not compressed
constexpr int kLevel = 1;                  ///< fast, because the user's program waits for it
constexpr unsigned kMostAtATime = 16;      ///< pieces at a time, each on its own thread

struct ContentsHeader {
  char magic[8];
  std::uint32_t version, pieces;
  std::uint64_t bytes, pieceBytes;
  std::uint8_t hash[16];
};
static_assert(sizeof(ContentsHeader) == 48);

ContentHash toHash(const XXH128_hash_t &value) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, value);
  ContentHash hash;
  std::memcpy(hash.data(), canonical.digest, hash.size());
  return hash;
}

std::size_t pieceSize(std::uint64_t bytes, std::uint64_t index) {
  return std::size_t(std::min(kPieceBytes, bytes - index * kPieceBytes));
}

/// The number of pieces that are processed at a time, for contents of `bytes` bytes.
std::size_t batchOf(std::uint64_t bytes) {
  const std::uint64_t pieces = std::max<std::uint64_t>(1, (bytes + kPieceBytes - 1) / kPieceBytes);
  return std::size_t(std::min<std::uint64_t>(
      pieces, std::clamp(std::thread::hardware_concurrency(), 1u, kMostAtATime)));
}

/// Starts a thread that takes no signals, because this may be a user's program. If none can start,
/// does the work itself and returns no thread.
template <class Work> std::thread inBackground(const Work &work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(work);
  } catch (const std::system_error &) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread.joinable())
    work();
  return thread;
}

/// Calls `work(i)` for all i < count, each on its own thread. The threads end before the call
/// returns, because this may be a user's program, which may fork. `work` must not throw.
template <class Work> void atATime(std::size_t count, const Work &work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < count; ++i)
    threads.push_back(inBackground([&work, i] { work(i); }));
  if (count > 0)
    work(std::size_t(0));
  for (std::thread &thread : threads)
    if (thread.joinable())
      thread.join();
}

using Space = std::unique_ptr<std::byte[]>;

Space makeSpace(std::size_t bytes) { return Space(new (std::nothrow) std::byte[bytes]); }

/// `count` pieces from piece `index` on, which have been read to `bytes`.
struct Batch {
  std::uint64_t index = 0;
  std::size_t count = 0;
  const std::byte *bytes = nullptr;

  const std::byte *piece(std::size_t i) const { return bytes + i * kPieceBytes; }
};

/// Reads all pieces of the source in order, `batch` pieces at a time, into the two halves of
/// `space` in turn, and calls `each(Batch)` for each batch, in order, on another thread while it
/// reads the next one. Stops if a call returns false.
template <class Each>
bool forBatches(std::uint64_t bytes, std::size_t batch, const ContentsSource &source,
                std::byte *space, std::string &why, Each each) {
  const std::uint64_t pieces = (bytes + kPieceBytes - 1) / kPieceBytes;
  bool isRead = true, isDone = true; // isDone: what `each` returned last
  std::thread working;
  const auto finish = [&] {
    if (working.joinable())
      working.join();
    return isRead && isDone;
  };
  for (std::uint64_t index = 0; index < pieces; index += batch) {
    std::byte *half = space + (index / batch % 2) * batch * kPieceBytes;
    const Batch read{index, std::size_t(std::min<std::uint64_t>(batch, pieces - index)), half};
    for (std::size_t i = 0; i < read.count && isRead; ++i)
      isRead = source((index + i) * kPieceBytes, pieceSize(bytes, index + i),
                      half + i * kPieceBytes, why);
    if (!finish())
      return false;
    if (index + batch >= pieces)
      return each(read); // there is no next one to read
    working = inBackground([&each, &isDone, read] { isDone = each(read); });
  }
  return finish();
}

/// A file that appears as `path` only when it is complete.
class NewFile {
public:
  explicit NewFile(const std::string &path) : path_(path) {
    static std::atomic<unsigned> count{0};
    temporary_ = path + "." + std::to_string(getpid()) + "." + std::to_string(count++) + ".new";
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  }
  ~NewFile() {
    if (fd_ >= 0) {
      close(fd_);
      unlink(temporary_.c_str());
    }
  }
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  bool isOpen() const { return fd_ >= 0; }
  bool write(const void *bytes, std::size_t size, std::uint64_t at) {
    const char *from = static_cast<const char *>(bytes);
    while (size > 0) {
      const ssize_t done = pwrite(fd_, from, size, off_t(at));
      if (done < 0 && errno == EINTR)
        continue;
      if (done <= 0)
        return false;
      from += done;
      at += std::uint64_t(done);
      size -= std::size_t(done);
    }
    return true;
  }
  bool finish() {
    const bool closed = close(fd_) == 0;
    fd_ = -1;
    if (closed && rename(temporary_.c_str(), path_.c_str()) == 0)
      return true;
    unlink(temporary_.c_str());
    return false;
  }

private:
  std::string path_, temporary_;
  int fd_ = -1;
};

constexpr const char *kNoMemory = "no memory to compress a buffer with";

bool failed(const std::string &path, std::string &why) {
  why = "cannot write " + path + ": " + std::strerror(errno);
  return false;
}

} // namespace

ContentHash hashContents(const std::byte *bytes, std::uint64_t size) {
  return toHash(XXH3_128bits(bytes, size));
}

namespace {

/// The state of a hash that grows batch by batch.
class RunningHash {
public:
  explicit RunningHash(std::uint64_t bytes)
      : bytes_(bytes), state_(XXH3_createState(), XXH3_freeState) {
    if (state_)
      XXH3_128bits_reset(state_.get());
  }
  bool isThere() const { return state_ != nullptr; }
  void add(const Batch &read) {
    for (std::size_t i = 0; i < read.count; ++i)
      XXH3_128bits_update(state_.get(), read.piece(i), pieceSize(bytes_, read.index + i));
  }
  ContentHash get() const { return toHash(XXH3_128bits_digest(state_.get())); }

private:
  std::uint64_t bytes_;
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

/// Compresses the contents and writes them to the file, with their sizes. `space` is for two
/// batches. Returns the size of the file; 0, with the reason in `why`: it is not whole.
std::uint64_t writePieces(NewFile &file, const std::string &path, std::uint64_t bytes,
                          const ContentsSource &source, std::byte *space, const ContentHash &hash,
                          std::string &why) {
  const std::size_t batch = batchOf(bytes), bound = ZSTD_compressBound(kPieceBytes);
  const Space packed = makeSpace(batch * bound);
  RunningHash again(bytes);
  if (!packed || !again.isThere()) {
    why = kNoMemory;
    return 0;
  }
  ContentsHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kContentsVersion;
  header.pieces = std::uint32_t((bytes + kPieceBytes - 1) / kPieceBytes);
  header.bytes = bytes;
  header.pieceBytes = kPieceBytes;
  std::memcpy(header.hash, hash.data(), hash.size());
  std::vector<std::uint32_t> sizes(header.pieces);
  std::uint64_t at = sizeof header + sizes.size() * sizeof(std::uint32_t);
  std::vector<std::size_t> lengths(batch);
  std::string whyNot;
  const auto store = [&](const Batch &read) {
    again.add(read);
    atATime(read.count, [&](std::size_t i) {
      lengths[i] = ZSTD_compress(packed.get() + i * bound, bound, read.piece(i),
                                 pieceSize(bytes, read.index + i), kLevel);
    });
    for (std::size_t i = 0; i < read.count; ++i) {
      const std::size_t size = pieceSize(bytes, read.index + i);
      const bool plain = ZSTD_isError(lengths[i]) || lengths[i] >= size;
      const std::size_t length = plain ? size : lengths[i];
      sizes[read.index + i] = std::uint32_t(length) | (plain ? kPlain : 0);
      if (!file.write(plain ? read.piece(i) : packed.get() + i * bound, length, at))
        return failed(path, whyNot);
      at += length;
    }
    return true;
  };
  if (!forBatches(bytes, batch, source, space, why, store)) {
    why = whyNot.empty() ? why : whyNot;
    return 0;
  }
  if (again.get() != hash) {
    why = "the buffer changed while it was stored";
    return 0;
  }
  const bool done = file.write(&header, sizeof header, 0) &&
                    file.write(sizes.data(), sizes.size() * sizeof sizes[0], sizeof header) &&
                    file.finish();
  return done || failed(path, why) ? at : 0;
}

} // namespace

bool storeContents(const std::string &folder, std::uint64_t bytes, const ContentsSource &source,
                   ContentHash &hash, std::uint64_t &written, std::string &why) {
  written = 0;
  if (bytes > kLargestContents) {
    why = std::to_string(bytes) + " bytes are more than a trace holds";
    return false;
  }
  const Space space = makeSpace(2 * batchOf(bytes) * kPieceBytes);
  RunningHash whole(bytes);
  if (!space || !whole.isThere()) {
    why = kNoMemory;
    return false;
  }
  const auto add = [&](const Batch &read) {
    whole.add(read);
    return true;
  };
  if (!forBatches(bytes, batchOf(bytes), source, space.get(), why, add))
    return false;
  hash = whole.get();
  const std::string path = folder + "/" + contentsPath(hash);
  if (access(path.c_str(), R_OK) == 0)
    return true;
  mkdir((folder + "/contents").c_str(), 0700);
  mkdir(path.substr(0, path.rfind('/')).c_str(), 0700);
  NewFile file(path);
  if (!file.isOpen())
    return failed(path, why);
  written = writePieces(file, path, bytes, source, space.get(), hash, why);
  return written > 0;
}

std::unique_ptr<ContentsFile> ContentsFile::openPlain(const std::string &path, std::string &why,
                                                      int descriptor) {
  std::unique_ptr<ContentsFile> file(new ContentsFile);
  file->path_ = path;
  if (!file->file_.open(path, why, descriptor))
    return nullptr;
  file->bytes_ = file->file_.bytes().size();
  file->isBare_ = true;
  return file;
}

std::unique_ptr<ContentsFile> ContentsFile::open(const std::string &path, std::string &why,
                                                 int descriptor) {
  std::unique_ptr<ContentsFile> file(new ContentsFile);
  const auto bad = [&](std::size_t offset, const std::string &what) {
    why = path + ": byte " + std::to_string(offset) + ": " + what;
    return nullptr;
  };
  file->path_ = path;
  if (!file->file_.open(path, why, descriptor))
    return nullptr;
  const std::string_view mapped = file->file_.bytes();
  ContentsHeader header{};
  if (mapped.size() < sizeof header || std::memcmp(mapped.data(), kMagic, sizeof kMagic) != 0)
    return bad(0, "this is not a buffer of a kopt trace");
  std::memcpy(&header, mapped.data(), sizeof header);
  if (header.version != kContentsVersion)
    return bad(8, "a buffer of version " + std::to_string(header.version) +
                      "; this kopt reads version " + std::to_string(kContentsVersion) +
                      ": record it again");
  if (header.pieceBytes != kPieceBytes || header.bytes > kLargestContents ||
      header.pieces != (header.bytes + kPieceBytes - 1) / kPieceBytes)
    return bad(12, std::to_string(header.pieces) + " pieces for " + std::to_string(header.bytes) +
                       " bytes");
  const std::uint64_t table = std::uint64_t(header.pieces) * sizeof(std::uint32_t);
  if (table > mapped.size() - sizeof header)
    return bad(sizeof header, "the table of pieces is cut");
  file->bytes_ = header.bytes;
  std::memcpy(file->hash_.data(), header.hash, file->hash_.size());
  std::uint64_t at = sizeof header + table;
  for (std::uint32_t i = 0; i < header.pieces; ++i) {
    std::uint32_t size = 0;
    std::memcpy(&size, mapped.data() + sizeof header + i * sizeof size, sizeof size);
    file->begins_.push_back(at);
    file->plain_.push_back((size & kPlain) != 0);
    const std::uint64_t length = size & ~kPlain;
    if (length > mapped.size() - at ||
        (file->plain_.back() && length != pieceSize(header.bytes, i)))
      return bad(sizeof header + i * sizeof size, "piece " + std::to_string(i) + " has " +
                                                      std::to_string(length) + " bytes, the file " +
                                                      std::to_string(mapped.size()));
    at += length;
  }
  file->begins_.push_back(at);
  if (at != mapped.size())
    return bad(at, "the file continues after its last piece");
  return file;
}

bool ContentsFile::readPiece(std::size_t index, std::byte *to, std::string &why) const {
  const char *from = file_.bytes().data() + begins_[index];
  const std::size_t packed = std::size_t(begins_[index + 1] - begins_[index]),
                    size = pieceSize(bytes_, index);
  if (plain_[index]) {
    std::memcpy(to, from, size);
    return true;
  }
  const std::size_t got = ZSTD_decompress(to, size, from, packed);
  if (!ZSTD_isError(got) && got == size)
    return true;
  why = path_ + ": byte " + std::to_string(begins_[index]) + ": piece " + std::to_string(index) +
        " does not decompress: " +
        (ZSTD_isError(got) ? ZSTD_getErrorName(got) : "it has another size");
  return false;
}

bool ContentsFile::read(std::uint64_t offset, std::size_t size, std::byte *to,
                        std::string &why) const {
  if (offset > bytes_ || size > bytes_ - offset) {
    why = path_ + ": has " + std::to_string(bytes_) + " bytes; " + std::to_string(size) + " at " +
          std::to_string(offset) + " were asked for";
    return false;
  }
  if (isBare_) {
    std::memcpy(to, file_.bytes().data() + offset, size);
    return true;
  }
  std::unique_ptr<std::byte[]> space;
  while (size > 0) {
    const std::size_t index = std::size_t(offset / kPieceBytes),
                      within = std::size_t(offset % kPieceBytes);
    const std::size_t piece = pieceSize(bytes_, index), part = std::min(size, piece - within);
    if (part == piece) {
      if (!readPiece(index, to, why))
        return false;
    } else {
      if (!space)
        space.reset(new std::byte[kPieceBytes]);
      if (!readPiece(index, space.get(), why))
        return false;
      std::memcpy(to, space.get() + within, part);
    }
    to += part;
    offset += part;
    size -= part;
  }
  return true;
}

bool ContentsFile::verify(std::string &why) const {
  if (isBare_)
    return true;
  const std::size_t pieces = begins_.size() - 1, batch = batchOf(bytes_);
  const std::unique_ptr<std::byte[]> space(new std::byte[batch * kPieceBytes]);
  std::vector<std::string> reasons(batch);
  RunningHash found(bytes_);
  for (std::size_t index = 0; index < pieces; index += batch) {
    const Batch read{index, std::min(batch, pieces - index), space.get()};
    atATime(read.count, [&](std::size_t i) {
      readPiece(index + i, space.get() + i * kPieceBytes, reasons[i]);
    });
    for (std::size_t i = 0; i < read.count; ++i)
      if (!reasons[i].empty()) {
        why = reasons[i];
        return false;
      }
    found.add(read);
  }
  if (found.get() == hash_)
    return true;
  why = path_ + ": its contents do not match its name";
  return false;
}

} // namespace kopt::runtime::trace
