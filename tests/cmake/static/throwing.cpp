// SPDX-License-Identifier: Apache-2.0
// Catches what each library throws that kopt uses.
#include <fmt/format.h>
#include <iostream>
#include <spdlog/sinks/basic_file_sink.h>
#include <toml++/toml.h>

template <typename Problem, typename Function> bool throws(const char *name, Function &&function) {
  try {
    function();
  } catch (const Problem &problem) {
    std::cout << name << ": " << problem.what() << "\n";
    return true;
  }
  std::cout << name << ": nothing was thrown\n";
  return false;
}

int main() {
  bool ok = true;
  for (const char *text : {"a = 1\na = 2\n", "[t]\n[t]\n", "[[k]\n", "a = \n"})
    ok &= throws<toml::parse_error>("toml++", [&] { return toml::parse(text); });
  ok &= throws<spdlog::spdlog_ex>(
      "spdlog", [] { spdlog::sinks::basic_file_sink_mt sink("/proc/version/none"); });
  ok &= throws<fmt::format_error>("fmt", [] { return fmt::format(fmt::runtime("{:q}"), 1); });
  return ok ? 0 : 1;
}
