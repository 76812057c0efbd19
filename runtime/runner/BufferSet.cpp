// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/BufferSet.h"

#include "runtime/device/Check.h"
#include "runtime/device/Parallel.h"
#include "runtime/runner/Fill.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <cstring>

namespace kopt::runtime {

namespace {

constexpr std::size_t kGuardBytes = 64 << 10;
/// How far into its allocation a buffer begins at most, and the multiples of which it does.
constexpr std::uint64_t kMostShift = 256 << 10, kShiftStep = 4096;
/// Smaller buffers are copied to the host sooner than a kernel is launched and awaited.
constexpr std::uint64_t kWorthALaunch = 1u << 20;
constexpr std::uint64_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kMovedAtATime = 64u << 10; ///< addresses that one thread looks at

/// Bytes of each guard zone on this device. None on the emulated device: it reports every access
/// outside an allocation, reads included, and a guard zone would hide such accesses from it.
std::size_t guardBytesOn(const Device &device) {
  return device.properties().kind == "emulated" ? 0 : kGuardBytes;
}

/// Calls `part(offset, size)` for each piece of a buffer, and stops at the first that is not Ok.
template <class Part> Status forPieces(std::uint64_t bytes, Part part) {
  for (std::uint64_t offset = 0; offset < bytes; offset += kContentsPiece)
    KOPT_CHECK(part(offset, std::size_t(std::min(kContentsPiece, bytes - offset))));
  return {};
}

} // namespace

BufferSet::BufferSet(RunContext context, std::vector<BufferSpec> specs, std::uint64_t inputSeed,
                     std::vector<std::uint32_t> modules, Checks checks)
    : device_(context.device), memory_(context.memory), stages_(context.stages),
      specs_(std::move(specs)), inputSeed_(inputSeed), checks_(checks),
      guardBytes_(guardBytesOn(device_)), modules_(std::move(modules)), placed_(specs_.size()),
      digestKey_(secretKey()) {}

BufferSet::~BufferSet() {
  const Stages::Scope stage(stages_, "free");
  // After a fault nothing can be freed; the process ends soon and takes the memory with it.
  for (const Placed &placed : placed_) {
    if (placed.base && device_.usable())
      device_.release(placed.base);
    if (placed.pristine && device_.usable())
      device_.release(placed.pristine);
  }
}

std::uint64_t BufferSet::footprint(const Device &device, const std::vector<BufferSpec> &specs,
                                   bool pristine) {
  std::uint64_t sum = 0;
  for (const BufferSpec &spec : specs)
    sum += (spec.symbol.empty() ? spec.bytes : 0) + 2 * guardBytesOn(device) +
           (pristine && spec.inPlace() ? spec.bytes : 0);
  return sum;
}

Status BufferSet::allocate(bool pristine, std::uint64_t placement) {
  const Stages::Scope stage(stages_, "allocate");
  // A GPU answers equal requests with equal addresses, so the buffers begin further in larger
  // allocations. The emulated device hands out new addresses anyway.
  const std::uint64_t shift = placement != 0 && device_.properties().kind != "emulated"
                                  ? (placement % (kMostShift / kShiftStep) + 1) * kShiftStep
                                  : 0;
  const std::uint64_t room = shift > 0 ? kMostShift : 0;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const std::uint64_t bytes = specs_[i].bytes;
    if (!specs_[i].contents.empty())
      KOPT_CHECK(memory_.stored(specs_[i], placed_[i].file));
    if (!specs_[i].symbol.empty()) {
      KOPT_CHECK(findVariable(i));
    } else if (bytes + guardBytes_ > 0) {
      KOPT_CHECK(device_.allocate(bytes + 2 * guardBytes_ + room, placed_[i].base));
      placed_[i].data = placed_[i].base + shift + guardBytes_;
    }
    if (specs_[i].address != 0 && placed_[i].data != 0)
      moves_.push_back(
          {specs_[i].address, placed_[i].data + leadOf(specs_[i]), bytes - leadOf(specs_[i])});
    if (pristine && specs_[i].inPlace() && bytes > 0)
      KOPT_CHECK(device_.allocate(bytes, placed_[i].pristine));
  }
  return {};
}

