// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/BuildCache.h"
#include "driver/device/build/Toolchains.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/OnceEach.h"
#include "driver/support/Text.h"

namespace kopt {
namespace {

namespace fs = std::filesystem;

class RememberingToolchain final : public Toolchain {
public:
  RememberingToolchain(std::unique_ptr<Toolchain> compiler, BuildCache *cache)
      : compiler_(std::move(compiler)), cache_(cache) {}
  ToolchainKind kind() const override { return compiler_->kind(); }
  std::string name() const override { return compiler_->name(); }

  Result<BuildOutcome> build(const BuildRequest &request) override {
    const std::string key =
        hashFields(request.sliceText, request.expression, request.symbol, request.arch,
                   join(request.flags, "\n"), request.directory,
                   std::to_string(int(request.rounding)), std::to_string(int(request.unoptimized)));
    KOPT_TRY(const Made made, made_.get(key, [&]() -> Result<Made> {
      KOPT_TRY(BuildOutcome outcome, make(request));
      return Made{std::move(outcome), request.output.string()};
    }));
    if (!made.outcome.ok || made.output == request.output)
      return made.outcome;
    // Copy it: two loaded modules must not share their variables.
    BuildOutcome own = made.outcome;
    own.module = request.output;
    own.module += made.outcome.module.string().substr(made.output.size());
    std::error_code failed;
    if (createDirectories(own.module.parent_path()))
      fs::copy_file(made.outcome.module, own.module, fs::copy_options::overwrite_existing, failed);
    if (!failed && fs::exists(own.module, failed))
      return own;
    return make(request); // the first module's folder is gone
  }

private:
  Result<BuildOutcome> make(const BuildRequest &request) {
    return cache_ ? cache_->build(*compiler_, request) : compiler_->build(request);
  }

  struct Made {
    BuildOutcome outcome;
    std::string output; ///< the output path of the first request
  };

  std::unique_ptr<Toolchain> compiler_;
  BuildCache *cache_;
  OnceEach<Made> made_;
};

} // namespace

std::unique_ptr<Toolchain> makeRememberingToolchain(std::unique_ptr<Toolchain> compiler,
                                                    BuildCache *cache) {
  return std::make_unique<RememberingToolchain>(std::move(compiler), cache);
}

} // namespace kopt
