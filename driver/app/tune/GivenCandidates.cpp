// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/GivenCandidates.h"

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

} // namespace

Result<std::vector<GivenCandidates>> readGiven(Workbench &bench, const std::vector<fs::path> &files,
                                               const std::string &arch) {
  std::vector<GivenCandidates> given(bench.subjects().size());
  for (const fs::path &file : files) {
    bool isFor = false;
    for (const auto &[unit, subjects] : subjectsIn(file, bench)) {
      KOPT_TRY(const CandidateFile read, bench.readCandidate(file, arch, subjects.front()));
      for (const TuneSubject *subject : subjects)
        isFor |= addTo(given[std::size_t(subject - bench.subjects().data())], *subject,
                       bench.extraction(), read);
    }
    for (GivenCandidates &each : given)
      if (!isFor)
        each.notes.push_back(file.string() + " changes none of the kernels that are tuned; name "
                                             "the one that it is for with --kernel");
  }
  return given;
}

} // namespace kopt
