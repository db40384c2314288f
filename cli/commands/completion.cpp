// `hplcast completion bash`, `zsh`, `fish` and `man`: made from the commands as they are, so none can forget an option.
#include <algorithm>
#include <iostream>
#include <regex>

#include "cli/commands/commands.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

/// For every command: `      PATTERN) ASSIGNMENT` (`form`, with its parent, name and words in turn for each %s), by
/// which a shell keeps track of the command that it is in.
void write_tracking(std::ostream& out, const std::vector<CommandPage>& commands, const char* form) {
  for (const CommandPage& one : commands) {
    if (one.words.empty()) continue;
    const std::size_t blank = one.words.rfind(' ');
    const std::string parent = blank == std::string::npos ? "" : one.words.substr(0, blank);
    out << core::printed(form, parent.c_str(), one.words.substr(blank + 1).c_str(), one.words.c_str());
  }
}

void write_bash(std::ostream& out, const Command& program) {
  const std::vector<CommandPage> commands = pages_of(program);
  out << "# bash completion of hplcast, made by `hplcast completion bash`\n"
         "_hplcast() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$command $word\" in\n";
  write_tracking(out, commands, "      '%s %s') command='%s' ;;\n");
  out << "    esac\n"
         "  done\n"
         "  local words=\n"
         "  case \"$command $before\" in\n";
  for (const CommandPage& one : commands) {
    for (const OptionPage& option : one.options) {
      if (option.choices.empty()) continue;
      for (const std::string& name : option.names)
        // compgen takes one level of quotes, the command line the next one.
        out << "    '" << one.words << ' ' << name
            << "') words=" << core::shell_quoted(std::regex_replace(option.choices, std::regex("'"), R"(\\\')"))
            << " ;;\n";
    }
  }
  out << "  esac\n"
         "  if [ -z \"$words\" ]; then\n"
         "    case \"$current/$command\" in\n";
  for (const CommandPage& one : commands) {
    std::vector<std::string> options;
    for (const OptionPage& option : one.options)
      options.insert(options.end(), option.names.begin(), option.names.end());
    out << "      -*'/" << one.words << "') words='" << core::joined(options, " ") << "' ;;\n";
    if (!one.parts.empty()) out << "      *'/" << one.words << "') words='" << core::joined(one.parts, " ") << "' ;;\n";
  }
  out << "    esac\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _hplcast hplcast\n";
}

/// Shown by a shell beside a name: the beginning of a text, on one line.
std::string short_text(const std::string& text) {
  constexpr std::size_t most = 70;
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= most ? line : line.substr(0, line.rfind(' ', most)) + " ...";
}

/// Names for zsh's _describe.
std::string described_names(const std::vector<std::pair<std::string, std::string>>& names) {
  std::string words;
  for (const auto& [name, text] : names) words += ' ' + core::shell_quoted(name + ':' + short_text(text));
  return words;
}

/// The commands of a command with what they do.
std::vector<std::pair<std::string, std::string>> parts_of(const CommandPage& command,
                                                          const std::vector<CommandPage>& commands) {
  std::vector<std::pair<std::string, std::string>> parts;
  for (const std::string& part : command.parts)
    for (const CommandPage& one : commands)
      if (one.words == (command.words.empty() ? "" : command.words + ' ') + part)
        parts.emplace_back(part, one.description);
  return parts;
}

/// Choices as words of a shell: one of them is M'.
std::string quoted_choices(const std::string& choices) {
  return core::joined(core::words_of(choices), " ", [](const std::string& word) {
    return word.find('\'') == std::string::npos ? word : '"' + word + '"';
  });
}

void write_zsh(std::ostream& out, const Command& program) {
  const std::vector<CommandPage> commands = pages_of(program);
  out << "#compdef hplcast\n# zsh completion of hplcast, made by `hplcast completion zsh`\n"
         "_hplcast() {\n"
         "  local command= word\n"
         "  local -a names\n"
         "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
         "    case \"$command $word\" in\n";
  write_tracking(out, commands, "      '%s %s') command='%s' ;;\n");
  out << "    esac\n"
         "  done\n"
         "  case \"$command ${words[CURRENT-1]}\" in\n";
  for (const CommandPage& one : commands)
    for (const OptionPage& option : one.options)
      for (const std::string& name : option.names)
        if (!option.choices.empty())
          out << "    '" << one.words << ' ' << name << "') compadd -- " << quoted_choices(option.choices)
              << "; return ;;\n";
  out << "  esac\n"
         "  case \"$PREFIX/$command\" in\n";
  for (const CommandPage& one : commands) {
    std::vector<std::pair<std::string, std::string>> options;
    for (const OptionPage& option : one.options)
      for (const std::string& name : option.names) options.emplace_back(name, option.help);
    out << "    -*'/" << one.words << "') names=(" << described_names(options) << "); _describe option names ;;\n";
    if (!one.parts.empty())
      out << "    *'/" << one.words << "') names=(" << described_names(parts_of(one, commands))
          << "); _describe command names ;;\n";
  }
  out << "    *) _files ;;\n"
         "  esac\n"
         "}\n"
         // The file of a folder of $fpath is the body of the function when it is called first.
         "if [ \"$funcstack[1]\" = _hplcast ]; then _hplcast \"$@\"; else compdef _hplcast hplcast; fi\n";
}

