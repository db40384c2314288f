#pragma once

#include <filesystem>
#include <string>

#include "hplcast/core/process.hpp"

namespace hplcast::test {

/// Shows a page in a Chromium without a window; in the output is the document as it was then, and what went wrong.
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
  if (result.output.find("<title>") == std::string::npos) {  // newer ones have one headless mode only
    command.arguments.front() = "--headless";
    result = core::run(command);
  }
  return result;
}

}  // namespace hplcast::test
