#include "check_table.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/text.hpp"
#include "output.hpp"

namespace hplcast::cli {

namespace {

std::string where(const history::HistoryFinding& one, bool several_clusters) {
  const std::string name = one.place.host.empty() ? "all CPUs" : history::to_string(one.place);
  return several_clusters ? one.cluster + ": " + name : name;
}

bool has_several_clusters(const history::HistoryCheck& check) {
  return std::any_of(check.findings.begin(), check.findings.end(),
                     [&](const auto& one) { return one.cluster != check.findings.front().cluster; });
}

std::string nearest_text(const history::HistoryFinding& one) {
  if (!one.nearest) return "-";
  const double days = static_cast<double>(one.finding.since_s - one.nearest->time_s) / fit::day_s;
  const std::string when =
      days >= 0 ? core::shortest(std::floor(days)) + " d before" : core::shortest(std::floor(-days)) + " d after";
  constexpr std::size_t most = 40;
  std::string text = one.nearest->description;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text + " (" + history::date_text(one.nearest->time_s) + ", " + when + ")";
}

std::string against_text(const history::HistoryFinding& one) {
  if (one.place.host.empty()) return std::to_string(one.finding.also_cpus) + " CPUs";
  return one.finding.against == fit::Against::own ? "own runs" : "the others";
}

/// Whether all of an event was told before.
bool is_told(const history::HistoryCheck& check, const history::FindingEvent& event) {
  return check.findings[event.first].told_s && std::all_of(event.also.begin(), event.also.end(), [&](std::size_t one) {
           return check.findings[one].told_s.has_value();
         });
}

void write_missing(std::ostream& out, const history::MissingHost& one) {
  const std::string last = one.answered_s == 0 ? "never" : "last on " + history::date_text(one.answered_s);
  out << one.host
      << (one.did_not_come_back ? ": was to measure on " + history::date_text(one.asked_s) + " and gave no result ("
                                : ": takes no part any more (")
      << last << (one.told_s ? "; first told on " + history::date_text(*one.told_s) : "") << ")\n";
}

}  // namespace

void write_findings(std::ostream& out, const history::HistoryCheck& check, const ShownFindings& shown) {
  const bool any_told =
      std::any_of(check.findings.begin(), check.findings.end(), [](const auto& one) { return one.told_s.has_value(); });
  std::vector<std::string> header = {"where", "factor", "since",   "until",     "runs",          "effect",
                                     "+-",    "also",   "against", "by chance", "nearest change"};
  if (any_told) header.emplace_back("first told");
  TextTable table(std::move(header));
  std::size_t rows = 0;
  const bool several = has_several_clusters(check);
  for (const history::FindingEvent& event : check.events()) {
    const history::HistoryFinding& one = check.findings[event.first];
    const fit::Finding& finding = one.finding;
    if ((!finding.open && !shown.past) || (shown.only_new && is_told(check, event))) continue;
    ++rows;
    std::vector<std::string> row = {where(one, several),
                                    one.factor,
                                    history::date_text(finding.since_s),
                                    finding.open ? "now" : history::date_text(finding.last_s),
                                    std::to_string(finding.runs),
                                    signed_percent(finding.effect),
                                    percent(finding.effect_error),
                                    event.also.empty() ? "-" : core::comma_separated(also_texts(check, event)),
                                    against_text(one),
                                    history::probability_text(finding.probability),
                                    nearest_text(one)};
    if (any_told) row.push_back(one.told_s ? history::date_text(*one.told_s) : "-");
    table.add(std::move(row));
  }
  if (rows > 0) table.write(out);
  for (const history::MissingHost& one : check.missing) {
    if (shown.only_new && one.told_s) continue;
    write_missing(out, one);
    ++rows;
  }
  if (rows == 0) out << (shown.only_new && check.open() > 0 ? "nothing new\n" : "nothing found\n");
}

std::size_t count_events(const history::HistoryCheck& check, bool only_new) {
  std::size_t count = 0;
  for (const history::FindingEvent& event : check.events())
    if (check.findings[event.first].finding.open && !(only_new && is_told(check, event))) ++count;
  for (const history::MissingHost& one : check.missing)
    if (!(only_new && one.told_s)) ++count;
  return count;
}

}  // namespace hplcast::cli
