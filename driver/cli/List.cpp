// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ListFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"

namespace kopt {
namespace {

class ListCommand final : public Command {
public:
  explicit ListCommand(CLI::App &app) { sources_.addTo(app); }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const SourceSettings sources, sources_.settings(call.rest));
    KOPT_TRY(const std::vector<KernelSpec> kernels, listKernels(call.services, sources));
    Answer answer;
    for (const KernelSpec &kernel : kernels)
      for (const Specialization &specialization : kernel.specializations) {
        answer.results.push_back({{"kernel", specialization.expression},
                                  {"symbol", specialization.symbol},
                                  {"file", kernel.file},
                                  {"line", kernel.line},
                                  {"annotated", kernel.annotated},
                                  {"route", toString(specialization.route)}});
        call.print("{}:{}: {}{}\n", kernel.file, kernel.line, specialization.expression,
                   kernel.annotated ? " [tuned]" : "");
      }
    return answer;
  }

private:
  SourceFlags sources_;
};

} // namespace

std::unique_ptr<Command> makeList(CLI::App &app) { return std::make_unique<ListCommand>(app); }

} // namespace kopt