void write_fish(std::ostream& out, const Command& program) {
  const std::vector<CommandPage> commands = pages_of(program);
  out << "# fish completion of hplcast, made by `hplcast completion fish`\n"
         "function __hplcast_is\n"
         "  set -l command ''\n"
         "  for word in (commandline -opc)[2..-1]\n"
         "    switch \"$command $word\"\n";
  write_tracking(out, commands, "      case '%s %s'; set command '%s'\n");
  out << "    end\n"
         "  end\n"
         "  test \"$command\" = \"$argv[1]\"\n"
         "end\n";
  for (const CommandPage& one : commands) {
    const std::string begin = "complete -c hplcast -n \"__hplcast_is '" + one.words + "'\" ";
    for (const auto& [part, text] : parts_of(one, commands))
      out << begin << "-f -a " << part << " -d " << core::shell_quoted(short_text(text)) << '\n';
    for (const OptionPage& option : one.options) {
      out << begin;
      for (const std::string& name : option.names)
        out << (name.rfind("--", 0) == 0 ? "-l " + name.substr(2) : "-s " + name.substr(1)) << ' ';
      if (!option.choices.empty()) out << "-x -a " << core::shell_quoted(quoted_choices(option.choices)) << ' ';
      if (option.choices.empty() && option.takes_value) out << "-r ";
      out << "-d " << core::shell_quoted(short_text(option.help)) << '\n';
    }
  }
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

/// A page of what --help prints: `Usage:` is the synopsis, the lines before it are the description.
void write_man_page(std::ostream& out, const std::string& name, const std::string& description,
                    const std::string& help) {
  std::string synopsis, before, after;
  for (const std::string& line : core::split(help, '\n')) {
    if (synopsis.empty() && line.rfind("Usage: ", 0) == 0) {
      synopsis = line.substr(7);
    } else {
      (synopsis.empty() ? before : after) += roff(line) + '\n';
    }
  }
  if (synopsis.empty()) synopsis = name + " [OPTIONS] ...";
  // Examples are beside the documentation, wherever the program that makes this page found them.
  after = core::all_replaced(std::move(after), roff(examples_folder().string() + '/'), "examples/");
  out << ".TH " << name << " 1 \"\" \"hplcast " HPLCAST_VERSION "\"\n.SH NAME\n"
      << roff(name) << " \\- " << roff(description) << "\n.SH SYNOPSIS\n.nf\n"
      << roff(synopsis) << "\n.fi\n.SH DESCRIPTION\n.nf\n"
      << before << after << ".fi\n"
      << R"(.SH EXIT STATUS
.TP
0
fine
.TP
2
wrong usage: an option that is unknown, missing or cannot be read
.TP
3
bad input: a file that cannot be read or written, a value outside its range
.TP
4
no acceptable fit
.TP
5
a limit is exceeded, something was found, or nothing is recommended
.TP
6
an external program failed; the message names the file of its output
.TP
129, 130, 143
stopped by SIGHUP, Ctrl\-C or SIGTERM
.SH FILES
.TP
cluster.json, prediction.json, campaign.yaml, archives, databases
pages of their formats are in the folder formats of hplcast's documentation, examples in its folder examples
.TP
$TMPDIR (default: /tmp)
temporary files, and the folder of a simulation that failed
)";
  if (name != "hplcast") out << ".SH SEE ALSO\n.BR hplcast (1)\n";
}

/// Pages of the commands, and of the other programs that are beside this one: what they say of themselves.
void write_man_pages(const std::filesystem::path& folder, const Command& program) {
  const auto write = [&](const std::string& name, const std::string& description, const std::string& help) {
    core::write_file(folder / (name + ".1"), [&](std::ostream& out) { write_man_page(out, name, description, help); });
  };
  for (const CommandPage& command : pages_of(program))
    write(page_name(command.words), command.description, command.help.substr(command.help.find('\n') + 1));
  for (const auto& entry : std::filesystem::directory_iterator(core::own_executable().parent_path())) {
    const std::string name = entry.path().filename();
    if (name.rfind("hplcast-", 0) != 0) continue;
    const core::CommandResult result = core::run_checked({entry.path(), {"--help"}});
    // The first sentence that is neither usage nor set back.
    std::string description;
    for (const std::string& line : core::split(result.output, '\n'))
      if (description.empty() && !line.empty() && line[0] != ' ' && line.rfind("Usage:", 0) != 0)
        description = line.substr(0, line.find('.'));
    write(name, description, result.output);
  }
}

}  // namespace

void setup_completion(Command& app) {
  Command& group =
      add_command(app, "completion", "Completion for shells, and man pages", "eval \"$(hplcast completion bash)\"");
  group.require_subcommand(1);
  const auto add = [&](const char* shell, void (*write)(std::ostream&, const Command&), const char* example) {
    add_command(group, shell, std::string("Print the completion for ") + shell, example).callback([&app, write] {
      write(std::cout, app);
    });
  };
  add("bash", write_bash, "eval \"$(hplcast completion bash)\"");
  add("zsh", write_zsh, "hplcast completion zsh > _hplcast  # in a folder of $fpath");
  add("fish", write_fish, "hplcast completion fish > hplcast.fish  # in ~/.config/fish/completions");
  const auto folder = std::make_shared<std::string>();
  Command& man =
      add_command(group, "man", "Write a man page of each command and program", "hplcast completion man -o man1");
  man.add_option("-o,--output", *folder, "folder for hplcast.1, hplcast-predict.1 ...", required, of_type("DIR"));
  man.callback([folder, &app] { write_man_pages(*folder, app); });
}

}  // namespace hplcast::cli
