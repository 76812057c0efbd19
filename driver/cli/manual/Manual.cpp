// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/manual/Manual.h"

#include "driver/model/Version.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// What IsMember allows is part of an option's type: "TEXT:{auto,always,never}".
std::vector<std::string> valuesOf(const CLI::Option &option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return {};
  return split(type.substr(open + 1, close - open - 1), ',');
}

ManualOption describe(const CLI::Option &option) {
  ManualOption result;
  for (const std::string &name : option.get_snames())
    result.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    result.names.push_back("--" + name);
  result.help = option.get_description();
  result.values = valuesOf(option);
  // A flag takes nothing.
  if (option.get_items_expected_max() == 0)
    return result;
  std::string name = option.get_lnames().empty()
                         ? (option.get_positional() ? option.get_name(true) : std::string("value"))
                         : option.get_lnames().front();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  result.placeholder = std::move(name);
  return result;
}

ManualCommand describe(const CLI::App &app, std::string name) {
  ManualCommand command{std::move(name), app.get_description(), {}};
  for (const CLI::Option *option : app.get_options())
    command.options.push_back(describe(*option));
  return command;
}

/// Text for groff: no character starts a request, a dash stays one.
std::string forMan(const std::string &text) {
  std::string escaped = replaceAll(text, "\\", "\\e");
  escaped = replaceAll(escaped, "-", "\\-");
  escaped = replaceAll(replaceAll(escaped, "\n", " "), "`", "\\(ga");
  return escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" + escaped : escaped;
}

std::string inQuotes(const std::string &text) { return replaceAll(text, "'", "'\\''"); }

std::string optionForMan(const ManualOption &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.names)
    names.push_back("\\fB" + forMan(name) + "\\fR");
  std::string line = join(names, ", ");
  if (!option.placeholder.empty())
    line += (line.empty() ? "" : " ") + ("\\fI" + forMan(option.placeholder) + "\\fR");
  return fmt::format(".TP\n{}\n{}\n", line, option.help.empty() ? "\\&" : forMan(option.help));
}

/// The words after a command that are options.
std::string optionWords(const ManualCommand &command) {
  std::string words;
  for (const ManualOption &option : command.options)
    for (const std::string &name : option.names)
      words += (words.empty() ? "" : " ") + name;
  return words;
}

std::string bashCompletions(const std::vector<ManualCommand> &commands) {
  std::string names, values, options;
  for (const ManualCommand &command : commands) {
    if (!command.name.empty())
      names += (names.empty() ? "" : " ") + command.name;
    for (const ManualOption &option : command.options)
      for (const std::string &name : option.names)
        if (!option.placeholder.empty())
          values += fmt::format("    '{} {}') values='{}'; file={} ;;\n", command.name, name,
                                join(option.values, " "), option.values.empty() ? 1 : 0);
    options += fmt::format("    '{}') words='{}' ;;\n", command.name, optionWords(command));
  }
  return fmt::format(R"(# bash completion of kopt {0}, generated from its options
_kopt() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= word words= values= file=
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {1} " in *" $word "*) command=$word; break ;; esac
  done
  case "$command $prev" in
{2}  esac
  if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$cur")); return; fi
  if [ "$file" = 1 ]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi
  case "$command" in
{3}  esac
  if [ -z "$command" ]; then words="{1} $words"; fi
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    *) if [ -z "$command" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi ;;
  esac
}}
complete -o filenames -F _kopt kopt
)",
                     koptVersion(), names, values, options);
}

/// Text within _arguments' brackets.
std::string forZsh(const std::string &text) {
  return inQuotes(replaceAll(replaceAll(replaceAll(text, "[", "("), "]", ")"), ":", " -"));
}

std::string zshArguments(const ManualCommand &command) {
  std::string text;
  for (const ManualOption &option : command.options)
    for (const std::string &name : option.names) {
      text += fmt::format(" \\\n        '{}[{}]", name, forZsh(option.help));
      if (!option.placeholder.empty())
        text += fmt::format(":{}:{}", option.placeholder,
                            option.values.empty() ? std::string("_files")
                                                  : "(" + join(option.values, " ") + ")");
      text += "'";
    }
  return text;
}

