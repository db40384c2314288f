#pragma once

#include "hplcast/core/power_model.hpp"

namespace hplcast::core {

/// Two hosts of two CPUs at two frequencies, every part of `power` used.
inline PowerModel example_power() {
  PowerModel::Values values;
  values.idle = Watts::polynomial({90, 2});
  values.awake = Watts::table({{2.3, 2, 1.2}, {17, 15, 10}});
  values.off_w = 8;
  values.states = {{"default", 6}, {"dgemm", Watts::polynomial({-1, 1, 1.5})}, {"polling", 5}, {"messages", 4}};
  values.frequency = FrequencyModel{2e9, {2.3e9, 2e9, 1.2e9}, {}, {}, {{"default", 0.5}, {"dgemm", 0.95}}, 2.1e9};
  values.caps = {120, 300};
  values.supply_efficiency = 0.9;
  values.network_w = 200;
  PowerOverride one_cpu, one_host, cpus;
  one_cpu.host = 1;
  one_cpu.cpu = 1;
  one_cpu.hz = 1.2e9;
  one_cpu.states = {{"polling", 7}};
  one_host.host = 1;
  one_host.idle = 99;
  one_host.off_w = 9;
  one_host.states = {{"default", 6.5}, {"polling", 6}};
  cpus.cpu = 0;
  cpus.states = {{"blocked", 3}, {"polling", 5.5}};
  values.overrides = {one_cpu, one_host, cpus};
  return PowerModel::make(values);
}

}  // namespace hplcast::core
