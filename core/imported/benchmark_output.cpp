#include "hplcast/core/imported.hpp"

#include <algorithm>
#include <istream>
#include <map>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

constexpr std::size_t no_column = std::string::npos;

struct Table {
  std::string source;              ///< empty: none that says something here
  std::string operation;           ///< pingpong or stream
  std::size_t column = no_column;  ///< of the value; no_column: its header was not there yet
  std::size_t rows = 0;
};

/// Everything that begins and ends tables.
class Reader {
 public:
  Reader(std::istream& in, const std::string& name, const std::string& scope) : in_(in), name_(name), scope_(scope) {}

  BenchmarkOutput read() {
    for (std::string line; read_line(in_, line, name_);) {
      ++number_;
      const std::vector<std::string> words = words_of(line);
      if (words.empty()) continue;
      if (words[0].front() == '#') {
        read_comment(line, words);
      } else if (!table_.source.empty() && std::isdigit(static_cast<unsigned char>(words[0].front())) != 0) {
        read_row(words);
      }
    }
    end_table();
    if (output_.rows.empty())
      throw ParseError({name_, 0, ""}, "no table of osu_latency, osu_bw or IMB PingPong in it",
                       "expected their output as they print it, with the lines that begin with #");
    return std::move(output_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    throw ParseError({name_, number_, ""}, what, hint);
  }

  void end_table() {
    if (!table_.source.empty() && table_.rows == 0) fail("the table of " + table_.source + " has no rows");
    table_ = {};
  }

  /// Lines with `#`: titles and headers of tables.
  void read_comment(const std::string& line, const std::vector<std::string>& words) {
    const auto is = [&](std::size_t index, const char* word) { return words.size() > index && words[index] == word; };
    if (is(1, "OSU") && line.find(" Test") != std::string::npos) {
      begin(line.substr(line.find("OSU"), line.find(" Test") - line.find("OSU")), " " + words.back());
    } else if (is(1, "Benchmarking")) {
      begin("IMB " + (words.size() > 2 ? words[2] : ""), "");
    } else if (is(0, "#bytes") && !table_.source.empty()) {
      find_imb_column(words);
    } else if (is(1, "Size") && !table_.source.empty()) {
      find_osu_column(line);
    }
  }

  /// "# OSU MPI Latency Test v5.9", "# Benchmarking PingPong": neither multi-threaded nor bidirectional ones.
  void begin(const std::string& title, const std::string& version) {
    static const std::map<std::string, Table> tables = {{"OSU MPI Latency", {"osu_latency", "pingpong"}},
                                                        {"OSU MPI Bandwidth", {"osu_bw", "stream"}},
                                                        {"IMB PingPong", {"IMB PingPong", "pingpong"}}};
    end_table();
    const auto known = tables.find(title);
    if (known == tables.end()) return output_.notes.push_back(title + " says nothing here: left out");
    table_ = known->second;
    table_.source += version;
  }

  /// "# Size          Latency (us)", in later versions "Avg Latency(us)": the first column after the size.
  void find_osu_column(const std::string& line) {
    const char* const unit = table_.operation == "stream" ? "(MB/s)" : "(us)";
    if (line.find(unit) == std::string::npos)
      fail("found `" + line + "`; expected a column in " + std::string(unit), "other units are not read");
    table_.column = 1;
  }

  void find_imb_column(const std::vector<std::string>& words) {
    const auto found = std::find(words.begin(), words.end(), "t[usec]");
    if (found == words.end()) fail("no column t[usec]", "expected the output of PingPong as IMB prints it");
    table_.column = static_cast<std::size_t>(found - words.begin());
  }

  void read_row(const std::vector<std::string>& words) {
    if (table_.column == no_column) fail("a row before the header of the table of " + table_.source);
    double bytes = 0, value = 0;
    if (words.size() <= table_.column || !parse_double(words[0], bytes) || bytes < 0 ||
        !parse_double(words[table_.column], value) || !(value > 0)) {
      // IMB prints bandwidths and times of 0 for what it did not run; a size that does not fit ends with words.
      fail("not a row of the table of " + table_.source + ": expected a size and a positive number");
    }
    constexpr double us = 1e-6, mb_per_s = 1e6;
    MpiMeasurement row;
    row.operation = table_.operation;
    row.scope = scope_;
    row.size_bytes = bytes;
    row.duration_s = table_.operation == "stream" ? bytes / (value * mb_per_s) : 2 * value * us;
    row.source = table_.source;
    ++table_.rows;
    if (row.duration_s > 0) output_.rows.push_back(std::move(row));
  }

  std::istream& in_;
  const std::string& name_;
  const std::string& scope_;
  std::size_t number_ = 0;
  Table table_;
  BenchmarkOutput output_;
};

}  // namespace

BenchmarkOutput read_benchmark_output(std::istream& in, const std::string& name, const std::string& scope) {
  const std::string text = read_text(in, name, "is this the output of a benchmark?", most_bytes_of_output);
  BenchmarkOutput output = Reader(TextStream(text), name, scope).read();
  if (text.back() != '\n') output.notes.emplace_back("the last line has no end: was the file cut off in a number?");
  return output;
}

}  // namespace hplcast::core
