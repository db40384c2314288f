#include "hplcast/study/offer.hpp"

#include <unistd.h>

#include <cmath>
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "cli/support/progress.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::cli {

namespace {

struct OfferOptions {
  std::string offers, output, pdf, picture;
  bool json = false, simulate = false;
};

study::OfferedMachine machine_of_logs(const study::Offer& offer) {
  study::LogMachine machine;
  machine.name = offer.name;
  machine.nodes = offer.machine.nodes;
  machine.memory_bytes = offer.machine.memory_bytes;
  double threads = 1;
  constexpr double most_threads = 4096;
  if (!offer.machine.threads.empty() && !(core::parse_double(offer.machine.threads, threads) && threads >= 1 &&
                                          threads <= most_threads && threads == std::floor(threads)))
    throw core::ParseError(offer.where, "threads is `" + offer.machine.threads +
                                            "`; expected a whole number from 1 to 4096 beside `logs`");
  machine.threads = static_cast<int>(threads);
  read_log_files(offer.logs, offer.benchmarks, machine);
  const study::LogCluster fit = study::fit_logs(machine);
  for (const std::string& one : fit.unknown) tell(offer.name + ": not known: " + one);
  return study::machine_of_cluster(offer, fit.cluster, machine.logs.front().parameters.NB);
}

study::OfferedMachine machine_of(const study::Offer& offer) {
  if (offer.basis == study::OfferBasis::logs) return machine_of_logs(offer);
  if (offer.basis == study::OfferBasis::cluster) {
    core::ClusterModel cluster = read_cluster_file(offer.cluster);
    warn_about_quality(cluster);
    return study::machine_of_cluster(offer, std::move(cluster));
  }
  study::OfferedMachine machine = study::machine_of_numbers(offer);
  for (const core::QualityFlag& flag : core::implausible(machine.cluster))
    warn("offer " + offer.name + ", " + flag.subject + ": " + flag.detail);
  warn_of_idle_cores("offer " + offer.name + ": ", offer.machine, machine.cluster.hosts);
  return machine;
}

/// The best configuration of an offer on the simulator, most panels left out.
core::Prediction simulated(const study::OfferEstimate& estimate) {
  study::PredictionRequest request;
  request.cluster = estimate.cluster;
  request.parameters = estimate.prediction.parameters;
  request.observation.energy = estimate.cluster.power.has_value();
  const study::RunPlan plan = study::resolve(std::move(request));
  tell(estimate.offer.name + ": simulating " + core::to_string(plan.parameters()) + ", " +
       study::to_string(plan.needs()) + " (estimated)");
  Progress progress(plan.needs().wall_s);
  study::SimulationWatch watch;
  watch.on_progress = [&](const study::SimulationProgress& now) { progress.update(now.fraction, estimate.offer.name); };
  return study::predict(plan, watch);
}

/// Prints the page as a browser does.
void write_pdf(const fs::path& path, const study::OfferAnswer& answer) {
  fs::path browser;
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (browser.empty()) browser = core::find_program(name);
  if (browser.empty())
    throw core::ExternalError("chromium", -1, "it is not installed; apt-get install chromium, or print the page of -o");
  const core::TemporaryFolder folder("hplcast-offer");
  core::write_file(folder.path() / "page.html", [&](std::ostream& out) { study::write_offer_page(out, answer); });
  core::replace_file(path, [&](const fs::path& printed) {
    core::Command command{
        browser.string(),
        {"--headless", "--disable-gpu", "--no-pdf-header-footer",
         "--user-data-dir=" + (folder.path() / "browser").string(), "--print-to-pdf=" + fs::absolute(printed).string(),
         "file://" + (folder.path() / "page.html").string()}};
    if (geteuid() == 0) command.arguments.insert(command.arguments.begin(), "--no-sandbox");  // it refuses otherwise
    command.timeout_s = 120;
    command.purpose = "printing " + path.string();
    core::run_checked(command);
  });
}

void write_table(std::ostream& out, const study::OfferAnswer& answer) {
  const study::OfferQuestion& question = answer.question;
  const auto& all = answer.estimates;
  const auto any = [&](auto has) { return std::any_of(all.begin(), all.end(), has); };
  const bool promised = any([](const auto& one) { return one.keeps.has_value(); });
  const bool power = any([](const auto& one) { return one.watts.has_value(); });
  const std::string level = core::short_percent(question.level_percent / 100);
  std::vector<std::string> header = {"offer", "Gflop/s", level + " of runs"};
  if (promised) header.insert(header.end(), {"promised", "kept within " + core::short_percent(question.tolerance)});
  if (power) header.insert(header.end(), {"Gflop/s per W"});
  if (answer.by_price) header.push_back((question.currency.empty() ? "price" : question.currency) + " per Tflop/s");
  header.insert(header.end(), {"N", "NB", "P x Q"});
  TextTable table(header);
  for (const study::OfferEstimate& one : all) {
    const core::HplParameters& p = one.prediction.parameters;
    std::vector<std::string> row = {
        one.offer.name, core::readable(one.gflops()),
        core::readable(one.interval().low_gflops, 3) + " to " + core::readable(one.interval().high_gflops, 3)};
    if (promised)
      row.insert(row.end(), {one.keeps ? core::readable(*one.offer.committed_gflops) : "",
                             one.keeps ? study::chance_text(*one.keeps) : ""});
    if (power) row.push_back(one.watts ? core::readable(one.gflops() / *one.watts, 3) : "");
    if (answer.by_price) row.push_back(core::readable(one.price_per_tflops(), 3));
    row.insert(row.end(),
               {std::to_string(p.N), std::to_string(p.NB), std::to_string(p.P) + " x " + std::to_string(p.Q)});
    table.add(row);
  }
  table.write(out);
  out << '\n' << answer.verdict << '\n';
  if (is_quiet()) return;
  for (const std::string& reason : answer.reasons) out << "- " << reason << '\n';
}

void run_offer(const OfferOptions& options) {
  if (options.json && core::is_standard_stream(options.output))
    throw core::UsageError("--json and `-o -` would both write to the standard output");
  study::OfferQuestion question =
      read_from(options.offers, study::read_offers, fs::absolute(options.offers).parent_path());
  auto estimates = core::mapped(
      question.offers, [&](const study::Offer& one) { return study::estimate_offer(question, machine_of(one)); });
  core::catch_interrupts();  // from here on programs run; what computes alone may be ended at any moment
  if (options.simulate)
    for (study::OfferEstimate& one : estimates) study::take_simulation(question, simulated(one), one);
  const study::OfferAnswer answer = study::answer_offers(std::move(question), std::move(estimates));
  if (!options.output.empty())
    write_result(options.output, [&](std::ostream& out) { study::write_offer_page(out, answer); });
  if (options.json) {
    write_result("", [&](std::ostream& out) { study::write_offer_json(out, answer); });
  } else if (!core::is_standard_stream(options.output)) {
    write_table(std::cout, answer);
  }
  if (!options.picture.empty()) write_picture(options.picture, study::offer_picture(answer));
  if (!options.pdf.empty()) write_pdf(options.pdf, answer);
}

}  // namespace

void setup_offer(Command& app) {
  Command& command =
      add_command(app, "offer", "Compare offers: what they give, whether they keep their word, what it costs",
                  "hplcast offer examples/offers/offers.yaml -o offers.html");
  auto& options = command.runs<OfferOptions>(run_offer);
  command.add_option("offers", options.offers,
                     "two or more machines, described by a few numbers, a cluster.json, or logs of one node "
                     "(docs/formats/offers-yaml.md)",
                     required, reads("OFFERS.yaml"));
  command.add_flag("--simulate", options.simulate,
                   "simulate the best configuration of each offer, too, with most panels left out: some minutes");
  command.add_flag("--json", options.json, "write JSON (docs/formats/offers-yaml.md) instead of a table");
  command.add_option("-o,--output", options.output, "a page for those who decide, which prints to A4",
                     writes("PAGE.html"));
  command.add_option("--picture", options.picture, "its picture", draws("PICTURE.svg|png"));
  command.add_option("--pdf", options.pdf, "the same page as PDF, printed by chromium", writes("PAGE.pdf"), named_file);
}

}  // namespace hplcast::cli