std::string zshCompletions(const std::vector<ManualCommand> &commands) {
  std::string names, cases;
  for (const ManualCommand &command : commands) {
    if (command.name.empty())
      continue;
    names += fmt::format("    '{}:{}'\n", command.name, forZsh(command.help));
    cases += fmt::format("      {})\n        _arguments{} '*:file:_files' ;;\n", command.name,
                         zshArguments(command));
  }
  return fmt::format(R"(#compdef kopt
# zsh completion of kopt {}, generated from its options
_kopt() {{
  local state
  local -a commands=(
{}  )
  _arguments -C{} '1:command:->command' '*::argument:->argument'
  case $state in
  command) _describe command commands ;;
  argument)
    case $words[1] in
{}    esac ;;
  esac
}}
_kopt "$@"
)",
                     koptVersion(), names, zshArguments(commands.front()), cases);
}

std::string fishCompletions(const std::vector<ManualCommand> &commands) {
  std::string text =
      fmt::format("# fish completion of kopt {}, generated from its options\n", koptVersion());
  const auto quoted = [](const std::string &words) {
    return "'" + replaceAll(replaceAll(words, "\\", "\\\\"), "'", "\\'") + "'";
  };
  for (const ManualCommand &command : commands) {
    if (!command.name.empty())
      text += fmt::format("complete -c kopt -n __fish_use_subcommand -f -a {} -d {}\n",
                          command.name, quoted(command.help));
    const std::string where =
        command.name.empty() ? ""
                             : fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    for (const ManualOption &option : command.options) {
      if (option.names.empty())
        continue;
      text += "complete -c kopt" + where;
      for (const std::string &name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.placeholder.empty())
        text += option.values.empty() ? std::string(" -r")
                                      : " -x -a " + quoted(join(option.values, " "));
      text += " -d " + quoted(option.help) + "\n";
    }
  }
  return text;
}

} // namespace

std::vector<ManualCommand> describeCommands(const CLI::App &app) {
  std::vector<ManualCommand> commands = {describe(app, "")};
  for (const CLI::App *command : app.get_subcommands({}))
    commands.push_back(describe(*command, command->get_name()));
  return commands;
}

std::string manPage(const std::vector<ManualCommand> &commands) {
  const ManualCommand &all = commands.front();
  // "kopt: finds …" is after its own name already.
  const std::size_t colon = all.help.find(": ");
  const std::string summary = colon == std::string::npos ? all.help : all.help.substr(colon + 2);
  std::string text =
      fmt::format(".TH KOPT 1 \"\" \"kopt {}\" \"User Commands\"\n.SH NAME\nkopt \\- {}\n"
                  ".SH SYNOPSIS\n.B kopt\n.I COMMAND\n[\\fIOPTION\\fR]...\n"
                  ".SH OPTIONS OF EVERY COMMAND\n",
                  koptVersion(), forMan(summary));
  for (const ManualOption &option : all.options)
    text += optionForMan(option);
  text += ".SH COMMANDS\n";
  for (const ManualCommand &command : commands) {
    if (command.name.empty())
      continue;
    text += fmt::format(".SS kopt {}\n{}\n", forMan(command.name), forMan(command.help));
    for (const ManualOption &option : command.options)
      text += optionForMan(option);
  }
  text +=
      ".SH EXIT STATUS\n0 done; 1 usage; 2 \\-\\-fail\\-on matched; 3 the budget ended before a "
      "verdict; 4 the baseline failed; 5 stale input; 6 environment; 70 internal error; 130 "
      "interrupted.\n"
      ".SH FILES\n.TP\n.I .kopt/kopt.db\nall runs of a project\n.TP\n.I kopt.out/\n"
      "reports and patches\n.TP\n.I kopt.toml\nconfiguration\n";
  return text;
}

Result<std::string> completionsFor(const std::string &shell,
                                   const std::vector<ManualCommand> &commands) {
  if (shell == "bash")
    return bashCompletions(commands);
  if (shell == "zsh")
    return zshCompletions(commands);
  if (shell == "fish")
    return fishCompletions(commands);
  return makeError(ErrorCode::Usage, fmt::format("there are no completions for '{}'", shell),
                   "there are some for bash, zsh and fish");
}

} // namespace kopt
