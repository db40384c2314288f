#pragma once

#include <array>
#include <istream>
#include <optional>
#include <string>

namespace hplcast::core {

/// What HPL_pdinfo.c has of HPL.dat at any moment: a buffer that fgets fills line by line, and the last word that
/// sscanf took out of it. Both keep what they had where there is nothing new: at the end of the file the buffer keeps
/// the last line, and behind a short line lies the end of a longer one before.
class HplLines {
 public:
  /// `name`: of the file, for messages. `in` must outlive this.
  HplLines(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  /// fgets(line, HPL_LINE_MAX - 2, file). `field`: for messages.
  void next(const char* field);
  /// The same into another buffer, which nothing is read from.
  void skip_into_other_buffer();
  /// sscanf(line + begin, "%s", num): the word there, or the last one if there is none.
  /// @throws ParseError if HPL would look at memory that holds nothing of the file.
  const std::string& word(std::size_t begin);
  /// The same where the word is not used: false if there is none, and none was before.
  bool scan(std::size_t begin);

  const std::string& text() const { return text_; }  ///< of the current line, without its end
  std::size_t number() const { return number_; }     ///< of the current line, from 1
  bool ended() const { return ended_; }              ///< the file ended before the current line
  bool cut() const { return cut_; }                  ///< the current line goes on in the next one

  static constexpr std::size_t most_read = 253;  ///< characters of a line that HPL reads at once

 private:
  std::string read();
  char at(std::size_t position) const;
  [[noreturn]] void fail(const char* what) const;

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

}  // namespace hplcast::core
