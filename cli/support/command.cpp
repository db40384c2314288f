#include "cli/support/command.hpp"

#include <CLI/CLI.hpp>

#include "hplcast/core/csv.hpp"

namespace hplcast::cli {

namespace {

Check known(const CLI::Validator& validator) {
  const auto take = [validator](std::string& text) {
    if (const std::string problem = validator(text); !problem.empty()) throw core::UsageError(problem);
  };
  return {take, validator.get_description()};
}

/// A finite number above 0, or of at least 0.
Check number_from_zero(bool with_zero, const char* type) {
  const auto take = [with_zero](const std::string& text) {
    double value = 0;
    if (!core::parse_double(text, value) || value < 0 || (value == 0 && !with_zero))
      throw core::UsageError("found `" + text + "`; expected a number " + (with_zero ? "of at least 0" : "above 0"));
  };
  return {take, type};
}

Setting use_as(Option::Use use, const std::string& type) {
  return [use, type](Option& option) {
    option.use = use;
    option.parsed().type_name(type);
  };
}

}  // namespace

template <typename Number>
Check between(Number low, Number high) {
  return known(CLI::Range(low, high));
}
template Check between(int, int);
template Check between(long, long);
template Check between(double, double);

const Check positive = number_from_zero(false, "POSITIVE");
const Check at_least_zero = number_from_zero(true, "NUMBER");
const Check existing_file = known(CLI::ExistingFile);
const Check existing_folder = known(CLI::ExistingDirectory);
Check among(const std::vector<std::string>& names) {
  return known(CLI::IsMember(names));
}

void refuse_value(const std::string& option, const std::string& message) {
  throw CLI::ValidationError(option, message);
}

template <typename Number>
bool parse_whole(const std::string& text, Number& value) {
  return CLI::detail::lexical_cast(text, value);
}
template bool parse_whole(const std::string&, int&);
template bool parse_whole(const std::string&, std::size_t&);

void Check::operator()(Option& option) const {
  const auto problem = [take = take](std::string& text) {
    try {
      take(text);
      return std::string();
    } catch (const core::UsageError& error) {
      return std::string(error.what());
    }
  };
  const CLI::Validator validator(problem, type);
  changes ? option.parsed().transform(validator) : option.parsed().check(validator);
}

const Setting required = [](Option& option) { option.parsed().required(); };
const Setting with_default = [](Option& option) { option.parsed().capture_default_str(); };
const Setting by_commas = [](Option& option) { option.parsed().delimiter(','); };
const Setting one_each = [](Option& option) { option.parsed().allow_extra_args(false); };
const Setting many = [](Option& option) { option.parsed().take_all(); };
Setting value_count(int count) {
  return [count](Option& option) { option.parsed().expected(count); };
}
Setting default_text(const std::string& text) {
  return [text](Option& option) { option.parsed().default_str(text); };
}
Setting of_type(const std::string& name) {
  return use_as(Option::Use::value, name);
}
Setting reads(const std::string& type) {
  return use_as(Option::Use::reads, type);
}
Setting writes(const std::string& type) {
  return use_as(Option::Use::writes, type);
}
Setting draws(const std::string& type) {
  return use_as(Option::Use::draws, type);
}
Setting in_group(const std::string& name) {
  return [name](Option& option) { option.parsed().group(name); };
}
Setting described(const std::string& help) {
  return [help](Option& option) { option.parsed().description(help); };
}
Setting excludes(const Option* other) {
  return [other](Option& option) { option.parsed().excludes(&other->parsed()); };
}
Setting needs(const Option* other) {
  return [other](Option& option) { option.parsed().needs(&other->parsed()); };
}
Setting needs(const std::string& other) {
  return [other](Option& option) { option.parsed().needs(other); };
}

const std::vector<std::string>& Option::results() const {
  return parsed_.results();
}

Command::Command(const std::string& description, const std::string& name)
    : program_(std::make_unique<CLI::App>(description, name)), parser_(*program_) {}

Command::Command(CLI::App& parser) : parser_(parser) {}

Command::~Command() = default;

Command& Command::add_subcommand(const std::string& name, const std::string& description) {
  return *subcommands_.emplace_back(new Command(*parser_.add_subcommand(name, description)->group(group_)));
}

Option* Command::own(CLI::Option* parsed) {
  return options_.emplace_back(std::make_unique<Option>(*parsed)).get();
}

template <typename Value>
Option* Command::add(const std::string& name, Value& value, const std::string& help) {
  return own(parser_.add_option(name, value, help));
}

using Name = const std::string&;
template Option* Command::add(Name, std::string&, Name);
template Option* Command::add(Name, std::filesystem::path&, Name);
template Option* Command::add(Name, int&, Name);
template Option* Command::add(Name, unsigned&, Name);
template Option* Command::add(Name, long&, Name);
template Option* Command::add(Name, long long&, Name);
template Option* Command::add(Name, std::size_t&, Name);
template Option* Command::add(Name, double&, Name);
template Option* Command::add(Name, std::optional<std::string>&, Name);
template Option* Command::add(Name, std::optional<int>&, Name);
template Option* Command::add(Name, std::optional<double>&, Name);
template Option* Command::add(Name, std::vector<std::string>&, Name);
template Option* Command::add(Name, std::vector<int>&, Name);
template Option* Command::add(Name, std::vector<long>&, Name);
template Option* Command::add(Name, std::vector<std::size_t>&, Name);
template Option* Command::add(Name, std::vector<double>&, Name);

Option* Command::add(const std::string& name, bool& flag, const std::string& help) {
  return own(parser_.add_flag(name, flag, help));
}

template <typename Value>
Option* Command::add_function(const std::string& name, const std::function<void(const Value&)>& take,
                              const std::string& help) {
  return own(parser_.add_option_function(name, take, help));
}

template Option* Command::add_function(Name, const std::function<void(const std::string&)>&, Name);
template Option* Command::add_function(Name, const std::function<void(const std::vector<std::string>&)>&, Name);

void Command::add_json_output(std::string& path, const std::string& result) {
  own(parser_.add_flag("--json", "accepted as in other commands: the result always is JSON"));
  add_output(path, result + " (default: the standard output)");
}
Option* Command::add_flag_callback(const std::string& name, const std::function<void()>& given,
                                   const std::string& help) {
  return own(parser_.add_flag_callback(name, given, help));
}
void Command::set_version_flag(const std::string& name, const std::string& version) {
  parser_.set_version_flag(name, version);
}

void Command::check_files() const {
  std::vector<std::string> inputs;
  for (const auto& option : options_)
    if (option->use == Option::Use::reads)
      inputs.insert(inputs.end(), option->results().begin(), option->results().end());
  const std::string examples = "examples/";
  for (const std::string& input : inputs)
    if (core::begins_with(input, examples) && !std::filesystem::exists(input))
      if (const auto one = examples_folder() / input.substr(examples.size()); std::filesystem::exists(one))
        throw core::InputError("cannot read " + input +
                               ": there is no such file in this folder; hint: " + one.string());
  std::vector<std::string> outputs;
  const CLI::Option *json = parser_.get_option_no_throw("--json"), *file = parser_.get_option_no_throw("-o");
  const std::string to = file == nullptr || file->empty() ? "" : file->results().front();
  if (json != nullptr && (json->empty() ? !program_ && core::open_descriptor(to) != 1 : to.empty()))
    outputs.emplace_back("-");  // or tables; 1: the standard output
  for (const auto& option : options_) {
    if (option->use != Option::Use::writes && option->use != Option::Use::draws) continue;
    for (const std::string& output : option->results()) {
      option->use == Option::Use::draws ? require_picture(output) : require_writable(output);
      require_other_file(output, inputs);
      outputs.push_back(output);
    }
  }
  require_own_files(outputs);
}

void Command::callback(const std::function<void()>& run) {
  parser_.callback([this, run] {
    check_files();
    run();
  });
}
void Command::require_subcommand(int least, int most) {
  parser_.require_subcommand(static_cast<std::size_t>(least), static_cast<std::size_t>(most));
}

std::string Command::name() const {
  return parser_.get_name();
}
bool Command::has_parsed_subcommand() const {
  return !parser_.get_subcommands().empty();
}

std::vector<const Option*> Command::parse_order() const {
  std::vector<const Option*> order;
  for (const CLI::Option* parsed : parser_.parse_order())
    for (const auto& option : options_)
      if (&option->parsed() == parsed) order.push_back(option.get());
  return order;
}

namespace {

/// CLI11 lists the values of an option that takes one of a few in its type, "TEXT:{auto,exact,fast}".
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return "";
  std::string choices = type.substr(open + 1, close - open - 1);
  for (char& c : choices)
    if (c == ',') c = ' ';
  return choices.find("->") == std::string::npos ? choices : "";
}

std::vector<OptionPage> options_of(const CLI::App& command) {
  std::vector<OptionPage> pages;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    OptionPage& page = pages.emplace_back();
    for (const std::string& name : option->get_lnames()) page.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) page.names.push_back("-" + name);
    page.help = option->get_description();
    page.choices = choices_of(*option);
    page.takes_value = option->get_expected_max() > 0;
  }
  return pages;
}

/// `before`: the program and the words before its own.
void collect(const CLI::App& command, const std::string& before, const std::string& words,
             std::vector<CommandPage>& pages) {
  const auto parts = command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
  const std::string all = (before.empty() ? "" : before + " ") + command.get_name();
  // Not App::help(), which shows the subcommand that is running.
  const std::string help = command.get_formatter()->make_help(&command, all, CLI::AppFormatMode::Normal);
  CommandPage& page = pages.emplace_back(CommandPage{words, command.get_description(), help, options_of(command), {}});
  for (const CLI::App* part : parts) page.parts.push_back(part->get_name());
  for (const CLI::App* part : parts) collect(*part, all, (words.empty() ? "" : words + " ") + part->get_name(), pages);
}

}  // namespace

std::vector<CommandPage> pages_of(const Command& program) {
  std::vector<CommandPage> pages;
  collect(program.parser(), "", "", pages);
  return pages;
}

}  // namespace hplcast::cli
