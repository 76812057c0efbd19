// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Frontend.h"

#include "driver/model/Json.h"
#include "driver/source/CompilerMessages.h"
#include "driver/source/Expression.h"
#include "driver/support/Hash.h"
#include "driver/support/OnceEach.h"
#include "driver/support/RelativeDeadline.h"
#include "driver/support/Text.h"

#include <cctype>
#include <chrono>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr Duration kExtractTimeout{1800}; ///< it proves each slice with the user's compiler, which
                                          ///< takes minutes with heavy headers
/// Deadlines for questions: text that is written to be slow to parse takes many times as long as
/// ordinary text.
constexpr Duration kLeastQuestionTimeout{20}, kQuestionTimeout{300};
constexpr double kTimesAsLong = 20;
constexpr std::size_t kOutputLimit = 256u
                                     << 20; ///< for an extraction, which may cover a whole project
constexpr std::size_t kAnswerLimit = 32u << 20,
                      kFloodLimit = 64u << 20; ///< for a question about one kernel

/// The architecture that the kernel is built for. Clang needs one to parse, so there is a default.
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

/// The specialization that a baseline slice instantiates, found by its expression in the slice.
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

/// More choices than any rewrite has.
constexpr std::size_t kMostPoints = 4096;

/// All values of an offer's parameters that its requirements allow; the last parameter changes
/// first. Fails with Usage on a requirement that cannot be evaluated, and on too many choices.
Result<std::vector<Bindings>> pointsOf(const Offer &offer) {
  std::vector<Bindings> points(1);
  for (const OfferParameter &parameter : offer.parameters) {
    std::vector<Bindings> longer;
    if (points.size() * parameter.values.size() > kMostPoints)
      return makeError(ErrorCode::Usage, "the offer '" + offer.title + "' has too many choices");
    for (const Bindings &point : points)
      for (const std::int64_t value : parameter.values)
        longer.emplace_back(point)[parameter.name] = value;
    points = std::move(longer);
  }
  std::vector<Bindings> allowed;
  for (Bindings &point : points) {
    bool isAllowed = true;
    for (const std::string &requirement : offer.requirements) {
      KOPT_TRY(const std::int64_t holds, evaluateExpression(requirement, point));
      isAllowed &= holds != 0;
    }
    if (isAllowed)
      allowed.push_back(std::move(point));
  }
  return allowed;
}

