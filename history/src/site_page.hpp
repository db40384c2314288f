#pragma once

#include <string>
#include <vector>

namespace hplcast::history {

/// A page around its content.
std::string site_page(const std::string& title, const std::string& content);

/// A table; cells are HTML already.
std::string html_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows);

std::string link(const std::string& target, const std::string& text);

/// Part of a file's name: letters, digits, "-", ".", "_"; others become "_".
std::string file_part(const std::string& text);

}  // namespace hplcast::history
