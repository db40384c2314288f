#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What a history is made of (docs/use/history.md).
namespace hplcast::history {

/// Where something was measured. An empty cluster is the only one there is.
struct Place {
  std::string cluster;
  std::string host;
  int cpu = -1;  ///< -1: the whole host

  friend bool operator<(const Place& a, const Place& b);
  friend bool operator==(const Place& a, const Place& b);
};

/// "dahu-26 CPU 0"; "dahu-26" for a whole host.
std::string to_string(const Place& place);

/// A property that campaigns observe, such as dgemm_gflops.
struct FactorInfo {
  const char* name;
  const char* published;  ///< column of the published files; empty: none
  const char* unit;
  const char* description;
  bool checked;  ///< by `hplcast check` unless other factors are asked for
};
const std::vector<FactorInfo>& known_factors();
/// Also of segments of the network, which are not in that list. Null for a name that is not known.
const FactorInfo* find_factor(const std::string& name);

/// One number of one campaign.
struct Observation {
  Place place;
  std::string factor;
  std::int64_t time_s = 0;  ///< Unix time at which the measurement began
  double value = 0;
};

/// A campaign: all that one archive, or one job of a published file, has measured.
struct CampaignRecord {
  std::string job;  ///< of the batch system; empty: none
  std::string cluster;
  std::int64_t start_s = 0;
  std::int64_t end_s = 0;
  std::vector<std::string> hosts;  ///< that took part, also those without any result
  std::string protocol = "{}";     ///< JSON: how it was measured, with what; another one begins a new reference
  std::string cluster_json;        ///< the models fitted to it; empty: none
  std::vector<Observation> observations;
};

/// Something was changed on purpose, or repaired: the hosts begin a new reference.
struct Change {
  std::int64_t time_s = 0;
  std::string cluster = "all";  ///< names with "/" between them, or all
  std::string hosts = "all";    ///< the same
  std::string type;             ///< free: protocol, BIOS, repair ...
  std::string description;
};

/// Runs that are known to be bad, and never part of a reference.
struct LoggedOutlier {
  std::int64_t time_s = 0;
  std::string cluster = "all";
  std::string hosts = "all";
  std::string job;  ///< of the batch system; empty: all of that day
  std::string description;
};

/// A finding, or a host without results, that a check has recorded.
struct Verdict {
  static constexpr const char* missing = "missing";  ///< as `factor`: a host without results
  std::int64_t told_s = 0;                           ///< start of the newest campaign that the check knew
  Place place;                                       ///< an empty host: all of the cluster
  std::string factor;
  std::int64_t since_s = 0, last_s = 0;  ///< first and last run of it; of a missing host the last with a result
  double effect = 0, effect_error = 0, probability = 0;
};

/// The names of a list such as "dahu-13/dahu-14", whatever they are: empty ones, and "all", too.
std::vector<std::string> names_in(const std::string& list);
/// Whether a list, or "all", names something.
bool list_names(const std::string& list, const std::string& name);

/// Unix time of "2020-04-02", "2020-04-02 13:05" or "2020-04-02 13:05:30" (UTC; also with a T). @throws
/// core::DomainError for anything else.
std::int64_t parse_date(const std::string& text);
/// The same of the end of a time: a day alone ends with its last second.
std::int64_t parse_end(const std::string& text);
/// "2020-04-02".
std::string date_text(std::int64_t time_s);

}  // namespace hplcast::history
