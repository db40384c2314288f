// HPL's output while it runs: progress lines of several vendors, header, result.
#include <cmath>
#include <ctime>
#include <istream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

/// The text behind the last `key`, up to a blank; empty without one.
std::string value_behind(const std::string& line, const std::string& key) {
  const std::size_t at = line.rfind(key);
  if (at == std::string::npos) return "";
  const std::vector<std::string> words = words_of(line.substr(at + key.size()));
  return words.empty() ? "" : words.front();
}

/// Whether the number at a line's end has all its digits: behind it is more, or it has an exponent of two.
bool ends_with_whole_number(const std::string& line) {
  const std::size_t digits = line.size() - std::min(line.size(), line.find_last_not_of("0123456789") + 1);
  const char before = digits < line.size() ? line[line.size() - digits - 1] : ' ';
  return digits == 0 ? before != '.' && before != 'e' && before != '+' && before != '-'
                     : digits >= 2 && (before == '+' || before == '-');
}

/// Standard deviation of a number that was rounded to the digits of this text: of a uniform error.
double rounding_sd(const std::string& text) {
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), exponent_at);
  const double decimals = static_cast<double>(exponent_at - std::min(point + 1, exponent_at));
  const double exponent = exponent_at < text.size() ? std::atof(text.c_str() + exponent_at + 1) : 0;
  return std::pow(10, exponent - decimals) / std::sqrt(12.0);
}

/// "HPL_pdgesv() start time Thu Oct 22 11:08:23 2020"
std::optional<double> start_time(const std::string& line) {
  const std::string begin = "HPL_pdgesv() start time ";
  std::tm parts{};
  if (!begins_with(line, begin) || strptime(line.c_str() + begin.size(), "%a %b %d %H:%M:%S %Y", &parts) == nullptr)
    return std::nullopt;
  return static_cast<double>(timegm(&parts));
}

bool says_left(const std::string& line) {
  return line.find("N_left=") != std::string::npos;
}

}  // namespace

bool has_hpl_progress(const std::string& line) {
  return line.find("Column=") != std::string::npos || says_left(line);
}

HplLogReader::Found HplLogReader::take(std::string line) {
  ++line_;
  read_line(TextStream(line), line, name_);
  if (has_hpl_progress(line)) return take_progress(line);
  const bool is_residual = begins_with(line, "||Ax-b||_oo/"), is_result = has_hpl_results(line);
  if (is_result) {
    result_ = line + "\n";
    ++ended_;
  } else if (run_.result && (is_residual || begins_with(line, "hplcast: time_s="))) {
    result_ += line + "\n";
  } else {
    if (run_.result && !run_.started_unix_s) run_.started_unix_s = start_time(line);
    if (begins_with(line, "End of Tests")) return Found::end;
    if (line.find("Memory allocation failed for A, x and b. Skip.") != std::string::npos) ++ended_;
    if (begins_with(line, "HPLinpack ")) {
      run_ = {};
      ended_ = 0;
    }
    header_.read(line);
    return Found::nothing;
  }
  const std::vector<HplRun> runs = read_hpl_output_below(header_, TextStream(result_), name_, run_.parameters, line_);
  if (is_result && run_.result) run_ = {};
  run_.result = runs.at(0);
  run_.parameters = run_.result->parameters;
  return is_result ? Found::result : is_residual ? Found::residual : Found::nothing;
}

