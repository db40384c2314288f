#include "study/history/archive_sensors.hpp"

#include <map>
#include <sstream>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

struct Mean {
  double sum = 0, count = 0;
};
using Means = std::map<std::pair<Place, std::string>, Mean>;

/// The CPU that "package-1" or "package-1 dram" is about; -1: the sensor is something else.
int package_of(const std::string& sensor) {
  const std::string name = "package-";
  if (!core::begins_with(sensor, name)) return -1;
  const std::string number = sensor.substr(name.size(), sensor.find(' ') - name.size());
  return number.size() == 1 && number[0] >= '0' && number[0] <= '9' ? number[0] - '0' : -1;
}

/// Of the CPU, not of a disk.
bool is_cpu_temperature(const std::string& sensor) {
  for (const char* chip : {"coretemp", "k10temp", "zenpower", "cpu_thermal"})
    if (core::begins_with(sensor, chip)) return true;
  return false;
}

void add_reading(const Place& host, int packages, const std::string& quantity, const std::string& sensor, double value,
                 Means& means) {
  Place place = host;
  if (packages == 1) place.cpu = 0;
  std::string factor;
  if (quantity == "frequency_hz") {
    factor = "frequency_ghz";
    value *= 1e-9;
  } else if (quantity == "temperature_celsius" && is_cpu_temperature(sensor)) {
    factor = "temperature_celsius";
  } else if (quantity == "power_w" && package_of(sensor) >= 0) {
    place.cpu = package_of(sensor);
    factor = sensor.find(" dram") != std::string::npos ? "power_dram_w" : "power_cpu_w";
    if (factor == "power_cpu_w" && sensor.find(' ') != std::string::npos) return;  // another part of the package
  } else {
    return;
  }
  Mean& mean = means[{place, factor}];
  mean.sum += value;
  ++mean.count;
}

}  // namespace

void add_sensors(const calibration::CampaignArchive& archive, CampaignRecord& record) {
  std::map<std::string, int> packages;
  for (const auto& machine : archive.context.machines) packages[machine.host] = machine.packages;
  Means means;
  for (const auto& [name, text] : archive.files) {
    if (!core::begins_with(name, "monitoring/") || name.find("dgemm") == std::string::npos) continue;
    std::istringstream in(text);
    core::CsvReader csv(in, name);
    const std::size_t host = csv.column("host"), quantity = csv.column("quantity"), sensor = csv.column("sensor"),
                      value = csv.column("value");
    while (csv.next()) {
      const std::string its_host(csv.text(host));
      add_reading({record.cluster, its_host, -1}, packages[its_host], std::string(csv.text(quantity)),
                  std::string(csv.text(sensor)), csv.number(value), means);
    }
  }
  for (const auto& [key, mean] : means)
    record.observations.push_back({key.first, key.second, record.start_s, mean.sum / mean.count});
}

}  // namespace hplcast::study