/// Finds the variable in each module. A module may lack a variable that is only read, because it
/// then cannot depend on it; a variable that is written must exist.
Status BufferSet::findVariable(std::size_t buffer) {
  const BufferSpec &spec = specs_[buffer];
  for (const std::uint32_t module : modules_) {
    Address address = 0;
    std::size_t bytes = 0;
    Status status = device_.variable(module, spec.symbol, address, bytes);
    if (status.code == StatusCode::LaunchFailed && spec.readOnly)
      continue;
    if (!status.ok())
      return status;
    if (bytes != spec.bytes)
      return {StatusCode::LaunchFailed, "the variable " + spec.symbol + " has " +
                                            std::to_string(bytes) + " bytes in the module, " +
                                            std::to_string(spec.bytes) + " in the launch"};
    placed_[buffer].variables.push_back(address);
  }
  if (!placed_[buffer].variables.empty())
    placed_[buffer].data = placed_[buffer].variables.front();
  return {};
}

void BufferSet::moveAddresses(std::byte *bytes, std::size_t size, bool toDevice) const {
  const auto moveOne = [&](std::byte *at) {
    Address word = 0;
    std::memcpy(&word, at, sizeof word);
    // Programs also keep pointers to the end of a buffer. Where another buffer begins at that
    // address, the pointer is taken to mean that buffer.
    const Move *found = nullptr;
    for (const Move &move : moves_) {
      const std::uint64_t offset = word - (toDevice ? move.from : move.to);
      if (offset < move.bytes || (offset == move.bytes && !found))
        found = &move;
      if (offset < move.bytes)
        break;
    }
    if (!found)
      return;
    word = toDevice ? word - found->from + found->to : word - found->to + found->from;
    std::memcpy(at, &word, sizeof word);
  };
  parallelFor(
      size / sizeof(Address), kMovedAtATime,
      [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i)
          moveOne(bytes + i * sizeof(Address));
      },
      threadsFor(size));
}

std::uint64_t BufferSet::guardStream(std::size_t buffer, bool after) const {
  return specs_.size() + 2 * buffer + (after ? 1 : 0);
}

Address BufferSet::guardOf(std::size_t buffer, bool after) const {
  const Address data = placed_[buffer].data;
  return after ? data + specs_[buffer].bytes : data - guardBytes_;
}

Status BufferSet::resetGuards(std::size_t buffer) {
  if (guardBytes_ == 0 || !specs_[buffer].symbol.empty())
    return {};
  std::vector<std::byte> bytes(guardBytes_);
  for (const bool after : {false, true}) {
    drawPoison(poison_.seed, guardStream(buffer, after), poison_.inverted, 0, guardBytes_,
               bytes.data());
    const Address at = guardOf(buffer, after);
    KOPT_CHECK(device_.poison(at, bytes.data(), guardBytes_));
  }
  return {};
}

const std::byte *BufferSet::initial(std::size_t buffer, Source source, std::uint64_t offset,
                                    std::size_t size) {
  const BufferSpec &spec = specs_[buffer];
  Placed &placed = placed_[buffer];
  const Stages::Scope stage(stages_, "draw");
  if (source == Source::Contents && !placed.contents)
    placed.contents = memory_.contents(spec, inputSeed_, buffer);
  const bool moved = source == Source::Contents && spec.holdsPointers;
  if (source == Source::Contents && placed.contents && !moved)
    return placed.contents.get() + offset;
  std::byte *bytes = memory_.scratch(1);
  if (source == Source::Contents && placed.contents) {
    parallelCopy(bytes, placed.contents.get() + offset, size);
  } else if (source == Source::Contents && placed.file) {
    failure_ = readCaptured(*placed.file, spec, inputSeed_, buffer, offset, size, bytes);
    if (!failure_.ok())
      return nullptr;
  } else if (source == Source::Contents)
    drawContentsParallel(spec, inputSeed_, buffer, offset, size, bytes);
  else
    drawPoisonParallel(poison_.seed, buffer, poison_.inverted, offset, size, bytes);
  if (moved)
    moveAddresses(bytes, size, true);
  return bytes;
}

