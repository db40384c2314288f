// What findings have to do with each other, and with what earlier checks have told.
#include "finding_events.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace hplcast::history {

namespace {

bool have_one_cause(const HistoryFinding& a, const HistoryFinding& b) {
  const bool same_place = a.cluster == b.cluster && a.place.host == b.place.host &&
                          (a.place.cpu == b.place.cpu || a.place.cpu < 0 || b.place.cpu < 0);
  return same_place && a.factor != b.factor && a.finding.open == b.finding.open &&
         std::abs(a.finding.since_s - b.finding.since_s) <= 7 * fit::day_s;
}

Verdict verdict_of(const HistoryFinding& one, std::int64_t told_s) {
  const fit::Finding& finding = one.finding;
  return {told_s,
          {one.cluster, one.place.host, one.place.cpu},
          one.factor,
          finding.since_s,
          finding.last_s,
          finding.effect,
          finding.effect_error,
          finding.probability};
}

Verdict verdict_of(const MissingHost& one, std::int64_t told_s) {
  return {told_s, {one.cluster, one.host, -1}, Verdict::missing, one.answered_s, one.answered_s, 0, 0, 0};
}

/// The same thing, seen by another check: since then it may have grown, or its beginning be seen better.
bool is_of(const Verdict& a, const Verdict& b) {
  return a.place == b.place && a.factor == b.factor && a.since_s <= b.last_s && b.since_s <= a.last_s &&
         (a.effect < 0) == (b.effect < 0);
}

}  // namespace

std::string probability_text(double probability) {
  if (probability < 1e-99) return "< 1e-99";
  char text[16];
  std::snprintf(text, sizeof text, "%.0e", probability);
  return text;
}

std::string effect_text(double effect) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * effect);
  return text;
}

std::size_t HistoryCheck::open() const {
  return missing.size() + static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                                 [](const auto& one) { return one.finding.open; }));
}

std::vector<FindingEvent> HistoryCheck::events() const {
  std::vector<FindingEvent> events;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto same = std::find_if(events.begin(), events.end(), [&](const FindingEvent& event) {
      return have_one_cause(findings[event.first], findings[i]);
    });
    if (same == events.end()) {
      events.push_back({i, {}});
    } else {
      same->also.push_back(i);
    }
  }
  return events;
}

std::vector<std::string> also_texts(const HistoryCheck& check, const FindingEvent& event) {
  std::vector<std::string> texts;
  for (const std::size_t index : event.also) {
    const HistoryFinding& one = check.findings[index];
    std::string text = one.factor + " " + effect_text(one.finding.effect);
    const int cpu = check.findings[event.first].place.cpu;
    if (one.place.cpu != cpu) text += one.place.cpu < 0 ? " (host)" : " (CPU " + std::to_string(one.place.cpu) + ")";
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<Verdict> HistoryCheck::verdicts() const {
  std::vector<Verdict> result;
  for (const HistoryFinding& one : findings)
    if (one.finding.open) result.push_back(verdict_of(one, newest_s.value_or(0)));
  for (const MissingHost& one : missing) result.push_back(verdict_of(one, newest_s.value_or(0)));
  return result;
}

void add_told(const std::vector<Verdict>& verdicts, HistoryCheck& check) {
  const std::int64_t now_s = check.newest_s.value_or(0);
  const auto told = [&](const Verdict& what) -> std::optional<std::int64_t> {
    for (const Verdict& one : verdicts)  // earlier ones first
      if (one.told_s <= now_s && is_of(one, what)) return one.told_s;
    return std::nullopt;
  };
  for (HistoryFinding& one : check.findings) one.told_s = told(verdict_of(one, now_s));
  for (MissingHost& one : check.missing) one.told_s = told(verdict_of(one, now_s));
}

}  // namespace hplcast::history
