// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/LogReader.h"

#include "runtime/device/MappedFile.h"

#include <algorithm>
#include <unordered_map>

namespace kopt::runtime::trace {

namespace {

constexpr std::uint32_t kMostFunctions = 1u << 20;
constexpr std::uint32_t kMostParameters = 4096;
constexpr std::uint64_t kLargestAllocation = std::uint64_t(1) << 48;
constexpr std::uint64_t kLongestArguments = 64u << 10; ///< CUDA allows 32764 bytes

/// Fields of one payload. After a field that is missing, ok() is false and every later field is 0.
class Fields {
public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  /// Reads what PayloadWriter::put() wrote. Returns ok().
  template <class... Values> bool read(Values &...values) {
    (readOne(values), ...);
    return ok_;
  }
  template <class T> T get() {
    T value{};
    readOne(value);
    return value;
  }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  bool ok() const { return ok_; }
  std::size_t left() const { return bytes_.size(); }

private:
  template <class T> void readOne(T &value) {
    value = {};
    const std::string_view taken = take(sizeof value);
    if (taken.size() == sizeof value)
      std::memcpy(&value, taken.data(), sizeof value);
  }
  void readOne(std::string &text) {
    const auto length = get<std::uint32_t>();
    ok_ = ok_ && length <= kMaxTextBytes;
    text = ok_ ? take(length) : std::string_view();
  }

  std::string_view bytes_;
  bool ok_ = true;
};

struct GraphNode {
  std::uint64_t id = 0; ///< CUPTI's id; 0: not known
  Launch launch;
};

struct GraphLaunch {
  std::uint64_t sequence = 0, graph = 0, stream = 0, context = 0;
  std::uint32_t correlation = 0;
};

struct Duration {
  std::uint32_t correlation = 0, function = 0;
  std::uint64_t node = 0;
  double seconds = 0;
};

class Reader {
public:
  Reader(std::string_view bytes, const std::string &name, ProcessTrace &out)
      : bytes_(bytes), name_(name), out_(out) {}

  bool run(std::string &why) {
    const bool done = readHeader() && readSegments() && finish();
    why = why_;
    return done;
  }

private:
  bool bad(std::size_t offset, const std::string &what) {
    why_ = name_ + ": byte " + std::to_string(offset) + ": " + what;
    return false;
  }

  bool readHeader() {
    LogHeader header{};
    if (bytes_.size() < kHeaderBytes ||
        std::memcmp(bytes_.data(), kLogMagic, sizeof kLogMagic) != 0)
      return bad(0, "this is not a kopt log");
    std::memcpy(&header, bytes_.data(), sizeof header);
    if (header.version != kLogVersion)
      return bad(8, "a log of version " + std::to_string(header.version) +
                        "; this kopt reads version " + std::to_string(kLogVersion) +
                        ": record it again");
    if (header.segmentBytes != kSegmentBytes)
      return bad(12, "segments of " + std::to_string(header.segmentBytes) + " bytes");
    out_ = {};
    out_.file = name_;
    out_.ended = header.ended != 0;
    out_.full = header.full != 0;
    out_.lostRecords = header.lostRecords;
    out_.countedLaunches = header.countedLaunches;
    out_.info.pid = header.pid;
    return true;
  }

  bool readSegments() {
    for (std::size_t at = kHeaderBytes; at < bytes_.size(); at += kSegmentBytes) {
      const std::string_view segment = bytes_.substr(at, kSegmentBytes);
      SegmentHeader header{};
      if (segment.size() < sizeof header) {
        out_.truncated = true;
        return true;
      }
      std::memcpy(&header, segment.data(), sizeof header);
      // An empty segment: the process ended after it extended the file and before it wrote.
      if (header.mark == 0 && header.thread == 0)
        continue;
      if (header.mark != kSegmentMark)
        return bad(at, "this is not a segment");
      if (!readRecords(segment, at))
        return false;
      out_.truncated |= segment.size() < kSegmentBytes;
    }
    return true;
  }

  bool readRecords(std::string_view segment, std::size_t segmentAt) {
    for (std::size_t at = kSegmentHeaderBytes; at + kRecordHeaderBytes <= segment.size();) {
      RecordHeader header{};
      std::memcpy(&header, segment.data() + at, sizeof header);
      if (header.bytes == 0)
        return true;
      if (header.bytes % 8 != 0 || header.bytes < kRecordHeaderBytes ||
          header.bytes > kMaxRecordBytes || at + header.bytes > kSegmentBytes)
        return bad(segmentAt + at, "a record of " + std::to_string(header.bytes) + " bytes");
      if (at + header.bytes > segment.size()) {
        out_.truncated = true;
        return true;
      }
      Fields fields(segment.substr(at + kRecordHeaderBytes, header.bytes - kRecordHeaderBytes));
      if (!readRecord(header, fields))
        return bad(segmentAt + at, why_.empty()
                                       ? "a record of kind " + std::to_string(header.kind) +
                                             " that is cut short or out of its limits"
                                       : why_);
      at += header.bytes;
    }
    return true;
  }

