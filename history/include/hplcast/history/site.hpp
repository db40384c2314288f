#pragma once

#include <filesystem>

#include "hplcast/history/check.hpp"

namespace hplcast::history {

/// How many pages a site has, and how large the largest is.
struct SiteSize {
  std::size_t pages = 0;
  std::size_t largest_bytes = 0;
};

/// Writes a history as static pages into a folder, which is made if it is missing: what needs attention (index.html),
/// hosts over days per factor, and a page per host. No scripts, nothing from elsewhere; light or dark as the reader's
/// machine has it. @throws core::Error (bad_input) for an empty history or a folder that cannot be written.
SiteSize write_site(const HistoryDatabase& database, const CheckOptions& options, const std::filesystem::path& folder);

}  // namespace hplcast::history
