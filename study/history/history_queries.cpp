// What is read from a history.
#include <limits>

#include "hplcast/study/history.hpp"
#include "study/history/history_tables.hpp"

namespace hplcast::study {

std::vector<std::string> HistoryDatabase::factors() const {
  return guarded(path_, [&] { return texts_of(*state_->database, "SELECT name FROM factors ORDER BY name"); });
}

std::vector<std::string> HistoryDatabase::clusters() const {
  return guarded(
      path_, [&] { return texts_of(*state_->database, "SELECT DISTINCT cluster FROM campaigns ORDER BY cluster"); });
}

std::vector<Place> HistoryDatabase::places() const {
  return guarded(path_, [&] {
    return rows_of<Place, 3>(*state_->database, "SELECT cluster, host, cpu FROM places ORDER BY cluster, host, cpu");
  });
}

std::vector<Change> HistoryDatabase::changes() const {
  return guarded(path_, [&] {
    return rows_of<Change, 5>(*state_->database,
                              "SELECT time_s, cluster, hosts, type, description FROM changes ORDER BY 1, 2, 3, 4, 5");
  });
}

std::vector<LoggedOutlier> HistoryDatabase::outliers() const {
  return guarded(path_, [&] {
    return rows_of<LoggedOutlier, 5>(
        *state_->database, "SELECT time_s, cluster, hosts, job, description FROM outliers ORDER BY 1, 2, 3, 4, 5");
  });
}

std::vector<Verdict> HistoryDatabase::verdicts() const {
  return guarded(path_, [&] {
    return rows_of<Verdict, 10>(*state_->database,
                                "SELECT told_s, cluster, host, cpu, factor, since_s, last_s, effect, effect_error, "
                                "probability FROM verdicts ORDER BY 1, 2, 3, 4, 5, 6");
  });
}

std::vector<StoredCampaign> HistoryDatabase::campaigns() const {
  return guarded(path_, [&] {
    return rows_of<StoredCampaign, 7>(
        *state_->database,
        "SELECT c.id, c.job, c.cluster, s.name, c.start_s, c.end_s, c.protocol FROM campaigns c JOIN "
        "sources s ON s.id = c.source ORDER BY c.start_s, c.id");
  });
}

std::string HistoryDatabase::protocol(const std::string& sha256) const {
  return guarded(path_, [&] {
    const auto found = texts_of(*state_->database, "SELECT json FROM protocols WHERE sha256 = ?", sha256);
    if (found.empty()) throw core::Error(core::ExitCode::bad_input, path_.string() + " has no protocol " + sha256);
    return found.front();
  });
}

std::map<std::string, HistoryDatabase::HostTimes> HistoryDatabase::host_times(const std::string& cluster) const {
  return guarded(path_, [&] {
    std::map<std::string, HostTimes> result;
    SQLite::Statement query(*state_->database,
                            "SELECT h.host, max(c.start_s), max(CASE WHEN h.answered THEN c.start_s ELSE 0 END), "
                            "sum(h.answered) FROM hosts h JOIN campaigns c ON c.id = h.campaign WHERE c.cluster = ? "
                            "GROUP BY h.host");
    SQLite::bind(query, cluster);
    while (query.executeStep())
      result[query.getColumn(0).getString()] = {query.getColumn(1).getInt64(), query.getColumn(2).getInt64(),
                                                static_cast<std::size_t>(query.getColumn(3).getInt64())};
    return result;
  });
}

std::vector<std::string> HistoryDatabase::hosts(std::int64_t campaign) const {
  return guarded(path_, [&] {
    return texts_of(*state_->database, "SELECT host FROM hosts WHERE campaign = ? ORDER BY host", campaign);
  });
}

std::vector<StoredSeries> HistoryDatabase::series(const std::string& cluster, const std::string& factor,
                                                  std::optional<std::int64_t> until_s) const {
  return guarded(path_, [&] {
    std::vector<StoredSeries> result;
    SQLite::Statement places(*state_->database,
                             "SELECT id, host, cpu FROM places WHERE cluster = ? ORDER BY length(host), host, cpu");
    SQLite::Statement runs(*state_->database,
                           "SELECT o.time_s, o.value, o.campaign FROM observations o WHERE o.factor = (SELECT id FROM "
                           "factors WHERE name = ?) AND o.place = ? AND o.time_s <= ? ORDER BY o.time_s");
    SQLite::bind(places, cluster);
    while (places.executeStep()) {
      StoredSeries one{{cluster, places.getColumn(1).getString(), places.getColumn(2).getInt()}, {}};
      SQLite::bind(runs, factor, places.getColumn(0).getInt64(),
                   until_s.value_or(std::numeric_limits<std::int64_t>::max()));
      while (runs.executeStep())
        one.runs.push_back({runs.getColumn(0).getInt64(), runs.getColumn(1).getDouble(), runs.getColumn(2).getInt64()});
      runs.reset();
      if (!one.runs.empty()) result.push_back(std::move(one));
    }
    return result;
  });
}

std::string HistoryDatabase::first_cluster_json(const std::string& cluster, const std::string& protocol_sha256) const {
  return guarded(path_, [&] {
    const auto found = texts_of(*state_->database,
                                "SELECT m.json FROM models m JOIN campaigns c ON c.id = m.campaign WHERE c.cluster = ? "
                                "AND c.protocol = ? ORDER BY c.id LIMIT 1",
                                cluster, protocol_sha256);
    return found.empty() ? std::string() : found.front();
  });
}

std::string HistoryDatabase::latest_cluster_json(const std::string& cluster) const {
  return guarded(path_, [&] {
    const auto found = texts_of(*state_->database,
                                "SELECT m.json FROM models m JOIN campaigns c ON c.id = m.campaign WHERE c.cluster = ? "
                                "ORDER BY c.start_s DESC, c.id DESC LIMIT 1",
                                cluster);
    return found.empty() ? std::string() : found.front();
  });
}

}  // namespace hplcast::study
