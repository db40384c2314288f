#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Names that a user may have mistyped: of keys, columns, options.
namespace hplcast::core {

/// Without blanks at its ends, in lower case: what two spellings of one name have in common.
std::string folded(std::string_view name);

/// The one of `names` that is nearest to `name` (letters inserted, left out, replaced or swapped; case does not count);
/// empty if none is near enough to be meant: at most a third of the letters may differ.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

/// A hint for a name that is not known: "did you mean `x`?", or the list of all names.
std::string name_hint(std::string_view name, const std::vector<std::string>& names);

}  // namespace hplcast::core
