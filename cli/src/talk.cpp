#include "talk.hpp"

#include <iostream>
#include <memory>
#include <streambuf>
#include <string>

#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace {

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

}  // namespace

void add_talk_options(CLI::App& command) {
  const auto be_quiet = [](std::int64_t) {
    if (quiet == nullptr) quiet = std::make_unique<Quiet>();
  };
  const auto be_verbose = [](std::int64_t) {
    verbose = true;
    core::show_output(&std::cerr);
  };
  CLI::Option* less = command.add_flag_function("--quiet", be_quiet, "results, warnings and errors only");
  CLI::Option* more =
      command.add_flag_function("--verbose", be_verbose, "show the programs that are run, and what they print");
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
  quiet.reset();
  verbose = false;
  core::show_output(nullptr);
}

}  // namespace hplcast::cli
