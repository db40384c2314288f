#include "hplcast/core/imported.hpp"

#include <set>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

PowerSample sample_of(const std::string& node, int cores, int active, double power_w, double frequency_hz) {
  PowerSample sample;
  sample.host = node;
  sample.sensor = "published";
  sample.domain = PowerDomain::host;
  sample.power_w = power_w;
  sample.state = active == 0 ? "idle" : "default";
  sample.active_cores = active;
  sample.cores = cores;
  sample.frequency_hz = frequency_hz;
  return sample;
}

[[noreturn]] void fail_applications(const std::string& name, const std::string& asked,
                                    const std::set<std::string>& there) {
  throw ParseError({name, 0, "application"},
                   asked.empty() ? "the table has several applications: " + comma_separated(there)
                                 : "no application " + asked + "; the table has " + comma_separated(there),
                   "--application NAME takes one");
}

}  // namespace

std::vector<PowerSample> read_watt_per_state(std::istream& in, const std::string& name, const PublishedWatts& which) {
  CsvReader csv(in, name);
  const std::size_t application = csv.find_column("application"), node = csv.column("node"),
                    cores = csv.column("cores"), pstate = csv.column("pstate"), idle = csv.column("watt_idle"),
                    one = csv.column("watt_one_core"), all = csv.column("watt_all_cores");
  std::vector<PowerSample> samples;
  std::set<std::string> applications;
  while (csv.next()) {
    if (application != CsvReader::npos) {
      applications.emplace(csv.text(application));
      if (!which.application.empty() && csv.text(application) != which.application) continue;
    }
    const long long state = csv.integer(pstate), count = csv.integer(cores);
    if (state < 0 || state >= static_cast<long long>(which.states_hz.size()))
      throw ParseError(csv.at(pstate),
                       "found state " + std::to_string(state) + "; there are " +
                           std::to_string(which.states_hz.size()) + " frequencies",
                       "--pstates has the frequency of each state, from 0: 2.3GHz,2.2GHz,...");
    if (count < 1 || count > 100000)
      throw ParseError(csv.at(cores), "found " + std::to_string(count) + "; expected a number of cores");
    const double hz = which.states_hz[static_cast<std::size_t>(state)];
    const auto total = static_cast<int>(count);
    const std::string host(csv.text(node));
    if (csv.positive(one) < csv.positive(idle) || csv.positive(all) < csv.positive(one))
      throw ParseError(csv.at(one), "watts that fall with the load; expected idle <= one core <= all cores");
    samples.push_back(sample_of(host, total, 0, csv.positive(idle), hz));
    if (total > 1) samples.push_back(sample_of(host, total, 1, csv.positive(one), hz));
    samples.push_back(sample_of(host, total, total, csv.positive(all), hz));
  }
  if (samples.empty() || (which.application.empty() && applications.size() > 1))
    fail_applications(name, which.application, applications);
  return samples;
}

std::vector<PowerSample> read_power_samples(std::istream& in, const std::string& name, const std::string& application,
                                            const std::vector<std::string>& pstates) {
  std::istringstream text(read_text(in, name, "expected samples of hplcast-measure-power"));
  const std::string header = csv_header(text.str());
  const bool is_published =
      header.find("watt_all_cores") != std::string::npos && header.find("pstate") != std::string::npos;
  if (!is_published && !(application.empty() && pstates.empty()))
    throw UsageError("--application and --pstates are of published tables; " + name + " has samples");
  if (!is_published) return read_power_csv(text, name);
  return read_watt_per_state(text, name, {application, mapped(pstates, parse_hertz)});
}

}  // namespace hplcast::core
