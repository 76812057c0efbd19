// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ci/CiFlow.h"
#include "driver/app/ci/Proposals.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/model/Json.h"
#include "driver/report/ci/Findings.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <iostream>

namespace kopt {
namespace {

namespace fs = std::filesystem;

struct CiFlags {
  SourceFlags sources;
  ConfigFlags config;
  std::string base, name = "default", lock, markdown, sarif, codeQuality, annotations = "auto";
  std::vector<std::string> failOn{"regression"};
  double minChange = 1; ///< percent
  bool propose = false, dryRun = false;
  std::size_t maxProposals = 2;
};

class CiCommand final : public Command {
public:
  explicit CiCommand(CLI::App &app) {
    app.add_option("--base", flags_.base,
                   "branch, tag or commit; compared with is where HEAD left it")
        ->required();
    flags_.sources.addTo(app);
    flags_.config.addPlace(app);
    flags_.config.addExecutor(app);
    app.add_option("--min-change", flags_.minChange,
                   "smallest change of a kernel's time that counts, in percent (default 1)")
        ->check(CLI::Range(0.1, 100.0));
    flags_.config.add(app, {"seed"});
    app.add_option("--lock", flags_.lock, "folder with kopt.lock (default kopt)");
    addOutputs(app);
    app.add_option("--fail-on", flags_.failOn,
                   "exit with a status other than 0, on any of these, separated by commas: a "
                   "`regression` (2), a `win` (2), a `stale` variant (5); or `never` (default "
                   "regression)")
        ->delimiter(',')
        ->check(CLI::IsMember({"regression", "stale", "win", "never"}));
    addProposals(app);
    app.add_flag("-n,--dry-run", flags_.dryRun,
                 "say what would be measured, without a device; run nothing");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, flags_.config.load(flags_.sources.files));
    KOPT_TRY(const CiRequest request, requestOf(config, call.rest));
    KOPT_TRY(GateReport report, runGate(call.services, request));
    if (flags_.propose && !flags_.dryRun)
      KOPT_CHECK(propose(call.services, config, request, report));
    const std::vector<GateFinding> findings = findingsOf(report);
    KOPT_CHECK(writeFiles(report, findings));
    Answer answer;
    answer.exitCode = gateExitCode(report, flags_.failOn);
    answer.notes = report.notes;
    answer.details = toJson(report);
    answer.results = answer.details["kernels"];
    answer.details.erase("kernels");
    answer.details["headline"] = headlineOf(report);
    if (!call.json)
      print(report, findings, call.out);
    return answer;
  }

private:
  void addOutputs(CLI::App &app) {
    app.add_option("--name", flags_.name,
                   "name of this job: a later report of the same name takes the place of this one "
                   "(default default)");
    app.add_option("--markdown", flags_.markdown, "file for a comment on the change");
    app.add_option("--sarif", flags_.sarif, "file in SARIF 2.1.0");
    app.add_option("--code-quality", flags_.codeQuality,
                   "file in the format of GitLab's code quality reports");
    app.add_option("--annotations", flags_.annotations,
                   "annotations for GitHub Actions on standard output, at most 10: `github`, "
                   "`none`, or `auto` for those where GITHUB_ACTIONS is true (default auto)")
        ->check(CLI::IsMember({"auto", "github", "none"}));
  }

  void addProposals(CLI::App &app) {
    app.add_flag("--propose", flags_.propose,
                 "tune the kernels that the change touches, and write a patch for each win");
    app.add_option("--max-proposals", flags_.maxProposals,
                   "most patches that are written (default 2)")
        ->check(CLI::PositiveNumber);
    ConfigFlags &config = flags_.config;
    config.add(app, "budget-seconds", "limit on the wall time of --propose, in seconds");
    config.add(app, "proposers",
               "where the candidates of --propose come from, separated by commas: params, "
               "transform, llm");
    config.add(app, {"model"});
    config.add(app, "trials", "maximum number of trials of --propose, for each kernel");
    config.add(app, "output", "folder for the patches and the folders of the runs");
    config.add(app, {"assurance"});
  }