  bool readRecord(const RecordHeader &header, Fields &fields) {
    switch (RecordKind(header.kind)) {
    case RecordKind::Process:
      return readProcess(fields);
    case RecordKind::Function:
      return readFunction(fields);
    case RecordKind::Context:
      return readContext(fields);
    case RecordKind::Allocation:
      return readAllocation(header, fields);
    case RecordKind::Free:
      frees_.push_back({header.sequence, fields.get<std::uint64_t>()});
      return fields.ok();
    case RecordKind::Launch: {
      Launch launch;
      if (!readLaunch(header, fields, launch))
        return false;
      if (out_.launches.size() == kMostLaunches)
        return tooMany("launches");
      out_.launches.push_back(launch);
      correlations_.push_back(correlation_);
      return true;
    }
    case RecordKind::Duration: {
      Duration duration;
      std::uint64_t begin = 0, end = 0;
      // A kernel that CUPTI could not time has the same begin and end: its duration is unknown, not
      // zero.
      if (!fields.read(duration.correlation, duration.function, duration.node, begin, end) ||
          end < begin)
        return false;
      duration.seconds = double(end - begin) * 1e-9;
      if (end > begin)
        durations_.push_back(duration);
      return true;
    }
    case RecordKind::GraphNode: {
      std::uint64_t graph = 0;
      GraphNode node;
      fields.read(graph, node.id);
      if (!readLaunch(header, fields, node.launch))
        return false;
      node.launch.fromGraph = true;
      graphs_[graph].push_back(node);
      return true;
    }
    case RecordKind::GraphLaunch: {
      GraphLaunch &launch = graphLaunches_.emplace_back();
      launch.sequence = header.sequence;
      return fields.read(launch.graph, launch.stream, launch.context, launch.correlation);
    }
    case RecordKind::Snapshot:
      return readSnapshot(fields);
    case RecordKind::NotSnapshotted:
      return fields.read(out_.notSnapshotted[fields.get<std::uint64_t>()]);
    case RecordKind::Counted: {
      const auto function = fields.get<std::uint32_t>();
      return fields.read(out_.totals[function]) && function < kMostFunctions;
    }
    case RecordKind::Note:
      return fields.read(out_.notes.emplace_back());
    }
    return true; // a kind that a later writer added
  }

  bool tooMany(const std::string &what) {
    why_ = "more " + what + " than kopt reads";
    return false;
  }

  bool readProcess(Fields &fields) {
    ProcessInfo &info = out_.info;
    std::uint32_t count = 0;
    fields.read(info.pid, info.parent, info.driverVersion, info.cuptiVersion, info.program,
                info.programHash, info.directory, count);
    info.arguments.clear();
    for (std::uint32_t i = 0; i < count && fields.ok(); ++i)
      fields.read(info.arguments.emplace_back());
    return fields.ok();
  }

  bool readFunction(Fields &fields) {
    Function function;
    std::uint32_t id = 0, isKnown = 0, count = 0;
    if (!fields.read(id, isKnown, function.symbol, count) || id >= kMostFunctions ||
        count > kMostParameters)
      return false;
    function.layoutKnown = isKnown != 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      Parameter &parameter = function.parameters.emplace_back();
      fields.read(parameter.offset, parameter.bytes);
      if (parameter.offset > kLongestArguments || parameter.bytes > kLongestArguments)
        return false;
    }
    // Records of older writers end here, apart from padding of less than 8 bytes.
    if (fields.left() >= 8)
      fields.read(function.code);
    functions_[id] = std::move(function);
    return fields.ok();
  }

  bool readContext(Fields &fields) {
    Context &context = out_.contexts.emplace_back();
    return fields.read(context.handle, context.device, context.name, context.uuid);
  }

  bool readAllocation(const RecordHeader &header, Fields &fields) {
    Allocation &allocation = out_.allocations.emplace_back();
    std::uint32_t kind = 0;
    fields.read(allocation.base, allocation.bytes, kind, allocation.name);
    allocation.kind = AllocationKind(kind);
    allocation.from = header.sequence;
    return fields.ok() && areValid(allocation.base, allocation.bytes, kind);
  }

  static bool areValid(std::uint64_t base, std::uint64_t bytes, std::uint32_t kind) {
    return bytes <= kLargestAllocation && base <= ~std::uint64_t(0) - bytes &&
           kind <= std::uint32_t(AllocationKind::Symbol);
  }

