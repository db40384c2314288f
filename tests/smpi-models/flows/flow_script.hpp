#pragma once

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/smpi-models/simulation.hpp"

namespace hplcast::tests {

/// A message that flows_probe sends.
struct ScriptedMessage {
  int source = 0;
  int destination = 0;
  double bytes = 0;            ///< without SMPI's envelope
  double start_s = 0;          ///< when its sender calls
  double receive_s = -1;       ///< when its receiver calls; negative: at start_s
  double wait_s = -1;          ///< when its receiver waits for it; negative: at once
  std::string call = "isend";  ///< or send, ssend, issend
  int tag = -1;                ///< negative: one of its own
};

/// Messages for flows_probe. A rank begins what it has to begin at one instant, receives first, then waits for it:
/// messages of one rank that overlap must begin together, and end in the order in which they were added.
class FlowScript {
 public:
  /// Returns the index of the message.
  std::size_t add(ScriptedMessage message) {
    if (message.receive_s < 0) message.receive_s = message.start_s;
    if (message.wait_s < 0) message.wait_s = message.receive_s;
    if (message.tag < 0) message.tag = static_cast<int>(messages_.size());
    messages_.push_back(message);
    return messages_.size() - 1;
  }

  const std::vector<ScriptedMessage>& messages() const { return messages_; }

  /// Runs them all on the platform library; the time in s at which each was received. @throws std::runtime_error if the
  /// simulation fails or a rank is late.
  std::vector<double> received_s(Simulation simulation, const std::string& name) const {
    core::write_file(simulation_folder(name) / "messages.txt", [&](std::ostream& out) { write(out); });
    simulation.platform = PlatformKind::library;
    simulation.program = HPLCAST_FLOWS_PROBE;
    simulation.arguments = {"messages.txt"};  // smpirun divides paths at blanks
    const core::CommandResult result = simulate(simulation, name);
    if (result.status != 0) throw std::runtime_error(name + " failed: " + result.output.substr(0, 2000));
    return received_in(result.output, name);
  }

 private:
  struct Call {
    double at_s;
    int order;  // of calls at one instant
    std::string text;
  };

  void write(std::ostream& out) const {
    std::map<int, std::vector<Call>> calls;
    for (const ScriptedMessage& message : messages_) {
      const auto end = [&](int peer) {
        std::ostringstream text;
        text << ' ' << peer << ' ' << message.tag << ' ' << std::setprecision(17) << message.bytes;
        return text.str();
      };
      calls[message.destination].push_back({message.receive_s, 0, "irecv" + end(message.source)});
      calls[message.source].push_back({message.start_s, 1, message.call + end(message.destination)});
      calls[message.source].push_back({message.start_s, 2, "wait"});
      calls[message.destination].push_back({message.wait_s, 2, "wait"});
    }
    out << std::setprecision(17);
    for (auto& [rank, list] : calls) {
      std::stable_sort(list.begin(), list.end(), [](const Call& a, const Call& b) {
        return a.at_s < b.at_s || (a.at_s == b.at_s && a.order < b.order);
      });
      for (const Call& call : list) out << rank << ' ' << call.at_s << ' ' << call.text << '\n';
    }
  }

  std::vector<double> received_in(const std::string& output, const std::string& name) const {
    std::map<std::pair<int, int>, std::vector<double>> times;  // by rank and tag, the last first
    std::istringstream in(output);
    int rank = 0;
    std::string what;
    std::string number;
    std::string time;
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      if (!(words >> rank >> what >> number)) continue;
      if (what == "late") throw std::runtime_error(name + ": rank " + std::to_string(rank) + " is late at " + number);
      if (what != "received" || !(words >> time)) continue;
      std::vector<double>& list = times[{rank, std::stoi(number)}];
      list.insert(list.begin(), std::stod(time));
    }
    std::vector<double> received;
    for (const ScriptedMessage& message : messages_) {
      std::vector<double>& list = times[{message.destination, message.tag}];
      if (list.empty()) throw std::runtime_error(name + ": a message was not received");
      received.push_back(list.back());
      list.pop_back();
    }
    return received;
  }

  std::vector<ScriptedMessage> messages_;
};

/// `scope` with sends and receives that cost nothing: what is left is the network.
inline void make_calls_free(core::ScopeModel& scope) {
  for (const auto which : {core::MessageCost::send, core::MessageCost::isend, core::MessageCost::recv}) {
    scope.cost(which) = core::SegmentedLaw();
  }
}

/// `hosts` hosts of `cores` cores with this network and no kernels.
inline core::ClusterModel network_cluster(int hosts, int cores, core::NetworkModel::Values network) {
  core::ClusterModel cluster;
  cluster.name = "network";
  cluster.hosts = core::Hosts::make({"n-[1-" + std::to_string(hosts) + "]", cores, 1, {}, 0});
  cluster.network = core::NetworkModel::make(std::move(network));
  return cluster;
}

}  // namespace hplcast::tests
