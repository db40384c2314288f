#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <map>
#include <string>

#include "hplcast/history/records.hpp"

namespace hplcast::history {

/// Writes the campaigns of one source, inside a transaction of the caller.
class CampaignWriter {
 public:
  CampaignWriter(SQLite::Database& database, std::int64_t source);
  /// @throws core::Error (bad_input) for wrong clocks, or a host that another campaign measured at that time.
  void add(const CampaignRecord& campaign);

 private:
  void refuse_overlap(const CampaignRecord& campaign);
  void add(const Observation& one, std::int64_t campaign);
  std::int64_t id_of_factor(const std::string& name);
  std::int64_t id_of_place(const Place& place);

  SQLite::Database& database_;
  std::int64_t source_;
  std::int64_t now_;  ///< Unix time
  SQLite::Statement observation_, at_that_time_;
  std::map<Place, std::int64_t> places_;
  std::map<std::string, std::int64_t> factors_;
};

}  // namespace hplcast::history
