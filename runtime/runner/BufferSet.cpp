// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/BufferSet.h"

#include "runtime/device/Parallel.h"
#include "runtime/runner/Fill.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace kopt::runtime {

namespace {

constexpr std::size_t kGuardBytes = 64 << 10;
/// How far into its allocation a buffer begins at most, and the multiples of which it does.
constexpr std::uint64_t kMostShift = 256 << 10, kShiftStep = 4096;

/// Bytes of each guard zone on this device. None on the emulated device: it reports every access
/// outside an allocation, reads included, and a guard zone would hide such accesses from it.
std::size_t guardBytesOn(const Device &device) {
  return device.properties().kind == "emulated" ? 0 : kGuardBytes;
}

/// Calls `part(offset, size)` for each piece of a buffer, and stops at the first that is not Ok.
template <class Part> Status forPieces(std::uint64_t bytes, Part part) {
  constexpr std::uint64_t kPiece = HostMemory::kPiece;
  for (std::uint64_t offset = 0; offset < bytes; offset += kPiece)
    if (Status status = part(offset, std::size_t(std::min(kPiece, bytes - offset))); !status.ok())
      return status;
  return {};
}

/// Compares `count` elements of type T in `a` and `b` and sets the bit of each equal one in
/// `words`. Returns the number of equal elements.
template <class T>
std::uint64_t markEqual(const std::byte *a, const std::byte *b, std::uint64_t count,
                        std::uint64_t *words) {
  std::uint64_t equal = 0;
  for (std::uint64_t first = 0; first < count; first += 64) {
    std::uint64_t word = 0;
    const std::uint64_t last = std::min<std::uint64_t>(count, first + 64);
    for (std::uint64_t i = first; i < last; ++i) {
      T left, right;
      std::memcpy(&left, a + i * sizeof(T), sizeof(T));
      std::memcpy(&right, b + i * sizeof(T), sizeof(T));
      word |= std::uint64_t(left == right) << (i - first);
    }
    words[first / 64] = word;
    equal += std::uint64_t(std::popcount(word));
  }
  return equal;
}

std::uint64_t markEqual(std::size_t element, const std::byte *a, const std::byte *b,
                        std::uint64_t count, std::uint64_t *words) {
  switch (element) {
  case 2:
    return markEqual<std::uint16_t>(a, b, count, words);
  case 4:
    return markEqual<std::uint32_t>(a, b, count, words);
  case 8:
    return markEqual<std::uint64_t>(a, b, count, words);
  default:
    return markEqual<std::uint8_t>(a, b, count, words);
  }
}

} // namespace

BufferSet::BufferSet(RunContext context, std::vector<BufferSpec> specs, std::uint64_t inputSeed,
                     std::vector<std::uint32_t> modules, Checks checks)
    : device_(context.device), memory_(context.memory), stages_(context.stages),
      specs_(std::move(specs)), inputSeed_(inputSeed), checks_(checks),
      guardBytes_(guardBytesOn(device_)), modules_(std::move(modules)), placed_(specs_.size()) {}

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
      if (Status status = memory_.stored(specs_[i], placed_[i].file); !status.ok())
        return status;
    if (!specs_[i].symbol.empty()) {
      if (Status status = findVariable(i); !status.ok())
        return status;
    } else if (isRepeating(i)) {
      if (Status status = device_.allocateRepeating(bytes, placed_[i].base); !status.ok())
        return {StatusCode::LaunchFailed, status.detail}; // nobody lacks memory for anything else
      placed_[i].data = placed_[i].base;
    } else if (bytes + guardBytes_ > 0) {
      if (Status status = device_.allocate(bytes + 2 * guardBytes_ + room, placed_[i].base);
          !status.ok())
        return status;
      placed_[i].data = placed_[i].base + shift + guardBytes_;
    }
    if (specs_[i].address != 0 && placed_[i].data != 0)
      moves_.push_back(
          {specs_[i].address, placed_[i].data + leadOf(specs_[i]), bytes - leadOf(specs_[i])});
    if (pristine && specs_[i].inPlace() && bytes > 0)
      if (Status status = device_.allocate(bytes, placed_[i].pristine); !status.ok())
        return status;
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
  for (std::size_t at = 0; at + sizeof(Address) <= size; at += sizeof(Address)) {
    Address word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
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
      continue;
    word = toDevice ? word - found->from + found->to : word - found->to + found->from;
    std::memcpy(bytes + at, &word, sizeof word);
  }
}

