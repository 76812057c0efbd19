// SPDX-License-Identifier: Apache-2.0
// golden_dump FRONTEND FOLDER BASE.cu [CANDIDATE.cu...]
//
// Writes to standard output, a line of JSON each, what kopt makes of a declared kernel before
// anything runs: all launches derived from its own, as declared and as if they had been captured,
// and the slice of each candidate with its launch. Two builds that print the same derive and render
// the same. Contents go to FOLDER.
#include "driver/app/Sources.h"
#include "driver/device/runner/ToLaunchSpec.h"
#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/judge/derive/DrawnLaunches.h"
#include "driver/judge/derive/LargerLaunches.h"
#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/judge/derive/ProgramLaunches.h"
#include "driver/judge/derive/ReachingLaunches.h"
#include "driver/judge/derive/TurningLaunches.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/candidate/CandidateFile.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Process.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/observed/SubjectWorkload.h"
#include "runtime/runner/Fill.h"
#include "runtime/trace/Contents.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

template <class T> T need(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s: %s\n", result.error().where.c_str(), result.error().what.c_str());
    std::exit(1);
  }
  return std::move(*result);
}

void print(const std::string &kernel, const std::string &what, const Json &value) {
  std::cout << Json{{"kernel", kernel}, {"what", what}, {"is", value}}.dump() << "\n";
}

/// Written member by member, so that it stays the same when the records change.
Json asJson(const Dim3 &size) { return {size.x, size.y, size.z}; }

Json asJson(const Buffer &buffer, const fs::path &folder) {
  const Fill &fill = buffer.fill;
  std::string values;
  for (const unsigned char byte : fill.bytes)
    values += fmt::format("{:02x}", byte);
  return {{"name", buffer.name},
          {"bytes", buffer.bytes},
          {"scalar", buffer.scalar},
          {"fill", {toString(fill.kind), fill.low, fill.high}},
          {"path", fill.path.starts_with(folder.string()) ? fs::path(fill.path).filename().string()
                                                          : fill.path},
          {"values", values.size() > 80 ? hashHex(values) : values},
          {"is", {buffer.readOnly, buffer.output, fill.isDefault, buffer.holdsPointers}},
          {"symbol", buffer.symbol},
          {"address", buffer.address},
          {"drawnAs", buffer.drawnAs}};
}

Json asJson(const Launch &launch, const fs::path &folder) {
  Json buffers = Json::array(), arguments = Json::array();
  for (const Buffer &buffer : launch.buffers)
    buffers.push_back(asJson(buffer, folder));
  for (const Argument &argument : launch.arguments)
    if (const auto *pointer = std::get_if<BufferArg>(&argument)) {
      arguments.push_back({pointer->buffer, pointer->offset});
    } else {
      std::string hex;
      for (const unsigned char byte : std::get<ValueArg>(argument).bytes)
        hex += fmt::format("{:02x}", byte);
      arguments.push_back(hex);
    }
  return {{"name", launch.name},
          {"grid", asJson(launch.grid)},
          {"block", asJson(launch.block)},
          {"shared", launch.sharedBytes},
          {"cooperative", launch.cooperative},
          {"geometry", launch.geometry.all()},
          {"buffers", buffers},
          {"arguments", arguments},
          {"site", launch.site},
          {"bindings", launch.bindings}};
}

/// The launch as if it had been captured: its buffers' contents are files.
Launch captured(Launch launch, const fs::path &folder) {
  const runtime::LaunchSpec spec = toLaunchSpec(0, launch);
  std::uint64_t address = 0x7f0000000000;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer &buffer = launch.buffers[b];
    if (!buffer.symbol.empty())
      continue;
    std::string bytes(buffer.bytes, '\0'), why;
    if (!buffer.output)
      runtime::drawContents(spec.buffers[b], 1, b, 0, bytes.size(),
                            reinterpret_cast<std::byte *>(bytes.data()));
    runtime::trace::ContentHash hash{};
    std::uint64_t written = 0;
    const auto source = [&](std::uint64_t offset, std::size_t size, std::byte *to, std::string &) {
      std::memcpy(to, bytes.data() + offset, size);
      return true;
    };
    if (!runtime::trace::storeContents(folder.string(), bytes.size(), source, hash, written, why)) {
      std::fprintf(stderr, "%s\n", why.c_str());
      std::exit(1);
    }
    buffer.fill = {FillKind::Captured, 0, 0,
                   (folder / runtime::trace::contentsPath(hash)).string()};
    buffer.address = address;
    buffer.output = false;
    address += (buffer.bytes + 0xfff) / 0x1000 * 0x1000 + 0x10000;
  }
  return launch;
}

class Dump {
public:
  Dump(const TuneSubject &subject, fs::path folder)
      : subject_(subject), folder_(std::move(folder)),
        source_{subject.kernel, subject.specialization, &subject.declaration} {}

