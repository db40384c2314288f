#pragma once

#include <array>
#include <map>
#include <vector>

#include "hplcast/core/network_model.hpp"
#include "hplcast/study/explain.hpp"
#include "observed_ranks.hpp"
#include "rank_places.hpp"

namespace hplcast::study {

/// A message of which both ends were seen, against what the network model says of it when both ends came as they did.
struct SeenMessage {
  core::Scope scope = core::Scope::local;
  double bytes = 0;
  bool receiver_in_time = false;      ///< it was there before the message was: what follows is a transfer
  double real_s = 0, model_s = 0;     ///< from when both were there until the receiver had it
  double latency_s = 0, bytes_s = 0;  ///< parts of model_s: intercept and slope of the transfer
  bool sender_returns = false;        ///< without waiting for the receiver: what follows is the cost of the call
  double send_s = 0, send_model_s = 0;
};

/// All that can be said of the messages of a run. Events of panels that were dropped are missing.
std::vector<SeenMessage> seen_messages(const ObservedRanks& observed, const core::NetworkModel& network,
                                       const std::vector<RankPlace>& places);

/// How the costs of messages of one scope differ from the model: factors on times.
struct NetworkFinding {
  double latency = 1;    ///< on intercepts of transfers
  double bandwidth = 1;  ///< on slopes of transfers
  double calls = 1;      ///< on what send, isend and recv cost the caller
  double held_up_s = 0;  ///< of all messages of a run: beyond ten times the usual time of their size
  double latency_s = 0, bytes_s = 0, calls_s = 0;  ///< all messages of a run: what the model has for these parts
  std::vector<MessageDifference> sizes;
};

/// `messages`: of all runs together, seen_messages() with the model. `simulated`: of a simulation with the same model,
/// or empty; what messages take there beyond the model, because flows share links, is not counted as a difference.
/// `share`: times it, sums of `messages` are those of one run.
std::map<core::Scope, NetworkFinding> network_findings(const std::vector<SeenMessage>& messages,
                                                       const std::vector<SeenMessage>& simulated, double share);

/// The same once more: `simulated` is of a simulation with the factors of `findings` (seen_messages() with the model as
/// it was), which come nearer to those of the run.
void refine(std::map<core::Scope, NetworkFinding>& findings, const std::vector<SeenMessage>& messages,
            const std::vector<SeenMessage>& simulated);

}  // namespace hplcast::study
