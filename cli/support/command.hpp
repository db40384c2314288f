#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// CLI11 behind a few types: its header costs seconds in each file that includes it, so command.cpp and
/// command_line.cpp alone do. Functions do the same as those of CLI11.
namespace hplcast::cli {

/// A test of a value of an option.
struct Check {
  /// Says what is wrong with a text; empty: nothing.
  std::function<std::string(std::string&)> problem;
  std::string type;      ///< put after the type of the option in the help; may be empty
  bool changes = false;  ///< `problem` may also put another text in the place of the value

  void operator()(CLI::Option& option) const;
};

Check between(int low, int high);  ///< both inclusive
Check between(long low, long high);
Check between(double low, double high);
Check positive();
Check not_negative();
Check among(const std::vector<std::string>& names);
Check existing_file();
Check existing_folder();

/// For functions that take a value. @throws what makes the program end as after a failed check
[[noreturn]] void refuse_value(const std::string& option, const std::string& message);

/// Reads a whole text as options do; false if it is no whole number.
bool parse_whole(const std::string& text, int& value);
bool parse_whole(const std::string& text, std::size_t& value);

/// What is said of an option after its name, value and help; in this order, and each as CLI11 means it. A Check is one.
using Setting = std::function<void(CLI::Option&)>;

class Option;
void required(CLI::Option& option);
void with_default(CLI::Option& option);  ///< the help shows the value that it has
void by_commas(CLI::Option& option);     ///< several values in one text
void one_each(CLI::Option& option);      ///< a list of one value each time that the option is given
void many(CLI::Option& option);          ///< the option may be given several times
Setting value_count(int count);
Setting default_text(const std::string& text);
Setting of_type(const std::string& name);
Setting in_group(const std::string& name);
Setting described(const std::string& help);
Setting excludes(const Option* other);
Setting needs(const Option* other);
Setting needs(const std::string& other);

/// An option of a command, which owns it.
class Option {
 public:
  explicit Option(CLI::Option& parsed) : parsed_(parsed) {}

  template <typename... Settings>
  Option* with(const Settings&... settings) {
    (Setting(settings)(parsed_), ...);
    return this;
  }

  std::size_t count() const;
  bool empty() const { return count() == 0; }
  const std::vector<std::string>& results() const;
  CLI::Option& parsed() const { return parsed_; }  ///< for command.cpp

 private:
  CLI::Option& parsed_;
};

/// A program, or a command of it. Values of options must live until the command line is parsed.
class Command {
 public:
  Command(const std::string& description, const std::string& name);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  Command& add_subcommand(const std::string& name, const std::string& description);

  template <typename Value, typename... Settings>
  Option* add_option(const std::string& name, Value& value, const std::string& help, const Settings&... settings) {
    return add(name, value, help)->with(settings...);
  }

  /// `take` gets the value, or all values; Value: std::string or std::vector<std::string>.
  template <typename Value, typename... Settings>
  Option* add_option_function(const std::string& name, const std::function<void(const Value&)>& take,
                              const std::string& help, const Settings&... settings) {
    return add_function(name, take, help)->with(settings...);
  }

  template <typename... Settings>
  Option* add_flag(const std::string& name, bool& value, const std::string& help, const Settings&... settings) {
    return add(name, value, help)->with(settings...);
  }
  Option* add_flag(const std::string& name, const std::string& help);  ///< one that changes nothing
  Option* add_flag_callback(const std::string& name, const std::function<void()>& given, const std::string& help);
  void set_version_flag(const std::string& name, const std::string& version);

  void callback(const std::function<void()>& run);
  /// A callback with the options of the command. Returns these, which add_option() is to set.
  template <typename Options, typename Run>
  Options& runs(Run run) {
    const auto options = std::make_shared<Options>();
    callback([options, run] { run(*options); });
    return *options;
  }
  void group(const std::string& name);
  void require_subcommand(int count);
  void require_subcommand(int least, int most);

  Option* get_option(const std::string& name);
  std::string name() const;
  bool has_parsed_subcommand() const;
  std::vector<const Option*> parse_order() const;  ///< an option once for every time that it was given

  CLI::App& parser() const { return parser_; }  ///< for command_line.cpp

 private:
  explicit Command(CLI::App& parser);
  Option* own(CLI::Option* parsed);
  Option* add(const std::string& name, bool& flag, const std::string& help);
  /// command.cpp lists the types of values.
  template <typename Value>
  Option* add(const std::string& name, Value& value, const std::string& help);
  template <typename Value>
  Option* add_function(const std::string& name, const std::function<void(const Value&)>& take, const std::string& help);

  std::unique_ptr<CLI::App> program_;  ///< empty for a command
  CLI::App& parser_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<Command>> subcommands_;
};

/// The options --quiet and --verbose of a command, which mean the same everywhere. They take effect when they are
/// parsed, before the command runs:
/// --quiet: of the standard error only warnings and errors are left; no remarks beside a result (is_quiet());
/// --verbose: what programs print that the command runs (core::show_output()), in place of the progress bar.
void add_talk_options(Command& command);

bool is_quiet();
bool is_verbose();

/// Everything is told again: before the message of an error, and at the end of a program.
void talk_normally();

/// Adds a subcommand whose --help ends with `example`: one or more command lines that work as they stand. It has
/// --quiet and --verbose.
Command& add_command(Command& parent, const std::string& name, const std::string& description,
                     const std::string& example);

/// The same ending for a program without subcommands (the measuring programs).
void set_example(Command& program, const std::string& example);

/// Parses the command line, which runs the callback of the command given, and turns whatever it throws into a message
/// on `err` ("hplcast predict: ...") and an exit code of core::ExitCode. Help and version go to `out`.
int run_program(Command& program, int argc, const char* const* argv, std::ostream& out, std::ostream& err);

/// run_program() on the standard streams, for main().
int run_program(Command& program, int argc, const char* const* argv);

/// An option as a user sees it.
struct OptionPage {
  std::vector<std::string> names;  ///< "--output", "-o"
  std::string choices;             ///< "auto exact fast", if it takes one of a few names
};

/// A command as a user sees it.
struct CommandPage {
  std::string words;  ///< those that lead to it: "fit kernel"; empty: the program
  std::string description;
  std::string help;                 ///< as --help prints it
  std::vector<OptionPage> options;  ///< without hidden ones
  std::vector<std::string> parts;   ///< names of its commands
};

/// Of all commands that --help lists, outer ones first.
std::vector<CommandPage> pages_of(const Command& program);

}  // namespace hplcast::cli