  void launches(const std::string &how, const Launch &launch,
                const std::vector<Candidate> &candidates) const {
    const ProgramLaunches program(source_, {launch});
    const auto show = [&](const std::string &what, const DerivedLaunch &derived) {
      Json json{{"kind", toString(derived.kind)},
                {"title", derived.title},
                {"launch", asJson(derived.launch, folder_)},
                {"flags",
                 {derived.nonFinite, derived.maybeConditional, derived.cancelling, derived.isCoarse,
                  derived.isExtreme, derived.unbounded, derived.large, derived.asLaunched,
                  derived.isSmall, derived.isPart}},
                {"beyond", derived.beyond},
                {"whyNot", program.whyNot(derived.launch)}};
      if (derived.inPlace)
        json["apart"] = {derived.inPlace->both, derived.inPlace->output,
                         asJson(derived.inPlace->apart, folder_)};
      print(subject_.label, how + " " + what, json);
    };
    print(subject_.label, how + " base", asJson(launch, folder_));
    print(subject_.label, how + " requirements", program.requirements());
    for (const std::uint64_t most : {4096u, 16384u}) {
      const DerivedLaunches derived = deriveLaunches(source_, launch, most);
      for (const DerivedLaunch &one : derived.launches)
        show("derived " + std::to_string(most), one);
      for (const NotDerived &one : derived.missing)
        print(subject_.label, how + " missing",
              {toString(one.kind), one.title, one.why, one.asLaunched});
      for (const DerivedLaunch &one : inTurn(derived.launches))
        print(subject_.label, how + " in turn", one.title);
      for (const DerivedLaunch &one : firstOfEach(derived.launches))
        print(subject_.label, how + " first", one.title);
    }
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      if (const auto drawn = drawScalars(source_, launch, seed))
        show("scalars", *drawn);
      if (const auto drawn = drawSizes(source_, launch, seed))
        show("sizes", *drawn);
    }
    for (const DerivedLaunch &one : largerLaunches(source_, launch, 1u << 20, 12))
      show("larger", one);
    Deciding deciding{{32, 100}, {}, true, true};
    for (std::uint32_t i = 0; i < subject_.specialization.params.size(); ++i)
      deciding.params.push_back(i);
    for (const DerivedLaunch &one : reachingLaunches(source_, launch, deciding, 1u << 17, 40))
      show("reaching", one);
    for (const Candidate &candidate : candidates)
      for (const TurningLaunch &one : turningLaunches(source_, launch, candidate)) {
        show("turning " + candidate.title, one.derived);
        print(subject_.label, how + " turns", {one.what, one.isRefused, one.times});
      }
    if (const auto fewer = withFirstBlocks(launch, 3))
      print(subject_.label, how + " first blocks", asJson(*fewer, folder_));
    if (how != "captured")
      return;
    for (const Launch &drawn : withDrawnContents(source_, launch))
      print(subject_.label, how + " drawn", asJson(drawn, folder_));
    print(subject_.label, how + " less", asJson(withLessMemory(launch, 4096, 0.1), folder_));
    const auto numbers = numbersOf(source_, launch);
    for (const auto &[name, value] : launch.bindings)
      if (numbers->mayBecome(name, value / 2))
        if (const auto other = numbers->with(numbers->related({{name, value / 2}})))
          print(subject_.label, how + " half " + name, asJson(*other, folder_));
  }

  void render(const Candidate &candidate, const Workload &workload) const {
    const auto slice =
        renderSlice(subject_.sliceText, subject_.kernel, subject_.specialization, candidate);
    Json json = slice ? Json{{"text", slice->text},
                             {"expression", slice->expression},
                             {"chunks", slice->chunks},
                             {"declarations", slice->declarations}}
                      : Json(slice.error().what);
    const auto edits = writeBackEdits(subject_.kernel, subject_.specialization, candidate);
    json["edits"] = edits ? Json::array() : Json(edits.error().what);
    for (const SourceEdit &edit : edits ? *edits : std::vector<SourceEdit>())
      json["edits"].push_back({fs::path(edit.range.file).filename().string(), edit.range.begin,
                               edit.range.end, edit.text});
    for (const Launch &launch : workload.launches) {
      const auto own = applyToLaunch(subject_.kernel, launch, candidate);
      json["launches"].push_back(own ? asJson(*own, folder_) : Json(own.error().what));
    }
    print(subject_.label, "candidate " + candidate.title, json);
  }

private:
  const TuneSubject &subject_;
  const fs::path folder_;
  const DerivationSource source_;
};

int dump(int argc, char **argv) {
  const fs::path frontendPath = argv[1], folder = argv[2];
  const auto processes = makeProcessRunner();
  const auto frontend = makeFrontend(*processes, frontendPath);
  ExtractRequest request;
  request.files = {fs::absolute(argv[3])};
  request.flags = {"-std=c++17", "-I", std::string(KOPT_SOURCE_DIR) + "/runtime/include"};
  request.output = folder / "extracted";
  request.prove = false;
  const ExtractionResult extraction = need(frontend->extract(request));
  const std::vector<TuneSubject> subjects = need(selectSubjects(extraction, {}));
  for (const TuneSubject &subject : subjects) {
    const Dump dump(subject, folder);
    std::vector<Candidate> candidates;
    const auto workload = workloadOf(subject, std::nullopt, DeviceKind::Emulated);
    for (int i = 4; i < argc; ++i) {
      ExtractRequest own = request;
      own.files = {fs::absolute(argv[i])};
      own.output = folder / "candidate";
      const CandidateFile file = need(readCandidateFile(*frontend, own, request.files[0], {}));
      const std::string name = fs::path(argv[i]).stem();
      if (file.compileError) {
        print(subject.label, "candidate " + name, file.compileError->what);
        continue;
      }
      const auto made = candidateFromFile(subject, extraction, file);
      if (!made || !made->refusal.empty()) {
        print(subject.label, "candidate " + name, made ? made->refusal : made.error().what);
        continue;
      }
      candidates.push_back(made->candidate);
      candidates.back().title = name;
      if (workload)
        dump.render(candidates.back(), workload->workload);
    }
    if (!workload) {
      print(subject.label, "no workload", workload.error().what);
      continue;
    }
    for (const Launch &launch : workload->workload.launches) {
      dump.launches("declared", launch, candidates);
      dump.launches("captured", captured(launch, folder), candidates);
    }
  }
  return 0;
}

} // namespace
} // namespace kopt

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "golden_dump FRONTEND FOLDER BASE.cu [CANDIDATE.cu...]\n");
    return 2;
  }
  return kopt::dump(argc, argv);
}
