// SPDX-License-Identifier: Apache-2.0
// One executable, two names: kopt-extract for people, kopt-frontend SUBCOMMAND for the driver.
#include "clang_plugin/tool/Tools.h"

#include <cstring>
#include <exception>
#include <iostream>
#include <string_view>

namespace kopt::frontend {
namespace {

struct Subcommand {
  const char *name;
  int (*run)(int argc, const char **argv);
};

constexpr Subcommand kSubcommands[] = {
    {"extract", runExtract},   {"transforms", runTransforms}, {"guard", runGuard},
    {"screen", runScreen},     {"mutate", runMutate},         {"reference", runReference},
    {"coverage", runCoverage}, {"emulate", runEmulate},       {"host", runHost},
    {"code", runCode},         {"specialize", runSpecialize}, {"model", runModel},
};

int dispatch(int argc, const char **argv) {
  std::string_view program = argv[0];
  program.remove_prefix(program.rfind('/') + 1);
  if (program != "kopt-frontend")
    return runExtract(argc, argv);
  for (const Subcommand &subcommand : kSubcommands)
    if (argc > 1 && std::strcmp(argv[1], subcommand.name) == 0)
      return subcommand.run(argc - 1, argv + 1);
  std::cerr << "kopt-frontend: error: expected a subcommand:";
  for (const Subcommand &subcommand : kSubcommands)
    std::cerr << " " << subcommand.name;
  std::cerr << "\n";
  return 1;
}

} // namespace

int runTool(int argc, const char **argv) {
  try {
    return dispatch(argc, argv);
  } catch (const std::exception &problem) {
    std::cerr << "kopt-extract: internal error: " << problem.what() << "\n";
    return 70;
  }
}

} // namespace kopt::frontend