  bool readLaunch(const RecordHeader &header, Fields &fields, Launch &out) {
    out.sequence = header.sequence;
    out.flags = header.flags;
    std::uint32_t bytes = 0;
    fields.read(out.function, out.ordinal, out.grid, out.block, out.sharedBytes, correlation_,
                out.stream, out.context, bytes);
    if (bytes > kLongestArguments)
      return false;
    const std::string_view arguments = fields.take(bytes);
    out.arguments = std::as_bytes(std::span(arguments.data(), arguments.size()));
    return fields.ok() && out.function < kMostFunctions;
  }

  bool readSnapshot(Fields &fields) {
    std::uint64_t launch = 0;
    std::uint32_t after = 0, count = 0;
    fields.read(launch, after, count);
    Snapshot &snapshot = out_.snapshots[launch];
    snapshot.launch = launch;
    for (std::uint32_t i = 0; i < count && fields.ok(); ++i) {
      SnapshotItem &item = (after ? snapshot.after : snapshot.before).emplace_back();
      std::uint8_t kind = 0, isStored = 0;
      fields.read(item.base, item.bytes, kind, item.depth, isStored, item.hash, item.name,
                  item.reason);
      if (!areValid(item.base, item.bytes, kind))
        return false;
      item.kind = AllocationKind(kind);
      item.stored = isStored != 0;
    }
    // Records of older libraries end here, or continue with zeros as padding.
    if (!after && fields.left() >= sizeof snapshot.stackBytes)
      fields.read(snapshot.stackBytes);
    return fields.ok();
  }

  bool finish() {
    placeFunctions();
    placeReleases();
    if (!placeGraphLaunches())
      return false;
    placeDurations();
    const auto bySequence = [](const Launch &a, const Launch &b) {
      return a.sequence < b.sequence;
    };
    std::stable_sort(out_.launches.begin(), out_.launches.end(), bySequence);
    return true;
  }

  /// Numbers the functions without gaps, so that every launch has one. A function whose record was
  /// lost gets a name that says so.
  void placeFunctions() {
    std::uint32_t most = 0;
    std::map<std::uint32_t, std::uint32_t> dense; // ids of a crafted file may be sparse
    for (const auto &[id, function] : functions_)
      dense.emplace(id, most++);
    for (auto &[id, function] : functions_)
      out_.functions.push_back(std::move(function));
    const auto place = [&](std::uint32_t &id) {
      const auto [found, isNew] = dense.emplace(id, std::uint32_t(out_.functions.size()));
      if (isNew)
        out_.functions.push_back({"(kernel whose name was lost)", false, {}});
      id = found->second;
    };
    for (Launch &launch : out_.launches)
      place(launch.function);
    for (auto &[graph, nodes] : graphs_)
      for (GraphNode &node : nodes)
        place(node.launch.function);
    for (Duration &duration : durations_)
      if (duration.function != UINT32_MAX)
        place(duration.function);
    std::map<std::uint32_t, std::uint64_t> totals;
    for (const auto &[before, count] : out_.totals) {
      std::uint32_t id = before;
      place(id);
      totals[id] += count;
    }
    out_.totals = std::move(totals);
  }

  void placeReleases() {
    std::stable_sort(out_.allocations.begin(), out_.allocations.end(),
                     [](const Allocation &a, const Allocation &b) { return a.from < b.from; });
    std::stable_sort(frees_.begin(), frees_.end());
    std::unordered_map<std::uint64_t, std::size_t> live;
    std::size_t next = 0;
    const auto releaseUntil = [&](std::uint64_t sequence) {
      for (; next < frees_.size() && frees_[next].first < sequence; ++next)
        if (const auto found = live.find(frees_[next].second); found != live.end()) {
          out_.allocations[found->second].until = frees_[next].first;
          live.erase(found);
        }
    };
    for (std::size_t i = 0; i < out_.allocations.size(); ++i) {
      Allocation &allocation = out_.allocations[i];
      releaseUntil(allocation.from);
      // The same address is allocated again and no release was recorded: the earlier allocation
      // must be gone.
      if (const auto known = live.find(allocation.base); known != live.end())
        out_.allocations[known->second].until = allocation.from;
      live[allocation.base] = i;
    }
    releaseUntil(~std::uint64_t(0));
  }

