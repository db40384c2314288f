// HPL.dat, read as HPL_pdinfo.c reads it.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::core {

namespace {

/// isspace of the C locale: what %s stops at.
bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// State of HPL_pdinfo.c while it reads HPL.dat: a buffer that fgets fills line by line, and the last word that
/// sscanf took out of it. Both keep what they had where there is nothing new: at the end of the file the buffer keeps
/// the last line, and behind a short line lies the end of a longer one before.
class HplLines {
 public:
  /// `name`: of the file, for messages. `in` must outlive this.
  HplLines(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  /// fgets(line, HPL_LINE_MAX - 2, file). `field`: for messages.
  void next(const char* field) {
    field_ = field;
    const std::string line = read();
    ended_ = line.empty();
    if (ended_) return;
    std::copy(line.begin(), line.end(), buffer_.begin());
    buffer_[line.size()] = '\0';
    written_ = std::max(written_, line.size() + 1);
    text_ = line.substr(0, line.find_last_not_of("\r\n") + 1);
  }

  /// The next line as fgets would store it, with its end but without the final NUL; empty at the end of the file. No
  /// word is taken from it.
  std::string read() {
    std::string line;
    char c = 0;
    while (line.size() < most_read && in_.get(c)) {
      line += c;
      if (c == '\n') break;
    }
    const bool begins_a_line = !cut_;
    if (!line.empty() && begins_a_line) ++number_;
    cut_ = line.size() == most_read && line.back() != '\n' && in_.peek() != std::istream::traits_type::eof();
    return line;
  }

  /// sscanf(line + begin, "%s", num): the word there, or the last one if there is none.
  /// @throws ParseError if HPL would look at memory that holds nothing of the file.
  const std::string& word(std::size_t begin) {
    if (!scan(begin)) fail("no value here or before; HPL would use memory that holds nothing of the file");
    return *word_;
  }

  /// The same where the word is not used: false if there is none, and none was before.
  bool scan(std::size_t begin) {
    while (is_space(at(begin))) ++begin;
    std::string found;
    for (std::size_t i = begin; at(i) != '\0' && !is_space(at(i)); ++i) found += at(i);
    if (!found.empty()) word_ = found;
    return word_.has_value();
  }

  const std::string& text() const { return text_; }  ///< of the current line, without its end
  std::size_t number() const { return number_; }     ///< of the current line, from 1
  bool ended() const { return ended_; }              ///< the file ended before the current line
  bool cut() const { return cut_; }                  ///< the current line goes on in the next one

  static constexpr std::size_t most_read = 253;  ///< characters of a line that HPL reads at once

 private:
  char at(std::size_t position) const {
    if (position >= size)
      fail("HPL would read behind the end of its line: the line has fewer values than its count says");
    if (position >= written_) {
      fail(written_ == 0 ? "the file is empty"
                         : "the line has fewer values than its count says, and HPL would read memory behind it that "
                           "holds nothing of the file");
    }
    return buffer_[position];
  }

  [[noreturn]] void fail(const char* what) const {
    throw ParseError({name_, std::max<std::size_t>(number_, 1), field_}, what);
  }

  static constexpr std::size_t size = 256;  ///< HPL_LINE_MAX
  std::istream& in_;
  std::string name_;
  std::string field_;
  std::array<char, size> buffer_{};
  std::size_t written_ = 0;  ///< bytes of the buffer that were ever written
  std::optional<std::string> word_;
  std::string text_;
  std::size_t number_ = 0;
  bool ended_ = false;
  bool cut_ = false;
};

constexpr long long max_values = 20;  // HPL_MAX_PARAM

/// Whether people would read a word as the number that HPL reads.
bool plainly(const std::string& word, long long value) {
  double number = 0;
  const bool digits = word.find_first_not_of("+-0123456789") == std::string::npos;
  return digits && parse_double(word[0] == '+' ? word.substr(1) : word, number) && number == static_cast<double>(value);
}

/// HPL.dat line by line: HPL's values, and warnings where they are not those that people would read.
class DatReader {
 public:
  DatReader(std::istream& in, std::string name) : name_(std::move(name)), lines_(in, name_) {}

  /// The next line, which HPL skips if nothing is read from it.
  void next(const char* field) {
    lines_.next(field);
    field_ = field;
    if (lines_.ended() && !told_end_) {
      told_end_ = true;
      warn("the file has ended: from here on HPL reads its last line, \"" + line() + "\", again and again");
    }
    warn_if_cut();
  }

