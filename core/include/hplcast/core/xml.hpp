#pragma once

#include <string>

namespace hplcast::core {

/// Text as it may stand in XML, HTML and SVG, also inside quoted attributes.
std::string xml_escaped(const std::string& text);

}  // namespace hplcast::core