HplLogReader::Found HplLogReader::take_progress(const std::string& line) {
  if (run_.result || run_.progress.empty()) {
    run_ = {};
    std::size_t rounds = ended_;  // of HPL_pddriver's loops, the innermost first; P and Q have one
    for (const char* name : {"NDIV", "NBMIN", "PFACT", "RFACT", "BCAST", "DEPTH", "NB", "N", "Q", "P"}) {
      const std::vector<long long>& list = header_.values[name];
      if (list.empty()) continue;
      find_hpl_field(name)->set(run_.parameters, list[rounds % list.size()]);
      if (*name != 'Q') rounds /= list.size();
    }
    run_.has_grid = !header_.values["P"].empty() && !header_.values["Q"].empty();
    if (given_N_ > 0) run_.parameters.N = given_N_;
    if (run_.parameters.NB < 1 || run_.parameters.P < 1 || run_.parameters.Q < 1)
      throw ParseError({name_, line_, ""},
                       "HPL's header above has " + to_string(run_.parameters) + "; expected NB, P and Q of at least 1");
    const std::size_t sizes = header_.values["N"].size();
    if (sizes != 1 && given_N_ == 0)
      throw ParseError({name_, line_, "N"},
                       sizes == 0 ? "progress of a run whose N is not known: HPL's header is missing above"
                                  : "HPL's header has several N: which one runs, progress does not tell",
                       "give it: -N");
  }
  const double N = static_cast<double>(run_.parameters.N);
  const bool is_left = says_left(line), is_mega = line.find("Mflops=") != std::string::npos;
  const std::string column = value_behind(line, is_left ? "N_left=" : "Column=");
  const std::string rate = value_behind(line, is_left ? "GF=" : is_mega ? "Mflops=" : "Gflops=");
  HplProgress progress;
  double printed_rate = 0;
  if (!parse_double(column, progress.column) || !parse_double(rate, printed_rate) || !(printed_rate > 1e-9))
    throw ParseError({name_, line_, "Column"}, "found \"" + line.substr(0, 100) + "\"",
                     "expected Column=NUMBER ... Gflops=NUMBER or Mflops=NUMBER, or N_left=NUMBER ... GF=NUMBER");
  if (is_left) progress.column = N - progress.column;
  // Before the first columns, or as a summary at the end: nothing new.
  if (is_left && progress.column == (run_.progress.empty() ? 0 : run_.progress.back().column)) return Found::nothing;
  if (!(progress.column > 0 && progress.column <= N))
    throw ParseError(
        {name_, line_, "Column"},
        "column " + (is_left ? printed("%.0f", progress.column) : column) + " of a matrix of " + printed("%.0f", N),
        "is the header that of another run, or -N mistyped?");
  if (!run_.progress.empty() && progress.column <= run_.progress.back().column)
    throw ParseError({name_, line_, "Column"},
                     "progress goes back from column " + printed("%.0f", run_.progress.back().column) + " to " + column,
                     "are these two runs that write into one file?");
  const double left = N - progress.column;
  progress.elapsed_s = 2.0 / 3.0 * (N * N * N - left * left * left) / (printed_rate * (is_mega ? 1e6 : 1e9));
  progress.elapsed_error_s = progress.elapsed_s * rounding_sd(rate) / printed_rate;
  run_.progress.push_back(progress);
  return Found::progress;
}

std::vector<HplLog> read_hpl_logs(std::istream& in, const std::string& name) {
  std::vector<HplLog> runs;
  HplLogReader reader(name);
  for (std::string line; read_line(in, line, name);) {
    // A run that was cut, or still writes, ends within a line, which may lack a part of its last number.
    const bool is_cut = has_hpl_progress(line) || !reader.run().progress.empty() || !ends_with_whole_number(line) ||
                        (begins_with(line, "||Ax-b||") && line.find("ED") == std::string::npos);  // PASSED, FAILED
    if (in.eof() && is_cut) break;
    const auto found = reader.take(line);
    const bool has_begun = !runs.empty() && (reader.run().result || !reader.run().progress.empty());
    if ((found == HplLogReader::Found::progress && reader.run().progress.size() == 1) ||
        (found == HplLogReader::Found::result && reader.run().progress.empty())) {
      runs.push_back(reader.run());
    } else if (has_begun) {
      runs.back() = reader.run();
    }
  }
  if (runs.empty()) throw ParseError({name, 0, ""}, "no run of HPL in it", "expected what HPL prints, with its W line");
  return runs;
}

}  // namespace hplcast::core
