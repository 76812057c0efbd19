// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Frontend.h"

#include "driver/support/RelativeDeadline.h"
#include "driver/support/Text.h"

#include <cctype>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr Duration kExtractTimeout{
    1800}; ///< proves each slice with the user's compiler: minutes for heavy headers
/// A text that is made to be slow to parse costs a multiple of an honest one.
constexpr Duration kLeastQuestionTimeout{20}, kQuestionTimeout{300};
constexpr double kTimesAsLong = 20;
constexpr std::size_t kOutputLimit = 256u << 20; ///< of an extraction, of a whole project
constexpr std::size_t kAnswerLimit = 32u << 20,
                      kFloodLimit = 64u << 20; ///< of a question about one kernel

/// The arch that the kernel is built for; Clang needs one to parse, so a default does no harm.
std::string archOf(const std::vector<std::string> &flags) {
  std::string arch = "sm_90";
  for (const std::string &flag : flags)
    if (std::size_t at = flag.rfind("sm_"); at != std::string::npos) {
      std::size_t end = at + 3;
      while (end < flag.size() && std::isalnum(static_cast<unsigned char>(flag[end])))
        ++end;
      arch = flag.substr(at, end - at);
    }
  return arch;
}

/// The specialization that a baseline slice instantiates: the slice spells its expression.
std::string baselineExpression(const KernelSpec &kernel, const std::string &slice,
                               const std::string &candidateExpression) {
  std::string found;
  for (const Specialization &specialization : kernel.specializations) {
    if (specialization.expression == candidateExpression)
      return candidateExpression;
    if (slice.find(specialization.expression) != std::string::npos)
      found = specialization.expression;
  }
  return found.empty() ? candidateExpression : found;
}

ErrorCode errorCodeOf(int exitCode) {
  switch (exitCode) {
  case int(ErrorCode::Usage):
  case int(ErrorCode::BudgetEnded):
  case int(ErrorCode::BaselineFailed):
  case int(ErrorCode::StaleInput):
  case int(ErrorCode::Environment):
  case int(ErrorCode::Interrupted):
    return ErrorCode(exitCode);
  default:
    return ErrorCode::Internal;
  }
}

std::string lastLines(const std::string &text, std::size_t count) {
  std::vector<std::string> lines = split(trim(text), '\n');
  if (lines.size() > count)
    lines.erase(lines.begin(), lines.end() - std::ptrdiff_t(count));
  return join(lines, "\n");
}

std::string textAt(const Json &object, const char *key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A whole number from `low` that T holds. Throws std::out_of_range naming it otherwise.
template <class T> T wholeNumber(const Json &value, const char *what, std::uint64_t low = 0) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low ||
      value.get<std::uint64_t>() > std::numeric_limits<T>::max())
    throw std::out_of_range(std::string(what) + " is out of range");
  return value.get<T>();
}

class ProcessFrontend final : public Frontend {
public:
  ProcessFrontend(ProcessRunner &processes, fs::path program, CompilerSandbox sandbox)
      : processes_(processes), program_(std::move(program)), sandbox_(std::move(sandbox)) {}

  Result<ExtractionResult> extract(const ExtractRequest &request) override {
    ProcessSpec spec;
    spec.argv = {program_.string(), "extract", "--json", "-o", request.output.string()};
    if (!request.prove)
      spec.argv.push_back("--no-proof");
    if (!request.buildDirectory.empty())
      spec.argv.insert(spec.argv.end(), {"-p", request.buildDirectory.string()});
    for (const fs::path &file : request.files)
      spec.argv.push_back(file.string());
    if (!request.flags.empty()) {
      spec.argv.push_back("--");
      spec.argv.insert(spec.argv.end(), request.flags.begin(), request.flags.end());
    }
    spec.timeout = kExtractTimeout;
    spec.outputLimit = kOutputLimit;
    if (request.untrusted) {
      std::error_code ignored;
      fs::create_directories(request.output,
                             ignored); // what cannot be made is said by the front end
      CompilerSite site{request.flags, fs::current_path(ignored), {}, {request.output}};
      if (!request.buildDirectory.empty())
        site.readable.push_back(request.buildDirectory);
      for (const fs::path &file : request.files)
        site.readable.push_back(file.parent_path());
      spec.cwd = site.directory;
      spec.timeout = kQuestionTimeout;
      spec = sandbox_.contain(std::move(spec), site);
    } else {
      spec = sandbox_.withToolkit(std::move(spec));
    }
    KOPT_TRY(Json reply, ask(spec, "extract"));
    return parseExtraction(reply);
  }