LaunchOverride overrideOf(const LaunchChange &change) {
  LaunchOverride launch;
  if (!change.grid[0].empty())
    launch.grid = change.grid;
  if (!change.block[0].empty())
    launch.block = change.block;
  if (!change.sharedBytes.empty())
    launch.sharedBytes = change.sharedBytes;
  return launch;
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

class ProcessFrontend final : public Frontend {
public:
  ProcessFrontend(ProcessRunner &processes, fs::path program, CompilerSandbox sandbox)
      : processes_(processes), program_(std::move(program)), sandbox_(std::move(sandbox)) {}

  Result<ExtractionResult> extract(const ExtractRequest &request) override {
    ProcessSpec spec;
    spec.argv = {program_.string(), "extract", "--json", "-o", request.output.string()};
    if (!request.prove)
      spec.argv.push_back("--no-proof");
    for (const std::string &symbol : request.proveOnly)
      spec.argv.insert(spec.argv.end(), {"--prove", symbol});
    if (request.keepGoing)
      spec.argv.push_back("--keep-going");
    if (!request.command.empty())
      spec.argv.insert(spec.argv.end(), {"--command", request.command});
    if (!request.project.empty())
      spec.argv.insert(spec.argv.end(), {"--project", request.project.string()});
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
                             ignored); // the front end reports a folder that cannot be made
      CompilerSite site{request.flags, fs::current_path(ignored), {}, {request.output}};
      if (!request.buildDirectory.empty())
        site.readable.push_back(request.buildDirectory);
      site.readable.insert(site.readable.end(), request.files.begin(), request.files.end());
      site.readable.insert(site.readable.end(), request.readable.begin(), request.readable.end());
      spec.cwd = site.directory;
      spec.timeout = request.timeout;
      spec = sandbox_.contain(std::move(spec), site);
    } else {
      spec = sandbox_.withToolkit(std::move(spec));
    }
    Broken broken;
    Result<Json> reply = ask(spec, "extract", &broken);
    if (!reply && request.untrusted && broken.tooSlow)
      return makeError(ErrorCode::BaselineFailed,
                       fmt::format("compiling it takes longer than {}, which is many times as long "
                                   "as the original takes",
                                   formatDuration(spec.timeout->count())),
                       "look for templates or constants that multiply at compile time",
                       request.files.front().string());
    if (!reply)
      return tl::unexpected(std::move(reply.error()));
    return parseExtraction(*reply);
  }

  Result<std::vector<TransformOffer>>
  transforms(const std::string &sliceText, const std::string &expression, const KernelSpec &kernel,
             const std::vector<LaunchShape> &launches) override {
    const TransformRequest request{sourceOf(sliceText, expression, kernel), launches, {}};
    KOPT_TRY(const OfferList reply, question<OfferList>("transforms", request, kernel));
    const std::string sliceFile = sliceFileOf(kernel, expression);
    std::vector<TransformOffer> offers;
    for (const Offer &open : reply.offers) {
      KOPT_TRY(const std::vector<Bindings> points, pointsOf(open));
      for (const Bindings &point : points) {
        const Offer offer = withValues(open, point);
        TransformOffer &made = offers.emplace_back();
        made.technique = offer.technique;
        made.title = offer.title;
        made.note = offer.note;
        made.blockMultiple = offer.blockMultiple;
        for (const SliceEdit &edit : offer.edits) {
          if (edit.begin > edit.end || edit.end > sliceText.size())
            return malformed("transforms",
                             "an edit outside the slice in offer '" + offer.title + "'");
          made.edits.push_back({{sliceFile, edit.begin, edit.end}, edit.text});
        }
        if (offer.launch)
          made.launch = overrideOf(*offer.launch);
      }
    }
    return offers;
  }

  Result<ChunkReply> guard(const RenderedSlice &usual, const RenderedSlice &special,
                           std::size_t chunk, const KernelSpec &kernel,
                           const BodyGuard &guard) override {
    const GuardRequest request{sourceOf(usual.text, usual.expression, kernel),
                               chunkOf(usual, chunk),
                               special.text,
                               special.expression,
                               chunkOf(special, chunk),
                               guard};
    return question<ChunkReply>("guard", request, kernel);
  }

  Result<ChunkReply> specialize(const RenderedSlice &slice, std::size_t chunk,
                                const KernelSpec &kernel, bool isInline) override {
    const SpecializeRequest request{sourceOf(slice.text, slice.expression, kernel),
                                    chunkOf(slice, chunk), isInline};
    return question<ChunkReply>("specialize", request, kernel);
  }

  Result<std::vector<Finding>> screen(const std::string &baselineSlice,
                                      const std::string &candidateSlice, const KernelSpec &kernel,
                                      const std::string &expression,
                                      const SharedCode &shared) override {
    ScreenRequest request{baselineSlice,    candidateSlice,
                          kernel.name,      baselineExpression(kernel, baselineSlice, expression),
                          expression,       kernel.compileFlags,
                          kernel.directory, shared};
    Broken broken;
    Result<ScreenReply> reply = question<ScreenReply>("screen", request, kernel, &broken);
    if (!reply && broken.happened && !broken.tooSlow) // try again: the machine may be at fault
      reply = question<ScreenReply>("screen", request, kernel, &broken);
    if (!reply && broken.happened) {
      // If the front end can read the baseline, the candidate's text is at fault, and a candidate
      // that cannot be screened is refused.
      request.candidate = baselineSlice;
      request.candidateExpression = request.baselineExpression;
      request.shared.texts.clear();
      KOPT_CHECK(question<ScreenReply>("screen", request, kernel));
      return std::vector<Finding>{{"unreadable", Severity::Reject, reply.error().what, ""}};
    }
    if (!reply)
      return tl::unexpected<Error>(std::move(reply.error()));
    std::vector<Finding> findings;
    for (const ScreenFinding &finding : reply->findings)
      findings.push_back(
          {finding.id, finding.severity == ScreenSeverity::Flag ? Severity::Flag : Severity::Reject,
           finding.message,
           finding.line ? "slice.cu:" + std::to_string(finding.line) : "baseline"});
    return findings;
  }

  Result<MutantSet> mutants(const std::string &sliceText, const std::string &expression,
                            const KernelSpec &kernel, const MutantRequest &wanted) override {
    const MutateRequest request{sourceOf(sliceText, expression, kernel), wanted,
                                fs::path(sliceFileOf(kernel, expression)).filename().string()};
    KOPT_TRY(MutationList reply, question<MutationList>("mutate", request, kernel));
    try {
      return makeMutants(std::move(reply), sliceText);
    } catch (const std::exception &problem) {
      return malformed("mutate", problem.what());
    }
  }

  Result<ReferenceClone> referenceClone(const std::string &sliceText, const std::string &expression,
                                        const KernelSpec &kernel) override {
    return question<ReferenceClone>("reference", sourceOf(sliceText, expression, kernel), kernel);
  }

  Result<CoverageClone> coverageClone(const std::string &sliceText, const std::string &expression,
                                      const KernelSpec &kernel) override {
    return question<CoverageClone>("coverage", sourceOf(sliceText, expression, kernel), kernel);
  }

  Result<ModelReply> modelOf(const std::string &sliceText, const std::string &expression,
                             const KernelSpec &kernel,
                             const std::vector<LaunchShape> &launches) override {
    return question<ModelReply>(
        "model", ModelRequest{sourceOf(sliceText, expression, kernel), launches}, kernel);
  }

  Result<HostText> hostText(const HostRequest &request) override {
    Broken broken;
    Result<HostText> reply = question<HostText>(
        "host", request,
        {request.flags, request.directory, {fs::path(request.file).parent_path()}, {}},
        kQuestionTimeout, &broken);
    const bool isOfFile =
        !reply && !broken.happened &&
        (reply.error().code == ErrorCode::BaselineFailed || reply.error().code == ErrorCode::Usage);
    if (isOfFile)
      return makeError(ErrorCode::BaselineFailed,
                       "the host code could not be read: " + reply.error().what, {}, request.file);
    if (!reply && reply.error().where.empty())
      reply.error().where = request.file;
    return reply;
  }

  Result<std::vector<CodeDigest>> codes(const std::vector<NamedText> &texts) override {
    KOPT_TRY(DigestReply reply, question<DigestReply>("code", DigestRequest{texts}, CompilerSite(),
                                                      kQuestionTimeout, nullptr));
    if (reply.codes.size() != texts.size())
      return malformed("code", "another number of codes than of texts");
    return std::move(reply.codes);
  }

