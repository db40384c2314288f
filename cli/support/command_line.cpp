#include "cli/support/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <streambuf>

#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

/// Options that take exactly one value whenever they are given (`--sbatch`) have said so; tuples (`--for-hpl`) too.
bool is_list(const CLI::Option& option) {
  return option.nonpositional() && option.get_expected_min() <= 1 && option.get_expected_max() > 1 &&
         option.get_type_size_max() > 0 && (option.get_allow_extra_args() || option.get_delimiter() != '\0');
}

/// Makes all options with several values alike, in a command and those below it: `--nb 64,128`, or the option again,
/// `--nb 64 --nb 128`. In commands that take names of files, a word after the first value is one of them.
void unify_list_options(CLI::App& app) {
  const std::vector<CLI::Option*> options = app.get_options();
  const bool takes_files =
      std::any_of(options.begin(), options.end(), [](const auto* one) { return one->get_positional(); });
  for (CLI::Option* option : options) {
    if (!is_list(*option)) continue;
    if (option->get_type_name() != "FILE") option->delimiter(',');  // names of files may have commas
    if (takes_files) option->allow_extra_args(false);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) unify_list_options(*command);
}

/// Hands on lines with "warning:", and those after them that begin with a blank, to another buffer; no others.
class WarningsOnly : public std::streambuf {
 public:
  explicit WarningsOnly(std::streambuf* target) : target_(target) {}

 protected:
  int_type overflow(int_type character) override {
    if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
    line_ += traits_type::to_char_type(character);
    if (line_.back() == '\n') end_line();
    return character;
  }
  int sync() override { return target_->pubsync(); }

 private:
  void end_line() {
    const bool goes_on = line_.front() == ' ' && passes_;
    passes_ = goes_on || line_.find("warning:") != std::string::npos;
    if (passes_) target_->sputn(line_.data(), static_cast<std::streamsize>(line_.size()));
    line_.clear();
  }

  std::streambuf* target_;
  std::string line_;
  bool passes_ = false;
};

struct Quiet {
  std::streambuf* original = std::cerr.rdbuf();
  WarningsOnly filter{original};
  Quiet() { std::cerr.rdbuf(&filter); }
  ~Quiet() { std::cerr.rdbuf(original); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

std::unique_ptr<Quiet> quiet;
bool verbose = false;
const CLI::App* running = nullptr;  ///< the program, while run_program() is at it

/// Where parsing got to: `kernel` of "hplcast fit kernel".
const CLI::App& deepest_command(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? app : deepest_command(*given.front());
}

/// "hplcast fit kernel": the program and the subcommands that were given.
std::string command_name(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return app.get_name() + (given.empty() ? "" : " " + command_name(*given.front()));
}

}  // namespace

void tell(const std::string& text) {
  std::cerr << (running == nullptr ? "" : command_name(*running) + ": ") + text + '\n';
}

void warn(const std::string& text) {
  tell("warning: " + text);
}

void warn_all(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) warn(text);
}

void warn_once_each(const std::vector<std::string>& texts) {
  // By the text without digits, in the order of the first of each.
  std::vector<std::string> kinds;
  std::map<std::string, std::set<std::string>> alike;
  std::map<std::string, std::string> first;
  for (const std::string& text : texts) {
    std::string kind = text;
    kind.erase(std::remove_if(kind.begin(), kind.end(), [](unsigned char c) { return std::isdigit(c) || c == '.'; }),
               kind.end());
    if (first.emplace(kind, text).second) kinds.push_back(kind);
    alike[kind].insert(text);
  }
  for (const std::string& kind : kinds) {
    const std::size_t more = alike[kind].size() - 1;
    warn(first[kind] + (more == 0 ? "" : "\n  and " + std::to_string(more) + " more that differ in numbers only"));
  }
}

