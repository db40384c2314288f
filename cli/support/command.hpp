#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Shared by all commands: options, messages, files, tables, and core's errors, files, JSON and texts.
/// CLI11 is behind a few types: its header costs seconds in each file that includes it, so command.cpp and
/// command_line.cpp alone do. Functions do the same as those of CLI11.
namespace hplcast::cli {

class Option;

/// A test of a value of an option.
struct Check {
  std::function<void(std::string&)> take;  ///< refuses a text by core::UsageError
  std::string type;                        ///< put after the type of the option in the help; may be empty
  bool changes = false;                    ///< `take` may also put another text in the place of the value

  void operator()(Option& option) const;
};

template <typename Number>
Check between(Number low, Number high);  ///< both inclusive; int, long or double
Check among(const std::vector<std::string>& names);
extern const Check positive;  ///< these two: a finite number
extern const Check at_least_zero;
extern const Check existing_file;
extern const Check existing_folder;

/// For functions that take a value. @throws what makes the program end as after a failed check
[[noreturn]] void refuse_value(const std::string& option, const std::string& message);

/// Reads a whole text as options do; false if it is no whole number. Number: int or std::size_t.
template <typename Number>
bool parse_whole(const std::string& text, Number& value);

/// A property of an option, given after its name, value and help; applied in order, each as CLI11 does. A Check is one.
using Setting = std::function<void(Option&)>;

extern const Setting required;
extern const Setting with_default;  ///< the help shows the value that it has
extern const Setting by_commas;     ///< several values in one text
extern const Setting one_each;      ///< a list of one value each time that the option is given
extern const Setting many;          ///< the option may be given several times
Setting value_count(int count);
Setting default_text(const std::string& text);
Setting of_type(const std::string& name);
Setting in_group(const std::string& name);
Setting described(const std::string& help);
Setting excludes(const Option* other);
Setting needs(const Option* other);
Setting needs(const std::string& other);

// Files, with the name of their type in the help. Before the command runs, what it writes must be writable
// (require_writable()), and none of what it reads (require_other_file()).
Setting reads(const std::string& type);
Setting writes(const std::string& type);
Setting draws(const std::string& type);  ///< a picture: require_picture()

/// An option of a command, which owns it.
class Option {
 public:
  enum class Use { value, reads, writes, draws };
  explicit Option(CLI::Option& parsed) : parsed_(parsed) {}

  template <typename... Settings>
  Option* with(const Settings&... settings) {
    (Setting(settings)(*this), ...);
    return this;
  }

  bool empty() const { return results().empty(); }
  const std::vector<std::string>& results() const;
  CLI::Option& parsed() const { return parsed_; }  ///< for command.cpp

  Use use = Use::value;

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
  /// -o, a file of the result.
  template <typename Path, typename... Settings>
  Option* add_output(Path& path, const std::string& help, const Settings&... settings) {
    return add_option("-o,--output", path, help, writes("FILE"), settings...);
  }
  /// -o of a command whose result always is JSON, or `result`, and --json, which scripts may give everywhere.
  void add_json_output(std::string& path, const std::string& result);
  Option* add_flag_callback(const std::string& name, const std::function<void()>& given, const std::string& help);
  void set_version_flag(const std::string& name, const std::string& version);

  void callback(const std::function<void()>& run);  ///< after a look at its files
  /// A callback with the options of the command. Returns these, which add_option() is to set.
  template <typename Options, typename Run>
  Options& runs(Run run) {
    const auto options = std::make_shared<Options>();
    callback([options, run] { run(*options); });
    return *options;
  }
  /// Subcommands that are added from now on are in this section of the help (default: Subcommands).
  void begin_group(const std::string& name) { group_ = name; }
  void require_subcommand(int least, int most = 1);

  std::string name() const;
  bool has_parsed_subcommand() const;
  std::vector<const Option*> parse_order() const;  ///< an option once for every time that it was given

  CLI::App& parser() const { return parser_; }  ///< for command_line.cpp

 private:
  explicit Command(CLI::App& parser);
  void check_files() const;
  Option* own(CLI::Option* parsed);
  Option* add(const std::string& name, bool& flag, const std::string& help);
  /// command.cpp lists the types of values.
  template <typename Value>
  Option* add(const std::string& name, Value& value, const std::string& help);
  template <typename Value>
  Option* add_function(const std::string& name, const std::function<void(const Value&)>& take, const std::string& help);