MemoryKernels *BufferSet::kernelsFor(std::size_t buffer) const {
  const BufferSpec &spec = specs_[buffer];
  const bool isWorthIt = spec.bytes >= kWorthALaunch && spec.symbol.empty();
  return isWorthIt && !isLeftToHost_ ? device_.memoryKernels() : nullptr;
}

Status BufferSet::fill(std::size_t buffer) {
  const Stages::Scope stage(stages_, "fill");
  const BufferSpec &spec = specs_[buffer];
  Placed &placed = placed_[buffer];
  MemoryKernels *const kernels = kernelsFor(buffer);
  const std::uint64_t words = spec.bytes / kWord;
  if (spec.output && kernels) {
    KOPT_CHECK(kernels->writePattern(placed.data, words,
                                     poisonOf(poison_.seed, buffer, poison_.inverted)));
    return fillFrom(buffer, Source::Poison, words * kWord);
  }
  KOPT_CHECK(fillFrom(buffer, spec.output ? Source::Poison : Source::Contents, 0));
  if (kernels)
    KOPT_CHECK(kernels->digest(placed.data, words, digestKey_, placed.filled.emplace()));
  if (!spec.readOnly || !spec.symbol.empty() || spec.bytes == 0 || !checks_.inputs)
    return {};
  return device_.protect(placed.data, spec.bytes);
}

/// Copies what the host draws to the buffer, from byte `begin` on.
Status BufferSet::fillFrom(std::size_t buffer, Source source, std::uint64_t begin) {
  const BufferSpec &spec = specs_[buffer];
  const std::vector<Address> places =
      spec.symbol.empty() ? std::vector<Address>{placed_[buffer].data} : placed_[buffer].variables;
  return forPieces(spec.bytes - begin, [&](std::uint64_t offset, std::size_t size) -> Status {
    const std::byte *drawn = initial(buffer, source, begin + offset, size);
    if (!drawn)
      return failure_;
    for (const Address place : places)
      KOPT_CHECK(source == Source::Poison ? device_.poison(place + begin + offset, drawn, size)
                                          : device_.write(place + begin + offset, drawn, size));
    return {};
  });
}

Status BufferSet::reset(Poison poison, const BufferSet *like) {
  poison_ = poison;
  if (like)
    digestKey_ = like->digestKey_;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    KOPT_CHECK(resetGuards(i));
    KOPT_CHECK(like ? fillLike(i, *like) : fill(i));
    if (!placed_[i].pristine)
      continue;
    const Stages::Scope stage(stages_, "fill");
    KOPT_CHECK(device_.copy(placed_[i].pristine, placed_[i].data, specs_[i].bytes));
  }
  return {};
}

/// Small buffers are written as soon as they are copied, and addresses differ from set to set.
Status BufferSet::fillLike(std::size_t buffer, const BufferSet &like) {
  const Placed &other = like.placed_[buffer];
  if (!other.filled || specs_[buffer].holdsPointers)
    return fill(buffer);
  const Stages::Scope stage(stages_, "fill");
  placed_[buffer].filled = other.filled;
  return device_.copy(placed_[buffer].data, other.data, specs_[buffer].bytes);
}

Status BufferSet::renew() {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (!specs_[i].readOnly)
      KOPT_CHECK(fill(i));
  return {};
}

Status BufferSet::restore() {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (placed_[i].pristine && (leftAlone_.empty() || !leftAlone_[i]))
      KOPT_CHECK(device_.copy(placed_[i].data, placed_[i].pristine, specs_[i].bytes));
  return {};
}

Status BufferSet::findUnchanged(std::vector<bool> &unchanged) {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (!unchanged[i])
      continue;
    unchanged[i] = placed_[i].pristine && specs_[i].symbol.empty();
    if (!unchanged[i])
      continue;
    const Status status = checkUnchanged(i, placed_[i].data, specs_[i].name);
    unchanged[i] = status.ok();
    if (!status.ok() && status.code != StatusCode::InputChanged)
      return status;
  }
  return {};
}

