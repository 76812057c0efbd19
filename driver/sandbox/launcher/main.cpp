// SPDX-License-Identifier: Apache-2.0
// kopt-sandbox: runs one program with access to nothing except what the command line gives it. kopt
// starts programs with it that it does not trust; see README.md of driver/sandbox.
#include "driver/sandbox/launcher/Launch.h"
#include "driver/sandbox/launcher/Probe.h"

#include <cstdio>

int main(int argc, char **argv) {
  using namespace kopt::sandbox;
  std::string why;
  const std::optional<Options> options = parseOptions(argc, argv, why);
  if (!options) {
    std::fprintf(stderr, "kopt-sandbox: %s\n", why.c_str());
    return kExitUsage;
  }
  if (options->probe)
    return probe();
  return options->inside ? launchInside(*options) : launch(*options);
}
