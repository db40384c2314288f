#include "campaign_writer.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>

#include "database_state.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/fit/common_factor.hpp"

namespace hplcast::history {

namespace {

using fit::day_s;

void refuse_wrong_times(const CampaignRecord& campaign, std::int64_t now) {
  constexpr std::int64_t year_2000_s = 946684800;
  if (campaign.end_s < campaign.start_s) {
    throw core::Error(core::ExitCode::bad_input, "the campaign ended " +
                                                     std::to_string(campaign.start_s - campaign.end_s) +
                                                     " s before it began: the clock went back while it ran");
  }
  if (campaign.start_s < year_2000_s || campaign.end_s > now + day_s) {
    throw core::Error(core::ExitCode::bad_input, "the campaign is of " + date_text(campaign.start_s) + " to " +
                                                     date_text(campaign.end_s) +
                                                     "; expected a time in the past, since 2000: the clock was wrong");
  }
}

}  // namespace

CampaignWriter::CampaignWriter(SQLite::Database& database, std::int64_t source)
    : database_(database),
      source_(source),
      now_(std::time(nullptr)),
      observation_(database, "INSERT INTO observations VALUES (?, ?, ?, ?, ?)"),
      at_that_time_(database, "SELECT campaign FROM observations WHERE factor = ? AND place = ? AND time_s = ?") {
  SQLite::Statement places(database, "SELECT id, cluster, host, cpu FROM places");
  while (places.executeStep())
    places_[{places.getColumn(1).getString(), places.getColumn(2).getString(), places.getColumn(3).getInt()}] =
        places.getColumn(0).getInt64();
  SQLite::Statement factors(database, "SELECT id, name FROM factors");
  while (factors.executeStep()) factors_[factors.getColumn(1).getString()] = factors.getColumn(0).getInt64();
}

void CampaignWriter::add(const CampaignRecord& campaign) {
  refuse_wrong_times(campaign, now_);
  if (campaign.end_s > campaign.start_s) refuse_overlap(campaign);
  const std::string protocol = core::sha256_hex(campaign.protocol);
  execute(database_, "INSERT OR IGNORE INTO protocols VALUES (?, ?)", protocol, campaign.protocol);
  execute(database_, "INSERT INTO campaigns(source, job, cluster, start_s, end_s, protocol) VALUES (?, ?, ?, ?, ?, ?)",
          source_, campaign.job, campaign.cluster, campaign.start_s, campaign.end_s, protocol);
  const std::int64_t id = database_.getLastInsertRowid();
  if (!campaign.cluster_json.empty()) execute(database_, "INSERT INTO models VALUES (?, ?)", id, campaign.cluster_json);
  std::set<std::string> answered;
  for (const Observation& one : campaign.observations) {
    add(one, id);
    answered.insert(one.place.host);
  }
  for (const std::string& host : std::set<std::string>(campaign.hosts.begin(), campaign.hosts.end()))
    execute(database_, "INSERT INTO hosts VALUES (?, ?, ?)", id, host, answered.count(host) > 0 ? 1 : 0);
}

/// A host cannot be measured twice at once.
void CampaignWriter::refuse_overlap(const CampaignRecord& campaign) {
  SQLite::Statement query(
      database_,
      "SELECT h.host, c.start_s, s.name, s.id, c.job FROM campaigns c JOIN hosts h ON h.campaign = c.id "
      "JOIN sources s ON s.id = c.source WHERE c.cluster = ? AND c.start_s < ? AND c.end_s > ? "
      "AND c.end_s > c.start_s");
  SQLite::bind(query, campaign.cluster, campaign.end_s, campaign.start_s);
  while (query.executeStep()) {
    const std::string host = query.getColumn(0).getString();
    if (std::find(campaign.hosts.begin(), campaign.hosts.end(), host) == campaign.hosts.end()) continue;
    throw core::Error(core::ExitCode::bad_input,
                      "host " + host + " was measured by another campaign at that time (" +
                          query.getColumn(2).getString() + ", " + date_text(query.getColumn(1).getInt64()) +
                          ")\n  hint: two campaigns at once disturb each other; keep one of them");
  }
}

void CampaignWriter::add(const Observation& one, std::int64_t campaign) {
  if (!std::isfinite(one.value)) throw core::DomainError(one.factor, one.value, "a finite number");
  if (one.time_s > now_ + day_s)
    throw core::Error(core::ExitCode::bad_input, to_string(one.place) + " was measured on " + date_text(one.time_s) +
                                                     ", in the future: the clock was wrong");
  const std::int64_t factor = id_of_factor(one.factor), place = id_of_place(one.place);
  SQLite::bind(at_that_time_, factor, place, one.time_s);
  const bool taken = at_that_time_.executeStep();
  at_that_time_.reset();
  if (taken) {
    throw core::Error(core::ExitCode::bad_input, to_string(one.place) + " has two values of " + one.factor + " at " +
                                                     std::to_string(one.time_s) + " s (" + date_text(one.time_s) +
                                                     "): two campaigns at one time");
  }
  SQLite::bind(observation_, factor, place, one.time_s, campaign, one.value);
  observation_.exec();
  observation_.reset();
}

std::int64_t CampaignWriter::id_of_factor(const std::string& name) {
  const auto [entry, is_new] = factors_.emplace(name, 0);
  if (is_new) {
    execute(database_, "INSERT INTO factors(name) VALUES (?)", name);
    entry->second = database_.getLastInsertRowid();
  }
  return entry->second;
}

std::int64_t CampaignWriter::id_of_place(const Place& place) {
  const auto [entry, is_new] = places_.emplace(place, 0);
  if (is_new) {
    execute(database_, "INSERT INTO places(cluster, host, cpu) VALUES (?, ?, ?)", place.cluster, place.host, place.cpu);
    entry->second = database_.getLastInsertRowid();
  }
  return entry->second;
}

}  // namespace hplcast::history