Status BufferSet::check() {
  const Stages::Scope stage(stages_, "check");
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    for (const bool after : {false, true})
      if (Status status = checkGuard(i, after); checks_.guards && !status.ok())
        return status;
    const std::string &name = specs_[i].name;
    if (specs_[i].readOnly && checks_.inputs && !specs_[i].symbol.empty())
      for (const Address place : placed_[i].variables)
        KOPT_CHECK(checkUnchanged(i, place, "the read-only " + name));
    if (specs_[i].readOnly && checks_.inputs && specs_[i].symbol.empty())
      KOPT_CHECK(checkUnchanged(i, placed_[i].data, "the read-only " + name));
    if (placed_[i].pristine)
      KOPT_CHECK(checkUnchanged(i, placed_[i].pristine, "the copy kopt keeps of " + name));
  }
  return {};
}

Status BufferSet::checkGuard(std::size_t buffer, bool after) {
  if (guardBytes_ == 0 || !specs_[buffer].symbol.empty())
    return {};
  std::vector<std::byte> found(guardBytes_), wanted(guardBytes_);
  const Address at = guardOf(buffer, after);
  KOPT_CHECK(device_.read(found.data(), at, guardBytes_));
  drawPoison(poison_.seed, guardStream(buffer, after), poison_.inverted, 0, guardBytes_,
             wanted.data());
  if (found == wanted)
    return {};
  const std::size_t size = elementSize(specs_[buffer].scalar);
  if (after) {
    const std::uint64_t byte =
        specs_[buffer].bytes + firstDifference(found.data(), wanted.data(), guardBytes_, 1);
    return {StatusCode::GuardTouched, "wrote past the end of " + specs_[buffer].name +
                                          ": at element " + std::to_string(byte / size) + " of " +
                                          std::to_string(specs_[buffer].bytes / size)};
  }
  // Report the touched byte that is nearest to the start of the buffer.
  std::size_t last = guardBytes_ - 1;
  while (found[last] == wanted[last])
    --last;
  const std::size_t before = (guardBytes_ - last + size - 1) / size;
  return {StatusCode::GuardTouched, "wrote before the start of " + specs_[buffer].name +
                                        ": at element -" + std::to_string(before)};
}

/// Compares the memory with what the host drew, unless it still has the digest that it had when it
/// was filled. A kernel that changes its inputs can change neither.
Status BufferSet::checkUnchanged(std::size_t buffer, Address address, const std::string &whose) {
  const BufferSpec &spec = specs_[buffer];
  std::uint64_t begin = 0; // what lies before is unchanged
  if (MemoryKernels *const kernels = kernelsFor(buffer); kernels && placed_[buffer].filled) {
    Digest now;
    KOPT_CHECK(kernels->digest(address, spec.bytes / kWord, digestKey_, now));
    if (now == *placed_[buffer].filled)
      begin = spec.bytes / kWord * kWord;
  }
  std::byte *found = memory_.scratch(0);
  return forPieces(spec.bytes - begin, [&](std::uint64_t at, std::size_t size) -> Status {
    const std::uint64_t offset = begin + at;
    KOPT_CHECK(device_.read(found, address + offset, size));
    const std::byte *wanted = initial(buffer, Source::Contents, offset, size);
    if (!wanted)
      return failure_;
    const std::uint64_t same = firstDifference(found, wanted, size);
    if (same == size)
      return {};
    return {StatusCode::InputChanged,
            "wrote to " + whose + ": element " +
                std::to_string((offset + same) / elementSize(spec.scalar)) + " changed"};
  });
}

