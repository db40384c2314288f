#pragma once

namespace hplcast::history {

/// "hplh": tells histories from the databases of sweeps and of other programs.
constexpr int application_id = 0x68706c68;

// No times of adding and no random ids: the same sources in the same order make the same rows.
constexpr const char* schema = R"sql(
CREATE TABLE sources(id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE protocols(sha256 TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE campaigns(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES sources(id), job TEXT NOT NULL,
  cluster TEXT NOT NULL, start_s INTEGER NOT NULL, end_s INTEGER NOT NULL, protocol TEXT NOT NULL);
CREATE TABLE hosts(campaign INTEGER NOT NULL REFERENCES campaigns(id), host TEXT NOT NULL, answered INTEGER NOT NULL,
  PRIMARY KEY(campaign, host)) WITHOUT ROWID;
CREATE TABLE models(campaign INTEGER PRIMARY KEY REFERENCES campaigns(id), json TEXT NOT NULL);
CREATE TABLE places(id INTEGER PRIMARY KEY, cluster TEXT NOT NULL, host TEXT NOT NULL, cpu INTEGER NOT NULL,
  UNIQUE(cluster, host, cpu));
CREATE TABLE factors(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE observations(factor INTEGER NOT NULL, place INTEGER NOT NULL, time_s INTEGER NOT NULL,
  campaign INTEGER NOT NULL REFERENCES campaigns(id), value REAL NOT NULL,
  PRIMARY KEY(factor, place, time_s)) WITHOUT ROWID;
CREATE TABLE changes(time_s INTEGER NOT NULL, cluster TEXT NOT NULL, hosts TEXT NOT NULL, type TEXT NOT NULL,
  description TEXT NOT NULL, PRIMARY KEY(time_s, cluster, hosts, type, description)) WITHOUT ROWID;
CREATE TABLE outliers(time_s INTEGER NOT NULL, cluster TEXT NOT NULL, hosts TEXT NOT NULL, job TEXT NOT NULL,
  description TEXT NOT NULL, PRIMARY KEY(time_s, cluster, hosts, job, description)) WITHOUT ROWID;
)sql";

/// New in version 2.
constexpr const char* schema_of_verdicts = R"sql(
CREATE TABLE IF NOT EXISTS verdicts(told_s INTEGER NOT NULL, cluster TEXT NOT NULL, host TEXT NOT NULL,
  cpu INTEGER NOT NULL, factor TEXT NOT NULL, since_s INTEGER NOT NULL, last_s INTEGER NOT NULL, effect REAL NOT NULL,
  effect_error REAL NOT NULL, probability REAL NOT NULL,
  PRIMARY KEY(told_s, cluster, host, cpu, factor, since_s)) WITHOUT ROWID;
)sql";

}  // namespace hplcast::history
