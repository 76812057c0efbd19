// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kopt::frontend {

/// `kopt-extract …` for people; `kopt-frontend SUBCOMMAND` for the driver.
/// Subcommands for the driver read one JSON request from standard input and print one JSON reply.
int runTool(int argc, const char **argv);

/// The text of a reply, without members that are null; bytes that are not UTF-8 are replaced.
std::string printed(nlohmann::json reply, int indent = -1);

int runExtract(int argc, const char **argv);
int runTransforms(int argc, const char **argv);
int runGuard(int argc, const char **argv);
int runSpecialize(int argc, const char **argv);
int runScreen(int argc, const char **argv);
int runMutate(int argc, const char **argv);
int runModel(int argc, const char **argv);
int runReference(int argc, const char **argv);
int runCoverage(int argc, const char **argv);
int runCode(int argc, const char **argv);
int runEmulate(int argc, const char **argv);
int runHost(int argc, const char **argv);

} // namespace kopt::frontend