  std::unique_ptr<CLI::App> program_;  ///< empty for a command
  CLI::App& parser_;
  std::string group_ = "Subcommands";  ///< of the next subcommand
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

/// On stderr, after the name of the command that runs: "hplcast predict: warning: ...".
void tell(const std::string& text);
void warn(const std::string& text);
void warn_all(const std::vector<std::string>& texts);
/// A line for each kind: of texts that differ in their numbers only, the first, and how many more there are.
void warn_once_each(const std::vector<std::string>& texts);

/// Everything is told again: before the message of an error, and at the end of a program.
void talk_normally();

/// Adds a subcommand whose --help ends with `example`: one or more command lines that work as they stand. It has
/// --quiet and --verbose.
Command& add_command(Command& parent, const std::string& name, const std::string& description,
                     const std::string& example);

/// The same ending for a program without subcommands (the measuring programs). `examples/` in it is printed as
/// examples_folder().
void set_example(Command& program, const std::string& example, const std::string& title = "Example");

/// The examples that come with hplcast, so that what the help says works from any folder: `examples` where that is
/// one of them or none is found, else those installed with the program or of its sources.
std::filesystem::path examples_folder();

/// Parses the command line, which runs the callback of the command given, and turns whatever it throws into a message
/// on `err` ("hplcast predict: ...") and an exit code of core::ExitCode. Help and version go to `out`.
int run_program(Command& program, int argc, const char* const* argv, std::ostream& out, std::ostream& err);

/// run_program() on the standard streams, for main().
int run_program(Command& program, int argc, const char* const* argv);

/// Writes a result to `path`, or to the standard output if it is empty. A file is there whole or not at all; where it
/// cannot be written (any more), `print_what_is_lost` comes first.
void write_result(const std::filesystem::path& path, const std::function<void(std::ostream&)>& content,
                  const std::function<void()>& print_what_is_lost = {});

/// The same of measured rows, which are printed where the file cannot be written.
void write_rows(const std::filesystem::path& path, const std::string& csv);

/// The same of JSON, with lines and blanks.
void write_result(const std::filesystem::path& path, const nlohmann::ordered_json& json);

/// Fails now rather than after hours of work. @throws core::Error (bad_input) if `path` is a folder, or the folder that
/// it would be in is missing (none is invented: it may be mistyped) or cannot be written. An empty path is fine.
void require_writable(const std::filesystem::path& path);

/// The same for a folder that a command makes: the one that it would be in must be there.
void require_place_of(const std::filesystem::path& folder);

/// Whether it can be read only once: `-`, a pipe, a device.
bool is_stream(const std::filesystem::path& path);
/// For files that are read more than once. @throws core::UsageError for a pipe (a process substitution, /dev/stdin).
void require_rereadable(const std::filesystem::path& path);

/// @throws core::Error (bad_input) if `output` is the same file as one of `inputs`, whatever the paths say. Empty paths
/// and devices are fine.
void require_other_file(const std::filesystem::path& output, const std::vector<std::string>& inputs);
/// @throws core::UsageError if two of these outputs are one file, whatever the paths say, or the standard output.
void require_own_files(const std::vector<std::string>& outputs);

/// The file of one of several pictures: "fit.png" and {"dgemm", "node/1"} give "fit-dgemm-node_1.png".
std::filesystem::path picture_name(const std::filesystem::path& path, const std::vector<std::string>& parts);

/// Before work whose result it shows. @throws core::UsageError unless the name ends in .png or .svg; as
/// require_writable().
void require_picture(const std::filesystem::path& path);

/// Whether pictures can be drawn as PNG here.
bool can_draw_png();

/// A .png or .svg file of an SVG, which is there whole or not at all. @throws as require_picture(), core::ExternalError
/// if rsvg-convert is not installed or fails.
void write_picture(const std::filesystem::path& path, const std::string& svg);

/// A table for people: columns as wide as they must be, aligned right, two spaces apart.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  /// A row of as many texts as the header has.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The last column is aligned left.
  void end_with_words() { words_ = true; }
  void write(std::ostream& out) const;

 private:
  bool words_ = false;
  std::vector<std::vector<std::string>> rows_;
};

/// An option as a user sees it.
struct OptionPage {
  std::vector<std::string> names;  ///< "--output", "-o"
  std::string help;
  std::string choices;       ///< "auto exact fast", if it takes one of a few names
  bool takes_value = false;  ///< as no flag does
};

/// A command as a user sees it.
struct CommandPage {
  std::string words;  ///< those that lead to it: "fit kernel"; empty: the program
  std::string description;
  std::string help;                 ///< as --help prints it
  std::vector<OptionPage> options;  ///< without hidden ones
  std::vector<std::string> parts;   ///< names of its commands
};

/// Pages of all commands that --help lists, outer ones first.
std::vector<CommandPage> pages_of(const Command& program);

using core::duration_text;
using core::InputError;
using core::percent;
using core::read_from;
using core::signed_percent;
using core::significant;

}  // namespace hplcast::cli