std::uint64_t BufferSet::guardStream(std::size_t buffer, bool after) const {
  return specs_.size() + 2 * buffer + (after ? 1 : 0);
}

bool BufferSet::isRepeating(std::size_t buffer) const {
  return specs_[buffer].repeats && specs_[buffer].bytes > device_.properties().repeatBytes;
}

Address BufferSet::guardOf(std::size_t buffer, bool after) const {
  const Address data = placed_[buffer].data;
  return after ? data + specs_[buffer].bytes : data - guardBytes_;
}

Status BufferSet::resetGuards(std::size_t buffer) {
  if (guardBytes_ == 0 || !specs_[buffer].symbol.empty() || isRepeating(buffer))
    return {};
  std::vector<std::byte> bytes(guardBytes_);
  for (const bool after : {false, true}) {
    drawPoison(poison_.seed, guardStream(buffer, after), poison_.inverted, 0, guardBytes_,
               bytes.data());
    const Address at = guardOf(buffer, after);
    if (Status status = device_.poison(at, bytes.data(), guardBytes_); !status.ok())
      return status;
  }
  return {};
}

const std::byte *BufferSet::initial(std::size_t buffer, Source source, std::uint64_t offset,
                                    std::size_t size) {
  const BufferSpec &spec = specs_[buffer];
  Placed &placed = placed_[buffer];
  const Stages::Scope stage(stages_, "draw");
  if (source == Source::Contents && !placed.contents && !isRepeating(buffer))
    placed.contents = memory_.contents(spec, inputSeed_, buffer);
  const bool moved = source == Source::Contents && spec.holdsPointers;
  if (source == Source::Contents && placed.contents && !moved)
    return placed.contents.get() + offset;
  std::byte *bytes = memory_.scratch(1);
  if (source == Source::Contents && placed.contents) {
    std::memcpy(bytes, placed.contents.get() + offset, size);
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

Status BufferSet::fill(std::size_t buffer) {
  const Stages::Scope stage(stages_, "fill");
  const BufferSpec &spec = specs_[buffer];
  const Placed &placed = placed_[buffer];
  const std::vector<Address> places =
      spec.symbol.empty() ? std::vector<Address>{placed.data} : placed.variables;
  const bool isPoisoned = spec.output && !isRepeating(buffer);
  const std::uint64_t bytes = isRepeating(buffer) ? device_.properties().repeatBytes : spec.bytes;
  Status filled = forPieces(bytes, [&](std::uint64_t offset, std::size_t size) -> Status {
    const std::byte *bytes =
        initial(buffer, isPoisoned ? Source::Poison : Source::Contents, offset, size);
    if (!bytes)
      return failure_;
    for (const Address place : places)
      if (Status status = isPoisoned ? device_.poison(place + offset, bytes, size)
                                     : device_.write(place + offset, bytes, size);
          !status.ok())
        return status;
    return {};
  });
  if (!filled.ok() || !spec.readOnly || !spec.symbol.empty() || bytes == 0 || !checks_.inputs ||
      isRepeating(buffer))
    return filled;
  return device_.protect(placed.data, spec.bytes);
}

Status BufferSet::reset(Poison poison) {
  poison_ = poison;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (Status status = resetGuards(i); !status.ok())
      return status;
    if (Status status = fill(i); !status.ok())
      return status;
    if (!placed_[i].pristine)
      continue;
    const Stages::Scope stage(stages_, "fill");
    if (Status status = device_.copy(placed_[i].pristine, placed_[i].data, specs_[i].bytes);
        !status.ok())
      return status;
  }
  return {};
}

Status BufferSet::renew() {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (!specs_[i].readOnly)
      if (Status status = fill(i); !status.ok())
        return status;
  return {};
}

Status BufferSet::restore() {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (placed_[i].pristine && (leftAlone_.empty() || !leftAlone_[i]))
      if (Status status = device_.copy(placed_[i].data, placed_[i].pristine, specs_[i].bytes);
          !status.ok())
        return status;
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
        if (Status status = checkUnchanged(i, place, "the read-only " + name); !status.ok())
          return status;
    if (specs_[i].readOnly && checks_.inputs && specs_[i].symbol.empty())
      if (Status status = checkUnchanged(i, placed_[i].data, "the read-only " + name); !status.ok())
        return status;
    if (placed_[i].pristine)
      if (Status status = checkUnchanged(i, placed_[i].pristine, "the copy kopt keeps of " + name);
          !status.ok())
        return status;
  }
  return {};
}