  /// A line that HPL reads a word from, and does not use here.
  void skip_word(const char* field) {
    next(field);
    lines_.scan(0);
  }

  /// The second line: HPL reads it into another buffer.
  void skip_other_buffer() {
    lines_.read();
    field_ = "comment";
    warn_if_cut();
  }

  std::vector<long long> values(const char* field, std::size_t count) {
    next(field);
    std::vector<long long> result;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& word = lines_.word(begin);
      begin += word.size() + 1;
      // As atoi: of what is no number 0, and of a long number some of its bits.
      result.push_back(static_cast<int>(std::strtol(word.c_str(), nullptr, 10)));
    }
    warn_if_surprising(result);
    return result;
  }

  std::size_t count(const char* field) {
    const long long number = values(field, 1).front();
    if (number < 1 || number > max_values) {
      throw ParseError(
          here(),
          "a count of " + std::to_string(number) + ", read from \"" + line() + "\"; HPL takes 1 to 20" + told_before(),
          field_ == "N" ? "a CSV begins with names between commas, such as N,NB,P,Q" : "");
    }
    return static_cast<std::size_t>(number);
  }

  /// The values of a parameter: what HPL does not take it replaces, or refuses. @throws ParseError
  std::vector<long long> list(const char* field, std::size_t count) {
    static const std::map<std::string, long long> replacements = {
        {"PMAP", 0},           {"PFACT", 2}, {"RFACT", 2}, {"BCAST", 1}, {"SWAP", 1},
        {"swap_threshold", 0}, {"L1", 0},    {"U", 0},     {"EQUIL", 1}, {"ALIGN", 4}};
    const HplField& limits = *find_hpl_field(field);
    const auto replacement = replacements.find(field);
    std::vector<long long> found = values(field, count);
    for (long long& value : found) {
      if (value >= limits.least && value <= limits.most()) continue;
      if (replacement == replacements.end()) {
        throw ParseError(here(), "`" + std::string(field) + "` is " + std::to_string(value) + ", read from \"" +
                                     line() + "\"; expected at least " + std::to_string(limits.least) + told_before());
      }
      warn("HPL replaces " + std::to_string(value) + " by " + std::to_string(replacement->second));
      value = replacement->second;
    }
    return found;
  }

  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Location here() const { return {name_, lines_.number(), field_}; }

  /// The current line, for messages; of a file that ended, the line that HPL reads again.
  std::string line() const { return lines_.text().substr(0, 80); }

  void warn_if_cut() {
    if (!lines_.cut()) return;
    warn("a line longer than " + std::to_string(HplLines::most_read) +
         " characters: HPL takes the rest of it for the next line");
  }

  void warn_if_surprising(const std::vector<long long>& values) {
    if (lines_.ended()) return;  // told
    std::istringstream words(lines_.text());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::string word;
      words >> word;
      if (!word.empty() && plainly(word, values[i])) continue;
      warn("HPL reads " + std::to_string(values[i]) + " as value " + std::to_string(i + 1) + " of " +
           std::to_string(values.size()) +
           (word.empty() ? ", but there is none in \"" : ", not " + word + ", from \"") + line() + '"');
      return;
    }
  }

  void warn(const std::string& what) {
    warnings_.push_back(name_ + ":" + std::to_string(lines_.number()) + ", field `" + field_ + "`: " + what);
  }

  /// An error is often the consequence of what was found odd before.
  std::string told_before() const { return warnings_.empty() ? "" : "\n  before: " + warnings_.back(); }

  std::string name_;
  HplLines lines_;
  std::string field_;
  bool told_end_ = false;
  std::vector<std::string> warnings_;
};

/// The values of each parameter.
using DatLists = std::map<std::string, std::vector<long long>>;

/// Parameters that HPL takes one value of.
constexpr std::array single_values = {"PMAP", "SWAP", "swap_threshold", "L1", "U", "EQUIL", "ALIGN"};

// In the order of HPL_pdinfo.c.
DatLists read_lists(DatReader& dat) {
  DatLists lists;
  const auto read_list = [&](const char* field) {
    const std::size_t count = dat.count(field);
    lists[field] = dat.list(field, count);
  };
  dat.next("title");
  dat.skip_other_buffer();
  dat.next("output file");
  dat.skip_word("device out");
  for (const char* field : {"N", "NB"}) read_list(field);
  lists["PMAP"] = dat.list("PMAP", 1);
  read_list("P");
  lists["Q"] = dat.list("Q", lists["P"].size());
  for (std::size_t i = 0; i < lists["P"].size(); ++i) {
    const long long P = lists["P"][i], Q = lists["Q"][i];
    require(P * Q <= 2147483647, "P x Q", std::to_string(P) + " x " + std::to_string(Q), "below 2^31 ranks");
  }
  dat.skip_word("threshold");
  for (const char* field : {"PFACT", "NBMIN", "NDIV", "RFACT", "BCAST", "DEPTH"}) read_list(field);
  for (const char* field : single_values)
    if (lists.count(field) == 0) lists[field] = dat.list(field, 1);
  return lists;
}