void add_talk_options(Command& command) {
  const auto be_quiet = [](std::int64_t) {
    if (quiet == nullptr) quiet = std::make_unique<Quiet>();
  };
  const auto be_verbose = [](std::int64_t) {
    verbose = true;
    core::show_output(&std::cerr);
  };
  CLI::App& parser = command.parser();
  CLI::Option* less = parser.add_flag_function("--quiet", be_quiet, "results, warnings and errors only");
  CLI::Option* more =
      parser.add_flag_function("--verbose", be_verbose, "show the programs that are run, and what they print");
  for (CLI::Option* option : {less, more}) option->group("Messages");
  less->excludes(more);
}

bool is_quiet() {
  return quiet != nullptr;
}

bool is_verbose() {
  return verbose;
}

void talk_normally() {
  running = nullptr;
  quiet.reset();
  verbose = false;
  core::show_output(nullptr);
}

namespace {

/// `word`: with what was given to it, --name=value.
std::string no_option(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options())
    if (option->nonpositional()) options.push_back(option->get_name());
  // --threads for --threads-per-rank, and the other way round.
  const auto begins = [&](const std::string& one) {
    return core::begins_with(name, one) || core::begins_with(one, name);
  };
  const auto longer = std::find_if(options.begin(), options.end(),
                                   [&](const std::string& one) { return one.size() > 4 && begins(one); });
  const std::string hint = longer == options.end() ? core::name_hint(name, options) : "did you mean `" + *longer + "`?";
  return "there is no option " + name + (word == name ? "" : ": `" + word + "`") + (hint.empty() ? "" : "; " + hint);
}

std::string no_command(const CLI::App& parent, const std::string& word) {
  std::vector<std::string> commands;
  for (const CLI::App* command : parent.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  return "there is no command `" + word + "`; " + core::name_hint(word, commands);
}

/// An option before `--` that the command does not have, else CLI11's message. CLI11 names only what comes after `--`,
/// and takes the value of a misspelt option for a word of its own, which may exclude another.
std::string unknown_option(const CLI::App& app, int argc, const char* const* argv, const CLI::ParseError& error) {
  const CLI::App& deepest = deepest_command(app);
  for (int i = 1; i < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    const bool is_option =
        name.size() > 2 ? name.rfind("--", 0) == 0
                        : name.size() == 2 && name[0] == '-' && std::isalpha(static_cast<unsigned char>(name[1])) != 0;
    if (is_option && deepest.get_option_no_throw(name) == nullptr) return no_option(deepest, word);
  }
  return error.what();
}

/// Message for something required that is missing: a misspelt option, perhaps, or a word in the place of a command.
std::string missing(const CLI::App& app, const CLI::RequiredError& error) {
  const CLI::App& deepest = deepest_command(app);
  const std::vector<std::string> words = deepest.remaining();
  if (deepest.get_require_subcommand_min() > 0 && !words.empty() && words.front().rfind('-', 0) != 0)
    return no_command(deepest, words.front());
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (name.rfind("--", 0) != 0 || name.size() == 2) continue;
    return no_option(deepest, word);
  }
  return error.what();
}

/// Messages of CLI11 that say too little; the others as they are.
std::string in_our_words(const std::string& text) {
  static const std::pair<std::regex, const char*> known[] = {
      {std::regex("(.*) was given a disallowed flag override"), "--$1 takes no value"},
      {std::regex("(.*): 1 required .* missing"), "$1: expected a value; found nothing"},
      {std::regex("(.*): At Most 1 required but received (.*)"), "$1 is given $2 times; expected once"},
      {std::regex("--hpl-dat excludes .*"), "$&: the HPL.dat, or list of configurations, has it"},
      {std::regex("Could not convert: (.*) = (.*)"), "$1: cannot read `$2`"}};
  constexpr std::size_t longest = 2000;  // more would need a deep stack
  if (text.size() > longest) return text.substr(0, longest) + " ...";
  for (const auto& [form, words] : known)
    if (std::regex_match(text, form)) return std::regex_replace(text, form, words);
  return text;
}

/// `-o "$unset"` is no wish for the default, and `--force=0` none for anything: options need a value, flags take none.
void refuse_odd_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0) {
      option->disable_flag_override();
    } else if (option->get_type_name() != "WORDS") {  // those of a program may be anything
      option->check(CLI::Validator(
          [](const std::string& value) { return value.empty() ? std::string("expected a value; found nothing") : ""; },
          ""));
    }
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) refuse_odd_values(*command);
}

