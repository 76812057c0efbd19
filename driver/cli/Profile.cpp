// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ProfileText.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>

namespace kopt {

namespace {

namespace fs = std::filesystem;

struct ProfileFlags {
  SourceFlags sources;
  ConfigFlags config;
  std::string candidate; ///< file
  std::string launch;    ///< name
  std::string program;
  std::vector<std::string> sections; ///< of Nsight Compute
  bool ncu = false, accesses = false;
  std::size_t lines = 10; ///< to print
};

std::string checkSectionName(const std::string &name) {
  const bool isName = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c == '_' || (c < 128 && std::isalnum(c));
  });
  return isName ? "" : "'" + name + "' is not a section name; 'ncu --list-sections' prints them";
}

class ProfileCommand final : public Command {
public:
  explicit ProfileCommand(CLI::App &app) {
    flags_.sources.addTo(app);
    app.get_option("files")->required();
    addProgram(app, flags_.program);
    flags_.config.addPlace(app);
    app.add_option("--candidate", flags_.candidate,
                   "profile this version instead: the file, or its slice, with the kernel's code "
                   "changed");
    app.add_option("--launch", flags_.launch,
                   "launch of the workload to profile, by name (default: the one with the largest "
                   "weight)");
    CLI::Option *ncu = app.add_flag("--ncu", flags_.ncu,
                                    "add Nsight Compute's sections, advice and counts by line "
                                    "(takes seconds)");
    app.add_option("--sections", flags_.sections,
                   "Nsight Compute sections to collect, by identifier, separated by commas "
                   "(default: its set 'detailed')")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->needs(ncu)
        ->check(checkSectionName);
    app.add_flag("--access", flags_.accesses,
                 "only say where each access of the kernel goes: how far apart the threads of a "
                 "warp are, and what loops do to it; nothing runs")
        ->excludes(ncu);
    app.add_option("--lines", flags_.lines, "number of hot lines to print (default 10)")
        ->check(CLI::Range(0, 1000));
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const ProfileRequest request, requestOf(call.rest));
    KOPT_TRY(const std::vector<ProfileReport> reports, profileFile(call.services, request));
    Answer answer;
    for (const ProfileReport &report : reports) {
      answer.results.push_back(flags_.accesses ? accessesJson(report) : toJson(report));
      if (call.json)
        continue;
      if (answer.results.size() > 1)
        std::cout << "\n";
      if (flags_.accesses)
        printAccesses(std::cout, report);
      else
        print(std::cout, report, flags_.lines);
    }
    return answer;
  }

private:
  Result<ProfileRequest> requestOf(const std::vector<std::string> &nvccFlags) const {
    KOPT_TRY(const Config config, flags_.config.load(flags_.sources.files));
    KOPT_TRY(KernelRequest kernels,
             kernelRequest(config, flags_.sources, nvccFlags, flags_.program));
    ProfileRequest request{std::move(kernels)};
    if (!flags_.candidate.empty()) {
      request.candidate = fs::absolute(flags_.candidate);
      if (!fs::is_regular_file(request.candidate))
        return makeError(ErrorCode::Usage,
                         fmt::format("file {} does not exist", request.candidate.string()),
                         "give the changed file with --candidate");
    }
    request.launch = flags_.launch;
    request.ncu = flags_.ncu;
    request.accesses = flags_.accesses;
    request.sections = flags_.sections;
    return request;
  }

  ProfileFlags flags_;
};

} // namespace

std::unique_ptr<Command> makeProfile(CLI::App &app) {
  return std::make_unique<ProfileCommand>(app);
}

} // namespace kopt
