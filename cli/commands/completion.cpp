// `hplcast completion bash` and `hplcast completion man`: both are made from the commands as they are, so neither can
// forget an option.
#include <algorithm>
#include <iostream>
#include <sstream>

#include "cli/commands/commands.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void write_bash(std::ostream& out, const Command& program) {
  const std::vector<CommandPage> commands = pages_of(program);
  out << "# bash completion of hplcast, made by `hplcast completion bash`\n"
         "_hplcast() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$command $word\" in\n";
  for (const CommandPage& one : commands) {
    if (one.words.empty()) continue;
    const std::size_t blank = one.words.rfind(' ');
    const std::string parent = blank == std::string::npos ? "" : one.words.substr(0, blank);
    const std::string name = one.words.substr(blank + 1);
    out << "      '" << parent << ' ' << name << "') command='" << one.words << "' ;;\n";
  }
  out << "    esac\n"
         "  done\n"
         "  local words=\n"
         "  case \"$command $before\" in\n";
  for (const CommandPage& one : commands) {
    for (const OptionPage& option : one.options) {
      if (option.choices.empty()) continue;
      for (const std::string& name : option.names)
        out << "    '" << one.words << ' ' << name << "') words=" << core::shell_quoted(option.choices) << " ;;\n";
    }
  }
  out << "  esac\n"
         "  if [ -z \"$words\" ]; then\n"
         "    case \"$current/$command\" in\n";
  for (const CommandPage& one : commands) {
    std::vector<std::string> options;
    for (const OptionPage& option : one.options)
      options.insert(options.end(), option.names.begin(), option.names.end());
    out << "      -*'/" << one.words << "') words='" << joined(options) << "' ;;\n";
    if (!one.parts.empty()) out << "      *'/" << one.words << "') words='" << joined(one.parts) << "' ;;\n";
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
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// The help as it is printed, in one page.
void write_man_page(std::ostream& out, const CommandPage& command) {
  const std::string name = page_name(command.words);
  out << ".TH " << name << " 1 \"\" \"hplcast " HPLCAST_VERSION "\"\n.SH NAME\n"
      << roff(name) << " \\- " << roff(command.description) << "\n.SH SYNOPSIS\n.nf\n"
      << roff("hplcast" + (command.words.empty() ? " COMMAND" : " " + command.words) + " [OPTIONS] ...")
      << "\n.fi\n.SH DESCRIPTION\n.nf\n";
  std::istringstream help(command.help);
  std::string line;
  std::getline(help, line);  // the description
  while (std::getline(help, line)) out << roff(line) << '\n';
  out << ".fi\n";
  if (command.words.empty()) return;
  out << ".SH SEE ALSO\n.BR hplcast (1)\n";
}

void write_man_pages(const std::filesystem::path& folder, const Command& program) {
  for (const CommandPage& command : pages_of(program))
    core::write_file(folder / (page_name(command.words) + ".1"),
                     [&](std::ostream& out) { write_man_page(out, command); });
}

}  // namespace

void setup_completion(Command& app) {
  Command& group =
      add_command(app, "completion", "Completion for shells, and man pages", "eval \"$(hplcast completion bash)\"");
  group.require_subcommand(1);
  Command& bash = add_command(group, "bash", "Print the completion for bash", "eval \"$(hplcast completion bash)\"");
  bash.callback([&app] { write_bash(std::cout, app); });
  const auto folder = std::make_shared<std::string>();
  Command& man = add_command(group, "man", "Write a man page of each command", "hplcast completion man -o man1");
  man.add_option("-o,--output", *folder, "folder for hplcast.1, hplcast-predict.1 ...", required, of_type("DIR"));
  man.callback([folder, &app] { write_man_pages(*folder, app); });
}

}  // namespace hplcast::cli