  Result<CiRequest> requestOf(const Config &config,
                              const std::vector<std::string> &nvccFlags) const {
    KOPT_TRY(KernelRequest kernels, kernelRequest(config, flags_.sources, nvccFlags));
    KOPT_CHECK(setExecutor(config, kernels));
    CiRequest request{std::move(kernels)};
    request.name = flags_.name;
    request.base = flags_.base;
    request.dryRun = flags_.dryRun;
    request.lockFolder = headerFolder(config, flags_.lock);
    request.options.arch = config.settings.arch;
    request.options.seed = std::uint64_t(config.settings.seed);
    request.options.policy.minGain = flags_.minChange / 100;
    // kopt.toml of the base, which may lie in a folder below its top.
    const fs::path below = flags_.sources.files.empty()
                               ? request.root
                               : fs::absolute(flags_.sources.files.front()).parent_path();
    request.baseClauses = [below](const fs::path &top,
                                  const fs::path &headTop) -> Result<std::vector<KernelClauses>> {
      std::error_code ignored;
      const fs::path folder =
          top / fs::weakly_canonical(below, ignored).lexically_relative(headTop);
      ConfigRequest own;
      own.directory = fs::exists(folder, ignored) ? folder.lexically_normal() : top;
      KOPT_TRY(Config base, loadConfig(own));
      return std::move(base.kernels);
    };
    return request;
  }

  Status propose(const Services &services, const Config &config, const CiRequest &request,
                 GateReport &report) const {
    ProposalSettings settings;
    settings.root = projectRoot(config);
    settings.output = settings.root / config.settings.output;
    settings.options = config.settings;
    settings.assurance = assuranceOf(config);
    settings.most = flags_.maxProposals;
    return addGateProposals(services, request, settings, report);
  }

  Status writeFiles(const GateReport &report, const std::vector<GateFinding> &findings) const {
    const std::string markdown = gateMarkdown(report);
    if (!flags_.markdown.empty())
      KOPT_CHECK(writeFileAtomically(flags_.markdown, markdown));
    if (!flags_.sarif.empty())
      KOPT_CHECK(writeFileAtomically(flags_.sarif, sarifOf(report, findings)));
    if (!flags_.codeQuality.empty())
      KOPT_CHECK(writeFileAtomically(flags_.codeQuality, codeQualityOf(findings)));
    const char *summary = std::getenv("GITHUB_STEP_SUMMARY");
    if (summary && *summary && flags_.annotations != "none") {
      std::ofstream file(summary, std::ios::app);
      file << markdown << "\n";
      if (!file.flush())
        return makeError(ErrorCode::Environment, "the summary of the step cannot be written",
                         "check GITHUB_STEP_SUMMARY", summary);
    }
    return {};
  }

  bool wantsAnnotations() const {
    const char *actions = std::getenv("GITHUB_ACTIONS");
    return flags_.annotations == "github" ||
           (flags_.annotations == "auto" && actions && std::string_view(actions) == "true");
  }

  void print(const GateReport &report, const std::vector<GateFinding> &findings,
             const Terminal &out) const {
    for (const GateKernel &kernel : report.kernels) {
      const std::string word = kernel.broken ? "fails" : toString(kernel.verdict);
      const Style style = kernel.isAlarm()                        ? Style::Red
                          : kernel.verdict == GateVerdict::Faster ? Style::Green
                                                                  : Style::Yellow;
      std::cout << fmt::format("{}: {} ({}:{}, {})\n  {}\n", kernel.kernel, out.paint(style, word),
                               kernel.place.file, kernel.place.line, toString(kernel.change),
                               kernel.reason);
      for (const std::string &note : kernel.notes)
        std::cout << "  " << note << "\n";
    }
    for (const GateVariant &variant : report.variants)
      std::cout << fmt::format("{}: the tuned variant is stale{}\n  {}:{}: {}\n", variant.kernel,
                               variant.isNew ? "" : ", as before", variant.place.file,
                               variant.place.line, variant.what);
    for (const GateProposal &proposal : report.proposals)
      std::cout << fmt::format("{}: proposal, {}\n  patch: {}\n", proposal.kernel, proposal.title,
                               proposal.patch);
    for (const std::string &note : report.notes)
      std::cout << "note: " << note << "\n";
    std::cout << fmt::format("{} ({} touched, {} not; base {})\n", headlineOf(report),
                             report.kernels.size(), report.unchanged, report.base.substr(0, 12));
    if (wantsAnnotations())
      std::cout << githubAnnotations(findings);
  }

  CiFlags flags_;
};

} // namespace

std::unique_ptr<Command> makeCi(CLI::App &app) { return std::make_unique<CiCommand>(app); }

} // namespace kopt