/// Replaces every configuration by one for each value, later lists varying faster.
void cross(std::vector<HplParameters>& configurations, const std::vector<long long>& values, const HplField& field) {
  std::vector<HplParameters> crossed;
  for (const HplParameters& configuration : configurations) {
    for (const long long value : values) {
      crossed.push_back(configuration);
      field.set(crossed.back(), value);
    }
  }
  configurations = std::move(crossed);
}

void refuse_too_many(const DatLists& lists, const std::string& name) {
  double product = 1;
  for (const auto& [field, values] : lists)
    if (field != "Q") product *= static_cast<double>(values.size());  // grids are pairs
  if (product <= static_cast<double>(hpl_dat_most_configurations)) return;
  throw ParseError({name, 0, ""},
                   "its lists give " + shortest(product) + " configurations; hplcast takes at most " +
                       std::to_string(hpl_dat_most_configurations),
                   "shorten the lists, or write the configurations that matter into a CSV");
}

}  // namespace

std::vector<HplParameters> read_hpl_dat(std::istream& in, const std::string& name, std::vector<std::string>* warnings) {
  DatReader dat(in, name);
  const DatLists lists = read_lists(dat);
  if (warnings != nullptr) *warnings = dat.warnings();
  refuse_too_many(lists, name);
  HplParameters base;
  for (const char* field : single_values) find_hpl_field(field)->set(base, lists.at(field).front());
  std::vector<HplParameters> all;
  for (std::size_t grid = 0; grid < lists.at("P").size(); ++grid) {
    base.P = static_cast<int>(lists.at("P")[grid]);
    base.Q = static_cast<int>(lists.at("Q")[grid]);
    std::vector<HplParameters> of_grid = {base};
    // The order of the loops in HPL_pddriver.
    for (const char* field : {"N", "NB", "DEPTH", "BCAST", "RFACT", "PFACT", "NBMIN", "NDIV"})
      cross(of_grid, lists.at(field), *find_hpl_field(field));
    all.insert(all.end(), of_grid.begin(), of_grid.end());
  }
  return all;
}

void write_hpl_dat(std::ostream& out, const HplParameters& p, bool check) {
  const auto list_of_one = [&](const char* what, long long value, const char* name) {
    out << "1 # of " << what << '\n' << value << ' ' << name << '\n';
  };
  out << "HPLinpack benchmark input file\n"
      << "written by hplcast\n"
      << "HPL.out output file name (unused)\n"
      << "6 device out (6=stdout,7=stderr,file)\n";
  list_of_one("problem sizes (N)", p.N, "Ns");
  list_of_one("NBs", p.NB, "NBs");
  out << p.PMAP << " PMAP process mapping (0=Row-,1=Column-major)\n";
  list_of_one("process grids (P x Q)", p.P, "Ps");
  out << p.Q << " Qs\n" << (check ? "16.0" : "-1.0") << " threshold\n";
  list_of_one("panel fact", p.PFACT, "PFACTs (0=left, 1=Crout, 2=Right)");
  list_of_one("recursive stopping criteria", p.NBMIN, "NBMINs (>= 1)");
  list_of_one("panels in recursion", p.NDIV, "NDIVs");
  list_of_one("recursive panel facts", p.RFACT, "RFACTs (0=left, 1=Crout, 2=Right)");
  list_of_one("broadcasts", p.BCAST, "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)");
  list_of_one("lookahead depths", p.DEPTH, "DEPTHs (>=0)");
  out << p.SWAP << " SWAP (0=bin-exch,1=long,2=mix)\n"
      << p.swap_threshold << " swapping threshold\n"
      << p.L1 << " L1 in (0=transposed,1=no-transposed) form\n"
      << p.U << " U in (0=transposed,1=no-transposed) form\n"
      << p.EQUIL << " Equilibration (0=no,1=yes)\n"
      << p.ALIGN << " memory alignment in double (> 0)\n";
}

}  // namespace hplcast::core