/// CLI11 leaves out what is empty between the commas of a list.
void refuse_empty_items(const CLI::App& app, int argc, const char* const* argv) {
  const auto has_gap = [](const std::string& list) {
    return !list.empty() && (list.front() == ',' || list.back() == ',' || list.find(",,") != std::string::npos);
  };
  const CLI::App* command = &app;
  const CLI::Option* option = nullptr;  // that the word belongs to
  for (int i = 1; i < argc; ++i) {
    std::string value = argv[i];
    if (value.size() > 1 && value[0] == '-') {
      const std::size_t end = value[1] == '-' ? value.find('=') : std::string::npos;
      option = command->get_option_no_throw(value.substr(0, end));
      if (end == std::string::npos) continue;
      value.erase(0, end + 1);
    }
    const auto commands = command->get_subcommands([&](const CLI::App* one) { return one->get_name() == value; });
    if (option == nullptr && !commands.empty()) command = commands.front();
    if (option != nullptr && option->get_delimiter() == ',' && has_gap(value))
      throw core::UsageError(std::string("`") + argv[i] +
                             "`: a list with an empty item; expected values with commas between them");
  }
}

}  // namespace

Command& add_command(Command& parent, const std::string& name, const std::string& description,
                     const std::string& example) {
  Command& command = parent.add_subcommand(name, description);
  set_example(command, example);
  add_talk_options(command);
  return command;
}

void set_example(Command& program, const std::string& example, const std::string& title) {
  // No text is made for the commands whose help nobody asks for.
  program.parser().footer([example, title] {
    return core::all_replaced(title + ":\n  " + example + '\n', "examples/", examples_folder().string() + '/');
  });
}

std::filesystem::path examples_folder() {
  const fs::path folder = "examples", program = core::own_executable().parent_path();
  std::error_code ignored;
  for (const fs::path& one :
       {folder, program / "../share/hplcast/examples", program.parent_path().parent_path() / "examples"})
    if (fs::exists(one / "dahu-like.json", ignored)) return one.lexically_normal();
  return folder;
}

int run_program(Command& program, int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App& app = program.parser();
  running = &app;
  const auto fail = [&](core::ExitCode code, const std::string& message) {
    talk_normally();
    err << command_name(app) << ": " << message << std::endl;
    return static_cast<int>(code);
  };
  const auto hint = [&] { return "\n  hint: " + command_name(app) + " --help"; };
  unify_list_options(app);
  refuse_odd_values(app);
  try {
    refuse_empty_items(app, argc, argv);
    app.parse(argc, argv);
    if (!out.flush()) return fail(core::ExitCode::bad_input, "the standard output cannot be written");
    talk_normally();
    return static_cast<int>(core::ExitCode::fine);
  } catch (const CLI::Success& request) {  // --help, --version
    talk_normally();
    return app.exit(request, out, err);
  } catch (const CLI::RequiredError& error) {
    if (argc == 1 && app.get_require_subcommand_min() > 0) {  // what there is, in place of what is missing
      talk_normally();
      err << app.help();
      return static_cast<int>(core::ExitCode::wrong_usage);
    }
    return fail(core::ExitCode::wrong_usage, missing(app, error) + hint());
  } catch (const CLI::ParseError& error) {
    return fail(core::ExitCode::wrong_usage, in_our_words(unknown_option(app, argc, argv, error)) + hint());
  } catch (const core::Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(core::ExitCode::bad_input, "cannot use " + error.path1().string() + ": " + error.code().message());
  } catch (const std::bad_alloc&) {
    return fail(core::ExitCode::external_failure, "out of memory");
  } catch (const std::exception& error) {
    // Not thrown by hplcast on purpose: the operating system or a library refused something.
    return fail(core::ExitCode::external_failure, error.what());
  }
}

int run_program(Command& program, int argc, const char* const* argv) {
  core::settle_in();
  return run_program(program, argc, argv, std::cout, std::cerr);
}

}  // namespace hplcast::cli