  bool placeGraphLaunches() {
    std::uint32_t ordinal = 0;
    for (const GraphLaunch &graphLaunch : graphLaunches_) {
      const auto graph = graphs_.find(graphLaunch.graph);
      if (graph == graphs_.end())
        continue;
      if (graph->second.size() > kMostLaunches - out_.launches.size())
        return bad(0, "more launches than kopt reads, those of graphs included");
      for (const GraphNode &node : graph->second) {
        Launch launch = node.launch;
        launch.sequence = graphLaunch.sequence;
        launch.stream = graphLaunch.stream;
        launch.context = graphLaunch.context;
        launch.ordinal = ordinal++;
        graphPlaces_[{graphLaunch.correlation, node.id}].push_back(out_.launches.size());
        out_.launches.push_back(launch);
        correlations_.push_back(0); // found through graphPlaces_
      }
    }
    return true;
  }

  void placeDurations() {
    std::unordered_map<std::uint32_t, std::size_t> places;
    for (std::size_t i = 0; i < correlations_.size(); ++i)
      if (!out_.launches[i].fromGraph)
        places[correlations_[i]] = i;
    for (const Duration &duration : durations_) {
      std::size_t *index = nullptr;
      if (const auto found = places.find(duration.correlation);
          found != places.end() && duration.node == 0)
        index = &found->second;
      else
        index = graphPlace(duration);
      if (index)
        out_.launches[*index].seconds = duration.seconds;
    }
  }

  /// The node of the graph launch by CUPTI's number for it, else the next one of that kernel
  /// without a time.
  std::size_t *graphPlace(const Duration &duration) {
    if (const auto found = graphPlaces_.find({duration.correlation, duration.node});
        found != graphPlaces_.end() && duration.node != 0)
      return &found->second.front();
    const auto unnamed = graphPlaces_.find({duration.correlation, 0});
    if (unnamed == graphPlaces_.end())
      return nullptr;
    for (std::size_t &index : unnamed->second)
      if (out_.launches[index].seconds < 0 && out_.launches[index].function == duration.function)
        return &index;
    return nullptr;
  }

  std::string_view bytes_;
  const std::string &name_;
  ProcessTrace &out_;
  std::string why_;
  std::uint32_t correlation_ = 0; ///< of the last launch that was read
  std::map<std::uint32_t, Function> functions_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> frees_; ///< sequence, base
  std::vector<std::uint32_t> correlations_;                    ///< of each launch
  std::vector<Duration> durations_;
  std::map<std::uint64_t, std::vector<GraphNode>> graphs_;
  std::vector<GraphLaunch> graphLaunches_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::size_t>> graphPlaces_;
};

} // namespace

const Allocation *ProcessTrace::allocationAt(std::uint64_t address, std::uint64_t sequence) const {
  // Take the last allocation that was live and holds the address.
  const Allocation *found = nullptr;
  for (const Allocation &allocation : allocations) {
    if (allocation.from > sequence)
      break;
    if (allocation.until > sequence && address >= allocation.base &&
        address - allocation.base < allocation.bytes)
      found = &allocation;
  }
  return found;
}

LiveAllocations::LiveAllocations(const ProcessTrace &trace) : trace_(trace) {
  for (std::size_t i = 0; i < trace.allocations.size(); ++i)
    if (trace.allocations[i].until != ~std::uint64_t(0))
      releases_.emplace_back(trace.allocations[i].until, i);
  std::sort(releases_.begin(), releases_.end());
}

void LiveAllocations::advance(std::uint64_t sequence) {
  const std::vector<Allocation> &all = trace_.allocations;
  while (true) {
    const bool more = next_ < all.size() && all[next_].from <= sequence;
    const bool release =
        nextRelease_ < releases_.size() && releases_[nextRelease_].first <= sequence;
    // A release and an allocation of one address may have the same number; the release then came
    // first.
    if (release && (!more || releases_[nextRelease_].first <= all[next_].from)) {
      const std::size_t index = releases_[nextRelease_++].second;
      if (const auto found = live_.find(all[index].base);
          found != live_.end() && found->second == index)
        live_.erase(found);
    } else if (more) {
      live_[all[next_].base] = next_;
      ++next_;
    } else {
      return;
    }
  }
}

const Allocation *LiveAllocations::find(std::uint64_t address) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin())
    return nullptr;
  const Allocation &before = trace_.allocations[std::prev(after)->second];
  return address - before.base < before.bytes ? &before : nullptr;
}

bool readLog(std::string_view bytes, const std::string &name, ProcessTrace &out, std::string &why) {
  return Reader(bytes, name, out).run(why);
}

bool readLogFile(const std::string &path, ProcessTrace &out, std::string &why) {
  auto file = std::make_shared<MappedFile>();
  if (!file->open(path, why) || !readLog(file->bytes(), path, out, why))
    return false;
  out.memory = std::move(file);
  return true;
}

} // namespace kopt::runtime::trace
