#include "hplcast/calibration/measure_mpi.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::calibration {

namespace {

std::string bytes_text(long bytes) {
  return std::to_string(bytes) + " bytes";
}

nlohmann::ordered_json json_of(const FirstSize& size) {
  return size ? nlohmann::ordered_json(*size) : nlohmann::ordered_json();
}

}  // namespace

FirstSize first_size_without(const std::function<bool(long)>& holds, long max_bytes) {
  if (max_bytes < 1) throw core::DomainError("largest size", static_cast<double>(max_bytes), "at least 1");
  if (!holds(1)) return 0;
  if (max_bytes == 1 || holds(max_bytes)) return std::nullopt;
  long with = 1, without = max_bytes;
  while (without - with > 1) {
    const long middle = with + (without - with) / 2;
    (holds(middle) ? with : without) = middle;
  }
  return without;
}

std::vector<std::string> notes_on(const ScopeThresholds& thresholds) {
  std::vector<std::string> notes;
  if (thresholds.copied == 0) notes.push_back("there is no eager mode: MPI_Isend copies not even one byte");
  if (thresholds.detached == 0) notes.push_back("MPI_Send always waits for the receiver");
  if (!thresholds.detached) {
    notes.push_back("there is no rendezvous up to " + bytes_text(thresholds.max_bytes));
  } else if (*thresholds.detached > 0 && (!thresholds.copied || *thresholds.copied >= *thresholds.detached)) {
    notes.push_back("there is no detached mode of its own: messages for which MPI_Send does not wait are copied");
  }
  if (thresholds.unattended != thresholds.detached) {
    notes.push_back("from " + bytes_text(thresholds.unattended.value_or(thresholds.max_bytes)) +
                    " on, MPI_Send waits until the receiver enters MPI, whether it receives or not");
  }
  if (thresholds.late_probes) notes.push_back("MPI_Iprobe finds a message only at the second call after it has come");
  return notes;
}

void write_json(std::ostream& out, const std::vector<ScopeThresholds>& thresholds) {
  nlohmann::ordered_json json;
  json["thresholds"] = nlohmann::ordered_json::array();
  for (const ScopeThresholds& one : thresholds) {
    json["thresholds"].push_back({{"scope", one.scope},
                                  {"host", one.host},
                                  {"peer", one.peer},
                                  {"max_bytes", one.max_bytes},
                                  {"async_small_bytes", json_of(one.copied)},
                                  {"detached_bytes", json_of(one.detached)},
                                  {"unattended_bytes", json_of(one.unattended)},
                                  {"late_probes", one.late_probes},
                                  {"notes", notes_on(one)}});
  }
  out << core::json_text(json, 2) << '\n';
}

}  // namespace hplcast::calibration