Status BufferSet::checkGuard(std::size_t buffer, bool after) {
  if (guardBytes_ == 0 || !specs_[buffer].symbol.empty())
    return {};
  std::vector<std::byte> found(guardBytes_), wanted(guardBytes_);
  const Address at = guardOf(buffer, after);
  if (Status status = device_.read(found.data(), at, guardBytes_); !status.ok())
    return status;
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

/// Compares the memory with what the host drew. A kernel that changes its inputs cannot change that
/// copy too.
Status BufferSet::checkUnchanged(std::size_t buffer, Address address, const std::string &whose) {
  const BufferSpec &spec = specs_[buffer];
  std::byte *found = memory_.scratch(0);
  return forPieces(spec.bytes, [&](std::uint64_t offset, std::size_t size) -> Status {
    if (Status status = device_.read(found, address + offset, size); !status.ok())
      return status;
    const std::byte *wanted = initial(buffer, Source::Contents, offset, size);
    if (!wanted)
      return failure_;
    const std::uint64_t at = firstDifference(found, wanted, size);
    if (at == size)
      return {};
    return {StatusCode::InputChanged, "wrote to " + whose + ": element " +
                                          std::to_string((offset + at) / elementSize(spec.scalar)) +
                                          " changed"};
  });
}

void BufferSet::markPoisoned(std::size_t buffer, std::uint64_t offset, const std::byte *bytes,
                             std::size_t size, ElementSet &out) {
  const Stages::Scope stage(stages_, "unwritten");
  // Elements of one task: whole words of bits, and poison that fits in a cache.
  constexpr std::uint64_t kGrain = 8u << 10;
  const std::size_t element = scalarSize(specs_[buffer].scalar);
  const std::uint64_t first = offset / element, count = size / element;
  std::atomic<std::uint64_t> found{0};
  parallelFor(
      count, kGrain,
      [&](std::uint64_t begin, std::uint64_t end) {
        std::vector<std::byte> poison((end - begin) * element);
        drawPoison(poison_.seed, buffer, poison_.inverted, offset + begin * element, poison.size(),
                   poison.data());
        found += markEqual(element, bytes + begin * element, poison.data(), end - begin,
                           out.words.data() + (first + begin) / 64);
      },
      threadsFor(size));
  // If the buffer ends inside an element, the bytes that exist count as one element.
  if (const std::size_t rest = size % element) {
    std::byte poison[8];
    const std::uint64_t at = count * element / 8 * 8;
    drawPoison(poison_.seed, buffer, poison_.inverted, offset + at, 8, poison);
    if (std::memcmp(bytes + count * element, poison + (count * element - at), rest) == 0) {
      out.words[(first + count) / 64] |= std::uint64_t(1) << ((first + count) % 64);
      ++found;
    }
  }
  out.count += found;
}

namespace {

/// Takes the padding of structs out of `poisoned`. Nobody reads padding: code that copies whole
/// elements writes it, code that writes members does not, and both are correct.
void forgetPadding(const BufferSpec &spec, ElementSet &poisoned) {
  const auto type = StructType::parse(spec.scalar);
  if (!type || poisoned.count == 0)
    return;
  std::vector<bool> isMember(type->bytes, false);
  for (const StructType::Member &member : type->members)
    std::fill_n(isMember.begin() + member.offset, member.bytes, true);
  for (std::uint64_t byte = 0; byte < spec.bytes; ++byte) {
    std::uint64_t &word = poisoned.words[byte / 64];
    const std::uint64_t bit = std::uint64_t(1) << (byte % 64);
    if (isMember[byte % type->bytes] || !(word & bit))
      continue;
    word &= ~bit;
    --poisoned.count;
  }
}

} // namespace

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
      if (Status status = memory_.map(paths[i], spec.bytes, file); !status.ok())
        return status;
    if (search)
      (*poisoned)[i].words.assign(spec.bytes / scalarSize(spec.scalar) / 64 + 1, 0);
    const Status status = forPieces(spec.bytes, [&](std::uint64_t offset, std::size_t size) {
      std::byte *to = file ? file + offset : memory_.scratch(0);
      if (Status read = device_.read(to, placed_[i].data + offset, size); !read.ok())
        return read;
      if (search)
        markPoisoned(i, offset, to, size, (*poisoned)[i]);
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
