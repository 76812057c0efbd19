// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/GivenCandidates.h"

#include "driver/app/trial/TrialFlow.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>

namespace kopt {
namespace {

namespace fs = std::filesystem;

using Subjects = std::vector<const TuneSubject *>;

/// The subjects whose kernel the file names, by the user's file that has them.
std::map<std::string, Subjects> subjectsIn(const fs::path &file, Workbench &bench) {
  const std::string text = readFile(file).value_or("");
  std::map<std::string, Subjects> found;
  for (const TuneSubject &subject : bench.subjects()) {
    const std::string &name = subject.kernel.name; // with its namespaces
    const std::string own = name.substr(name.rfind(':') + 1);
    if (std::regex_search(text, std::regex("\\b" + own + "\\b")))
      found[subject.kernel.unit].push_back(&subject);
  }
  return found;
}

/// Adds what the file holds for the subject. Returns whether that is something.
bool addTo(GivenCandidates &given, const TuneSubject &subject, const ExtractionResult &original,
           const CandidateFile &file) {
  const std::string path = file.path.string();
  if (const auto &error = file.compileError) {
    given.notes.push_back((error->where.empty() ? path : error->where) + ": " + error->what);
    return true;
  }
  const auto made = candidateFromFile(subject, original, file);
  if (!made && made.error().code == ErrorCode::Usage) // it has another kernel of the user's file
    return false;
  if (const std::string why = made ? made->refusal : inWords(made.error()); !why.empty()) {
    given.notes.push_back(path + " is refused: " + why);
    return true;
  }
  Candidate candidate = made->candidate;
  const std::string hash = candidate.contentHash();
  if (hash == Candidate().contentHash())
    return false;
  candidate.title = file.path.stem().string();
  candidate.rationale = "given as " + file.path.filename().string(); // a model may see it
  given.candidates.push_back(std::move(candidate));
  given.files.emplace(hash, file.path);
  return true;
}

/// The kernels that the file changes and that are not tuned: nobody judges them.
std::vector<std::string> othersIn(const CandidateFile &file, Workbench &bench) {
  std::vector<std::string> labels;
  for (const KernelInstance &instance : instancesIn(bench.extraction())) {
    const auto other = makeSubject(bench.extraction(), instance, {});
    const auto isTuned = [&](const TuneSubject &subject) {
      return subject.kernel.name == other->kernel.name;
    };
    if (other && std::ranges::none_of(bench.subjects(), isTuned) &&
        changesKernel(file, *other, bench.extraction()))
      labels.push_back(other->label);
  }
  return labels;
}

} // namespace

Result<std::vector<GivenCandidates>> readGiven(Workbench &bench, const std::vector<fs::path> &files,
                                               const std::string &arch) {
  std::vector<GivenCandidates> given(bench.subjects().size());
  for (const fs::path &file : files) {
    bool isFor = false;
    const auto tellAll = [&](const std::string &what) {
      isFor = true;
      for (GivenCandidates &each : given)
        each.notes.push_back(fmt::format("{} changes {}", file.string(), what));
    };
    for (const auto &[unit, subjects] : subjectsIn(file, bench)) {
      KOPT_TRY(const CandidateFile read, bench.readCandidate(file, arch, subjects.front()));
      for (const TuneSubject *subject : subjects)
        isFor |= addTo(given[std::size_t(subject - bench.subjects().data())], *subject,
                       bench.extraction(), read);
      if (const auto others = othersIn(read, bench); !others.empty())
        tellAll(join(others, ", ") + ", which is not tuned: name it with --kernel");
    }
    if (!isFor)
      tellAll("none of the kernels that are tuned");
  }
  return given;
}

} // namespace kopt