Status BufferSet::collect(const std::vector<std::string> &paths,
                          std::vector<ElementSet> *poisoned) {
  if (poisoned)
    poisoned->assign(specs_.size(), {});
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const BufferSpec &spec = specs_[i];
    const bool wanted = i < paths.size() && !paths[i].empty(), search = poisoned && spec.output;
    if (!wanted && !search)
      continue;
    const Stages::Scope stage(stages_, "read");
    std::byte *file = nullptr;
    if (wanted)
      KOPT_CHECK(memory_.map(paths[i], spec.bytes, file));
    bool isFound = false;
    if (search)
      KOPT_CHECK(findPoisoned(i, (*poisoned)[i], isFound));
    const std::uint64_t bytes = file || !isFound ? spec.bytes : 0;
    const Status status = forPieces(bytes, [&](std::uint64_t offset, std::size_t size) {
      std::byte *to = file ? file + offset : memory_.scratch(0);
      if (Status read = device_.read(to, placed_[i].data + offset, size); !read.ok())
        return read;
      if (search && !isFound) {
        const Stages::Scope marking(stages_, "unwritten");
        markPoisoned(poisonOf(poison_.seed, i, poison_.inverted), scalarSize(spec.scalar), offset,
                     {to, size}, (*poisoned)[i]);
      }
      // Restore the captured addresses, so that two runs whose buffers lie at other addresses can
      // be compared.
      if (file && spec.holdsPointers)
        moveAddresses(to, size, false);
      return Status{};
    });
    if (!status.ok())
      return status;
    if (search)
      forgetPadding(spec, (*poisoned)[i]);
  }
  return {};
}

/// Finds the elements of an output that still hold the poison. False: the device cannot, so they
/// have to be read.
Status BufferSet::findPoisoned(std::size_t buffer, ElementSet &out, bool &isFound) {
  const BufferSpec &spec = specs_[buffer];
  const std::size_t element = scalarSize(spec.scalar);
  MemoryKernels *const kernels = kernelsFor(buffer);
  isFound = kernels != nullptr;
  out.words.assign(spec.bytes / element / 64 + 1, 0);
  if (!isFound)
    return {};
  const Stages::Scope stage(stages_, "unwritten");
  const Pattern poison = poisonOf(poison_.seed, buffer, poison_.inverted);
  const std::uint64_t words = spec.bytes / kWord, rest = spec.bytes % kWord;
  KOPT_CHECK(
      kernels->findPattern(placed_[buffer].data, words, poison, element, out.words, out.count));
  out.words.resize(spec.bytes / element / 64 + 1, 0);
  std::byte last[kWord]{};
  if (rest > 0)
    KOPT_CHECK(device_.read(last, placed_[buffer].data + words * kWord, rest));
  markPoisonedEnd(poison, element, words, {last, rest}, out);
  return {};
}

Status BufferSet::digests(std::uint64_t key, std::vector<Digest> &out) {
  out.clear();
  const Stages::Scope stage(stages_, "read");
  std::uint64_t large = 0;
  for (const BufferSpec &spec : specs_) {
    if (!spec.readOnly && (spec.holdsPointers || !spec.symbol.empty()))
      return {};
    large = std::max(large, spec.readOnly ? 0 : spec.bytes);
  }
  MemoryKernels *const kernels = device_.memoryKernels();
  if (!kernels || large < kWorthALaunch)
    return {};
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const std::uint64_t words = specs_[i].bytes / kWord, rest = specs_[i].bytes % kWord;
    if (specs_[i].readOnly)
      continue;
    KOPT_CHECK(kernels->digest(placed_[i].data, words, key, out.emplace_back()));
    std::byte last[kWord]{}; // as a word that zeros complete
    if (rest == 0)
      continue;
    KOPT_CHECK(device_.read(last, placed_[i].data + words * kWord, rest));
    const Digest tail = digestOf(last, 1, ~key);
    out.back() = {out.back()[0] + tail[0], out.back()[1] + tail[1]};
  }
  return {};
}

LaunchRequest BufferSet::request(const LaunchSpec &launch) const {
  LaunchRequest request;
  request.module = launch.module;
  request.grid = launch.grid;
  request.block = launch.block;
  request.sharedBytes = launch.sharedBytes;
  request.cooperative = launch.cooperative;
  request.stackBytes = launch.stackBytes;
  request.readsUnsetShared = launch.readsUnsetShared;
  for (const ArgumentSpec &argument : launch.arguments) {
    std::vector<std::byte> bytes = argument.value;
    for (const PointerSpec &pointer : argument.pointers) {
      const Address address = placed_[pointer.buffer].data + pointer.offset;
      std::memcpy(bytes.data() + pointer.at, &address, sizeof address);
    }
    request.arguments.push_back(std::move(bytes));
  }
  return request;
}

} // namespace kopt::runtime