  Result<std::vector<TransformOffer>> transforms(const std::string &sliceText,
                                                 const std::string &expression,
                                                 const KernelSpec &kernel,
                                                 const Workload &workload) override {
    Json request = variantRequest(sliceText, expression, kernel);
    request["launches"] = Json::array();
    for (const Launch &launch : workload.launches)
      request["launches"].push_back({{"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
                                     {"block", {launch.block.x, launch.block.y, launch.block.z}},
                                     {"shared_bytes", launch.sharedBytes}});
    KOPT_TRY(Json reply, question("transforms", request, kernel));

    const std::string sliceFile = sliceFileOf(kernel, expression);
    std::vector<TransformOffer> offers;
    try {
      for (const Json &item : reply.at("offers"))
        offers.push_back(offerFrom(item, sliceFile, sliceText.size()));
    } catch (const std::exception &problem) {
      return malformed("transforms", problem.what());
    }
    return offers;
  }

  Result<std::vector<Finding>> screen(const std::string &baselineSlice,
                                      const std::string &candidateSlice, const KernelSpec &kernel,
                                      const std::string &expression,
                                      const SharedCode &shared) override {
    Json request = {{"baseline", baselineSlice},
                    {"candidate", candidateSlice},
                    {"kernel", kernel.name},
                    {"expression", expression},
                    {"baseline_expression", baselineExpression(kernel, baselineSlice, expression)},
                    {"flags", kernel.compileFlags},
                    {"directory", kernel.directory},
                    {"shared", Json::array()},
                    {"outside", Json::array()}};
    for (const SharedText &text : shared.texts)
      request["shared"].push_back({{"name", text.name},
                                   {"user", text.user},
                                   {"begin", text.begin},
                                   {"end", text.end},
                                   {"new_begin", text.newBegin},
                                   {"new_end", text.newEnd}});
    for (const SharedName &name : shared.names)
      request["outside"].push_back(
          {{"name", name.name}, {"user", name.user}, {"declared", name.isDeclared}});
    Broken broken;
    Result<Json> reply = question("screen", request, kernel, &broken);
    if (!reply && broken.happened && !broken.tooSlow)
      reply =
          question("screen", request, kernel, &broken); // once more: it may have been the machine
    if (!reply && broken.happened) {
      // Where the front end reads the baseline, it is the candidate's text that it cannot read; and
      // what was not screened does not pass.
      request["candidate"] = baselineSlice;
      request["expression"] = request["baseline_expression"];
      request["shared"] = Json::array();
      KOPT_CHECK(question("screen", request, kernel));
      return std::vector<Finding>{{"unreadable", "reject", reply.error().what, ""}};
    }
    if (!reply)
      return tl::unexpected<Error>(std::move(reply.error()));
    return screenFindings(*reply);
  }

  Result<MutantSet> mutants(const std::string &sliceText, const std::string &expression,
                            const KernelSpec &kernel, const MutantRequest &wanted) override {
    Json request = variantRequest(sliceText, expression, kernel);
    request["at_most"] = wanted.atMost;
    request["seed"] = wanted.seed;
    request["operators"] = wanted.operators;
    request["file"] = fs::path(sliceFileOf(kernel, expression)).filename().string();
    KOPT_TRY(Json reply, question("mutate", request, kernel));
    try {
      return parseMutants(reply, sliceText, sliceFileOf(kernel, expression));
    } catch (const std::exception &problem) {
      return malformed("mutate", problem.what());
    }
  }

  Result<ReferenceClone> referenceClone(const std::string &sliceText, const std::string &expression,
                                        const KernelSpec &kernel) override {
    KOPT_TRY(Json reply,
             question("reference", variantRequest(sliceText, expression, kernel), kernel));
    try {
      return parseReferenceClone(reply);
    } catch (const std::exception &problem) {
      return malformed("reference", problem.what());
    }
  }

  Result<CoverageClone> coverageClone(const std::string &sliceText, const std::string &expression,
                                      const KernelSpec &kernel) override {
    KOPT_TRY(Json reply,
             question("coverage", variantRequest(sliceText, expression, kernel), kernel));
    try {
      return parseCoverageClone(reply);
    } catch (const std::exception &problem) {
      return malformed("coverage", problem.what());
    }
  }

private:
  /// That the front end gave no reply of its own.
  struct Broken {
    bool happened = false, tooSlow = false;
  };

  Result<std::vector<Finding>> screenFindings(const Json &reply) const {
    std::vector<Finding> findings;
    try {
      for (const Json &item : reply.at("findings")) {
        Finding finding{item.at("id"), item.at("severity"), item.at("message"),
                        textAt(item, "where")};
        // An unknown severity must not let a candidate pass.
        if (finding.severity != "reject" && finding.severity != "flag")
          return malformed("screen", "unknown severity '" + finding.severity + "'");
        findings.push_back(std::move(finding));
      }
    } catch (const std::exception &problem) {
      return malformed("screen", problem.what());
    }
    return findings;
  }

  static Json variantRequest(const std::string &sliceText, const std::string &expression,
                             const KernelSpec &kernel) {
    return {{"slice", sliceText},
            {"expression", expression},
            {"kernel", kernel.name},
            {"flags", kernel.compileFlags},
            {"directory", kernel.directory},
            {"arch", archOf(kernel.compileFlags)}};
  }

  static std::string sliceFileOf(const KernelSpec &kernel, const std::string &expression) {
    for (const Specialization &specialization : kernel.specializations)
      if (specialization.expression == expression)
        return specialization.slice;
    return {};
  }

  static TransformOffer offerFrom(const Json &item, const std::string &sliceFile,
                                  std::size_t sliceSize) {
    TransformOffer offer;
    offer.technique = item.at("technique");
    offer.title = item.at("title");
    for (const Json &edit : item.at("edits")) {
      SourceEdit made{{sliceFile, wholeNumber<std::uint64_t>(edit.at("begin"), "an edit's begin"),
                       wholeNumber<std::uint64_t>(edit.at("end"), "an edit's end")},
                      edit.at("text")};
      if (made.range.begin > made.range.end || made.range.end > sliceSize)
        throw std::out_of_range("an edit outside the slice in offer '" + offer.title + "'");
      offer.edits.push_back(std::move(made));
    }
    auto launch = item.find("launch");
    if (launch == item.end() || launch->is_null())
      return offer;
    if (auto block = launch->find("block"); block != launch->end() && !block->is_null())
      offer.launch.block = Dim3{wholeNumber<std::uint32_t>(block->at(0), "a block's x", 1),
                                wholeNumber<std::uint32_t>(block->at(1), "a block's y", 1),
                                wholeNumber<std::uint32_t>(block->at(2), "a block's z", 1)};
    if (auto cover = launch->find("cover_grid"); cover != launch->end())
      offer.launch.coverGrid = cover->get<bool>();
    if (auto shared = launch->find("shared_bytes"); shared != launch->end() && !shared->is_null())
      offer.launch.sharedBytes = wholeNumber<std::uint32_t>(*shared, "the shared memory");
    return offer;
  }

  tl::unexpected<Error> malformed(const std::string &command, const std::string &what) const {
    return makeError(ErrorCode::Internal,
                     "kopt-frontend " + command + " gave a malformed answer: " + what,
                     "kopt and kopt-frontend must come from the same build");
  }

  Result<Json> question(const std::string &command, const Json &request, const KernelSpec &kernel,
                        Broken *broken = nullptr) {
    const auto start = std::chrono::steady_clock::now();
    ProcessSpec spec;
    spec.argv = {program_.string(), command};
    // Sources may hold bytes that are not UTF-8; they are replaced, as Clang would replace them in
    // a message.
    spec.input = request.dump(-1, ' ', false, Json::error_handler_t::replace);
    spec.timeout = deadline_.now();
    spec.outputLimit = kAnswerLimit;
    spec.floodLimit = kFloodLimit;
    spec = sandbox_.contain(std::move(spec), {kernel.compileFlags, kernel.directory, {}, {}});
    Result<Json> reply = ask(spec, command, broken);
    if (reply)
      deadline_.took(Duration(std::chrono::steady_clock::now() - start));
    return reply;
  }

  Result<Json> ask(ProcessSpec &spec, const std::string &command, Broken *broken = nullptr) {
    auto ran = processes_.run(spec);
    if (!ran) {
      Error error = ran.error();
      error.context.push_back("while asking kopt-frontend to " + command);
      return tl::unexpected<Error>(std::move(error));
    }
    if (auto refusal = Sandbox::refusal(ran->exitCode, ran->err))
      return tl::unexpected<Error>(std::move(*refusal));
    Json reply = Json::parse(ran->out, nullptr, false);
    if (broken)
      *broken = {ran->timedOut || ran->truncated || !reply.is_object() ||
                     (ran->exitCode != 0 && !reply.contains("error")),
                 ran->timedOut};
    if (ran->timedOut)
      return makeError(ErrorCode::Environment,
                       "kopt-frontend " + command + " did not end within " +
                           formatDuration(spec.timeout->count()),
                       "the machine may be overloaded; run again with fewer files");
    if (reply.is_object() && reply.contains("error"))
      return replyError(reply["error"], ran->exitCode);
    if (ran->exitCode != 0)
      return makeError(errorCodeOf(ran->exitCode),
                       "kopt-frontend " + command + " failed with exit code " +
                           std::to_string(ran->exitCode) + ": " + lastLines(ran->err, 12));
    if (ran->truncated)
      return malformed(command, "more than " + formatBytes(double(spec.outputLimit)));
    if (!reply.is_object())
      return malformed(command, "no JSON object on its standard output");
    return reply;
  }

  static tl::unexpected<Error> replyError(const Json &error, int exitCode) {
    if (!error.is_object() || textAt(error, "what").empty())
      return makeError(ErrorCode::Internal, "kopt-frontend failed without saying why");
    return makeError(errorCodeOf(exitCode), textAt(error, "what"), textAt(error, "hint"),
                     textAt(error, "where"));
  }

  ProcessRunner &processes_;
  fs::path program_;
  CompilerSandbox sandbox_;
  RelativeDeadline deadline_{kLeastQuestionTimeout, kQuestionTimeout, kTimesAsLong};
};

} // namespace

std::unique_ptr<Frontend> makeFrontend(ProcessRunner &processes, const fs::path &program,
                                       CompilerSandbox sandbox) {
  return std::make_unique<ProcessFrontend>(processes, program, std::move(sandbox));
}

} // namespace kopt
