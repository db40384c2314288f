#include <filesystem>
#include <iostream>
#include <memory>

#include "history_logs.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/history/site.hpp"
#include "program.hpp"

namespace hplcast::cli {

namespace {

struct SiteOptions {
  std::string database, folder;
  history::CheckOptions check;
};

void run_site(const SiteOptions& options) {
  if (std::filesystem::exists(options.folder) && !std::filesystem::is_directory(options.folder))
    throw core::Error(core::ExitCode::bad_input, options.folder + " is a file; expected a folder for the pages");
  const history::HistoryDatabase database(options.database, history::HistoryDatabase::Access::read);
  const history::SiteSize size = write_site(database, options.check, options.folder);
  std::cerr << size.pages << " pages, the largest of " << (size.largest_bytes + 1023) / 1024 << " KiB; begin with "
            << (std::filesystem::path(options.folder) / "index.html").string() << '\n';
}

}  // namespace

void setup_history_site(CLI::App& group) {
  const auto options = std::make_shared<SiteOptions>();
  CLI::App& command =
      add_command(group, "site", "Write a history as static pages: what needs attention, all hosts over time",
                  "hplcast history site watch.db -o site");
  command.add_option("history", options->database, "database of `hplcast history`")->required()->type_name("FILE");
  command.add_option("-o,--output", options->folder, "folder for the pages; made if it is missing")
      ->required()
      ->type_name("DIR");
  command.add_option("--cluster", options->check.cluster, "only this one (all)");
  command.add_option("--factors", options->check.factors, "only these (docs/use/history.md)");
  command.callback([options] { run_site(*options); });
}

}  // namespace hplcast::cli
