// `hplcast completion bash` and `hplcast completion man`: both are made from the commands as they are, so neither can
// forget an option.
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "cli/commands/commands.hpp"
#include "cli/support/command_line.hpp"
#include "cli/support/output.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace fs = std::filesystem;

namespace {

/// A command with the words that lead to it: "fit kernel".
struct NamedCommand {
  std::string words;
  const CLI::App* app;
};

/// All commands that --help lists, outer ones first.
void collect(const CLI::App& app, const std::string& words, std::vector<NamedCommand>& all) {
  all.push_back({words, &app});
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    collect(*command, words.empty() ? command->get_name() : words + " " + command->get_name(), all);
}

std::vector<NamedCommand> commands_of(const CLI::App& app) {
  std::vector<NamedCommand> all;
  collect(app, "", all);
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// "--mode" and the like; hidden ones are left out.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  if (option.get_group().empty()) return names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

/// The values of an option that takes one of a few: CLI11 lists them in its type, "TEXT:{auto,exact,fast}".
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return "";
  std::string choices = type.substr(open + 1, close - open - 1);
  for (char& c : choices)
    if (c == ',') c = ' ';
  return choices.find("->") == std::string::npos ? choices : "";
}

void write_bash(std::ostream& out, const CLI::App& app) {
  const std::vector<NamedCommand> commands = commands_of(app);
  out << "# bash completion of hplcast, made by `hplcast completion bash`\n"
         "_hplcast() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$command $word\" in\n";
  for (const NamedCommand& one : commands) {
    if (one.words.empty()) continue;
    const std::size_t blank = one.words.rfind(' ');
    const std::string parent = blank == std::string::npos ? "" : one.words.substr(0, blank);
    out << "      '" << parent << ' ' << one.app->get_name() << "') command='" << one.words << "' ;;\n";
  }
  out << "    esac\n"
         "  done\n"
         "  local words=\n"
         "  case \"$command $before\" in\n";
  for (const NamedCommand& one : commands) {
    for (const CLI::Option* option : one.app->get_options()) {
      const std::string choices = choices_of(*option);
      if (choices.empty()) continue;
      for (const std::string& name : names_of(*option))
        out << "    '" << one.words << ' ' << name << "') words=" << core::shell_quoted(choices) << " ;;\n";
    }
  }
  out << "  esac\n"
         "  if [ -z \"$words\" ]; then\n"
         "    case \"$current/$command\" in\n";
  for (const NamedCommand& one : commands) {
    std::vector<std::string> options, parts;
    for (const CLI::Option* option : one.app->get_options())
      for (const std::string& name : names_of(*option)) options.push_back(name);
    for (const CLI::App* part : one.app->get_subcommands([](const CLI::App* p) { return !p->get_group().empty(); }))
      parts.push_back(part->get_name());
    out << "      -*'/" << one.words << "') words='" << joined(options) << "' ;;\n";
    if (!parts.empty()) out << "      *'/" << one.words << "') words='" << joined(parts) << "' ;;\n";
  }
  out << "    esac\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _hplcast hplcast\n";
}

/// For roff: no line begins a request, backslashes and hyphens stand for themselves.
std::string roff(const std::string& line) {
  std::string text = !line.empty() && (line[0] == '.' || line[0] == '\'') ? "\\&" : "";
  for (const char c : line) {
    if (c == '\\') {
      text += "\\e";
    } else if (c == '-') {
      text += "\\-";
    } else {
      text += c;
    }
  }
  return text;
}

std::string page_name(const std::string& words) {
  std::string name = "hplcast" + (words.empty() ? "" : "-" + words);
  for (char& c : name)
    if (c == ' ') c = '-';
  return name;
}

/// The help as it is printed, in one page.
void write_man_page(std::ostream& out, const NamedCommand& command, const std::string& version) {
  const std::string name = page_name(command.words);
  const std::size_t blank = command.words.rfind(' ');
  const std::string before =
      command.words.empty() ? "" : "hplcast" + (blank == std::string::npos ? "" : " " + command.words.substr(0, blank));
  // Not App::help(), which shows the subcommand that is running.
  std::istringstream help(command.app->get_formatter()->make_help(command.app, before, CLI::AppFormatMode::Normal));
  out << ".TH " << name << " 1 \"\" \"" << version << "\"\n.SH NAME\n"
      << roff(name) << " \\- " << roff(command.app->get_description()) << "\n.SH SYNOPSIS\n.nf\n"
      << roff("hplcast" + (command.words.empty() ? " COMMAND" : " " + command.words) + " [OPTIONS] ...")
      << "\n.fi\n.SH DESCRIPTION\n.nf\n";
  std::string line;
  std::getline(help, line);  // the description
  while (std::getline(help, line)) out << roff(line) << '\n';
  out << ".fi\n";
  if (command.words.empty()) return;
  out << ".SH SEE ALSO\n.BR hplcast (1)\n";
}

struct ManOptions {
  std::string folder;
};

void run_man(const ManOptions& options, const CLI::App& app) {
  for (const NamedCommand& command : commands_of(app))
    core::write_file(fs::path(options.folder) / (page_name(command.words) + ".1"),
                     [&](std::ostream& out) { write_man_page(out, command, app.version()); });
}

}  // namespace

void setup_completion(CLI::App& app) {
  CLI::App& group =
      add_command(app, "completion", "Completion for shells, and man pages", "eval \"$(hplcast completion bash)\"");
  group.require_subcommand(1);
  CLI::App& bash = add_command(group, "bash", "Print the completion for bash", "eval \"$(hplcast completion bash)\"");
  bash.callback([&app] { write_bash(std::cout, app); });
  const auto options = std::make_shared<ManOptions>();
  CLI::App& man = add_command(group, "man", "Write a man page of each command", "hplcast completion man -o man1");
  man.add_option("-o,--output", options->folder, "folder for hplcast.1, hplcast-predict.1 ...")
      ->required()
      ->type_name("DIR");
  man.callback([options, &app] { run_man(*options, app); });
}

}  // namespace hplcast::cli
