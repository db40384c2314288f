#pragma once

#include <filesystem>
#include <iostream>
#include <string>

#include "hplcast/core/process.hpp"

namespace hplcast::test {

/// Shows a page in a Chromium without a window; in the output is the document as it was then, and what went wrong. One
/// that shows nothing (it crashes at its start now and then) is started up to twice again, for all to see.
inline core::CommandResult shown_in_browser(const std::filesystem::path& chromium, const std::filesystem::path& folder,
                                            const std::string& file) {
  core::Command command;
  command.program = chromium.string();
  command.arguments = {"--headless=old",
                       "--no-sandbox",
                       "--disable-gpu",
                       "--disable-background-networking",
                       "--no-first-run",
                       "--disable-component-update",
                       "--user-data-dir=" + (folder / "profile").string(),
                       "--enable-logging=stderr",
                       "--dump-dom",
                       "file://" + (folder / file).string()};
  command.environment = {{"HOME", folder.string()}};
  command.timeout_s = 120;
  core::CommandResult result = core::run(command);
  constexpr int most_tries = 3;
  for (int tried = 1; tried < most_tries && result.output.find("<title>") == std::string::npos; ++tried) {
    std::cout << "Chromium showed nothing of " << file << " (status " << result.status << "); once more\n";
    command.arguments.front() = "--headless";  // newer ones have one headless mode only
    result = core::run(command);
  }
  return result;
}

}  // namespace hplcast::test