private:
  /// Says whether the front end gave no readable reply.
  struct Broken {
    bool happened = false, tooSlow = false;
  };

  static KernelSource sourceOf(const std::string &sliceText, const std::string &expression,
                               const KernelSpec &kernel) {
    return {sliceText,           expression,       kernel.name,
            kernel.compileFlags, kernel.directory, archOf(kernel.compileFlags)};
  }

  static TextRange chunkOf(const RenderedSlice &slice, std::size_t chunk) {
    return {slice.chunks.at(chunk).first, slice.chunks.at(chunk).second};
  }

  static std::string sliceFileOf(const KernelSpec &kernel, const std::string &expression) {
    for (const Specialization &specialization : kernel.specializations)
      if (specialization.expression == expression)
        return specialization.slice;
    return {};
  }

  tl::unexpected<Error> malformed(const std::string &command, const std::string &what) const {
    return makeError(ErrorCode::Internal,
                     "kopt-frontend " + command + " gave a malformed answer: " + what,
                     "kopt and kopt-frontend must come from the same build");
  }

  /// Asks with a record of Variants.h and reads the reply as a record.
  template <class Reply, class Request>
  Result<Reply> question(const std::string &command, const Request &request,
                         const KernelSpec &kernel, Broken *broken = nullptr) {
    const auto start = std::chrono::steady_clock::now();
    KOPT_TRY(Reply reply,
             question<Reply>(command, request, {kernel.compileFlags, kernel.directory, {}, {}},
                             deadline_.now(), broken));
    deadline_.took(Duration(std::chrono::steady_clock::now() - start));
    return reply;
  }

  /// The same for any file, within `timeout`.
  template <class Reply, class Request>
  Result<Reply> question(const std::string &command, const Request &request,
                         const CompilerSite &site, Duration timeout, Broken *broken) {
    ProcessSpec spec;
    spec.argv = {program_.string(), command};
    spec.input = dumpJson(toJson(request));
    spec.timeout = timeout;
    spec.outputLimit = kAnswerLimit;
    spec.floodLimit = kFloodLimit;
    const std::string key = hashFields(command, spec.input);
    spec = sandbox_.contain(std::move(spec), site);
    KOPT_TRY(const Json reply, replies_.get(key, [&] { return ask(spec, command, broken); }));
    Reply record;
    if (const std::string problem = readDocument(reply, record); !problem.empty())
      return malformed(command, problem);
    return record;
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
    if (!error.is_object() || textIn(error, "what").empty())
      return makeError(ErrorCode::Internal, "kopt-frontend failed without saying why");
    return makeError(errorCodeOf(exitCode), textIn(error, "what"), textIn(error, "hint"),
                     textIn(error, "where"));
  }

  OnceEach<Json> replies_; ///< replies to questions
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
