#pragma once

#include <iosfwd>
#include <string>

namespace hplcast::core {

/// Every JSON that hplcast reads from a file is looked at here before a tree is made of it. @throws ParseError with the
/// line of a syntax error, and for more than 100 levels, or a key that an object has twice (with its path: the tree
/// would keep one of both without a word).
void check_json(const std::string& text, const std::string& name);

/// The text of a stream, which check_json() has looked at. @throws ParseError also for more than 256 MiB.
std::string read_json_text(std::istream& in, const std::string& name);

}  // namespace hplcast::core
