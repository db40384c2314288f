#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/study/log_cluster.hpp"
#include "hplcast/study/quick.hpp"

/// Machines that are offered: the same question for each of them (docs/formats/offers-yaml.md).
namespace hplcast::study {

/// The kinds of what an offer rests on.
enum class OfferBasis { numbers, cluster, logs };

/// An offer as it stands in offers.yaml. `machine` has what was given, also of an offer of another basis.
struct Offer {
  std::string name;
  OfferBasis basis = OfferBasis::numbers;
  QuickMachine machine;
  std::string cluster;                        ///< path of a cluster.json
  std::vector<std::string> logs, benchmarks;  ///< paths: HPL's output on one node; OSU or IMB
  std::optional<double> committed_gflops;     ///< what the vendor promises
  std::optional<double> price;
  core::Location where;  ///< of its name
};

struct OfferQuestion {
  std::string title;
  double tolerance = 0.1;  ///< a run may be so much below the committed value
  double memory_fraction = 0.8;
  double level_percent = 90;  ///< of intervals
  std::vector<int> NB = {128, 192, 256, 384};
  std::string currency;
  std::vector<Offer> offers;
};

/// offers.yaml. Paths are relative to `folder`. @throws core::ParseError for anything but two or more offers with names
/// of their own and what their basis needs; prices of some only.
OfferQuestion read_offers(std::istream& in, const std::string& name, const std::filesystem::path& folder);

/// An offer with its cluster, which knows its memory.
struct OfferedMachine {
  Offer offer;
  core::ClusterModel cluster;
  int NB = 0;  ///< the only one that its models are of; 0: any
};

/// The machine of an offer of numbers. @throws core::ParseError for values that no machine has
OfferedMachine machine_of_numbers(const Offer& offer);
/// The same of its cluster.json, or of the fit of its logs, as `memory` and watts of the offer say.
/// @throws core::ParseError without a memory
OfferedMachine machine_of_cluster(const Offer& offer, core::ClusterModel cluster, int NB = 0);

/// An offer, and what is expected of it.
struct OfferEstimate {
  Offer offer;
  core::ClusterModel cluster;
  core::Prediction prediction;  ///< of the best configuration, with its interval
  bool simulated = false;
  double peak_gflops = 0;               ///< of dgemm
  double memory_share = 0;              ///< of the matrix
  std::optional<double> watts;          ///< of the machine while HPL runs
  std::optional<double> keeps;          ///< probability of a run of (1 - tolerance) times the committed value or more
  std::optional<double> keeps_fully;    ///< of the committed value or more
  std::vector<std::string> rests_on;    ///< for people
  std::vector<core::ErrorTerm> doubts;  ///< terms of the interval, the largest first

  double gflops() const { return prediction.gflops; }
  const core::PredictiveInterval& interval() const { return *prediction.interval; }
  double price_per_tflops() const { return *offer.price / (gflops() / 1e3); }
  /// More is better: Gflop/s, or Gflop/s per unit of money.
  double merit() const { return offer.price ? gflops() / *offer.price : gflops(); }
};

/// The best configuration by closed_form_s(): N by the memory, grids near to a square, NB and broadcasts.
/// Its interval is that of `predict`, with the error of the form in place of that of a simulation.
OfferEstimate estimate_offer(const OfferQuestion& question, const OfferedMachine& machine);

/// Replaces the time of the closed form by that of a simulation of the same configuration.
void take_simulation(const OfferQuestion& question, core::Prediction simulated, OfferEstimate& estimate);

struct OfferAnswer {
  OfferQuestion question;
  std::vector<OfferEstimate> estimates;  ///< those that may keep their word first, the best first
  /// Probability that the offer of the row has more Gflop/s (or merit) than that of the column.
  std::vector<std::vector<double>> faster, better;
  bool by_price = false;             ///< merit counts the price
  std::string verdict;               ///< one sentence
  std::vector<std::string> reasons;  ///< for people

  /// Whether an offer may keep its committed value, or has none. Others are not taken.
  static bool is_credible(const OfferEstimate& one) { return !one.keeps || *one.keeps >= 0.1; }
};

OfferAnswer answer_offers(OfferQuestion question, std::vector<OfferEstimate> estimates);

/// "93 %", "above 99 %".
std::string chance_text(double probability);
/// "24.8 Tflop/s".
std::string rate_of_gflops(double gflops);
/// "47,900 EUR per Tflop/s (41,000 to 56,000)"; empty without a price.
std::string price_text(const OfferQuestion& question, const OfferEstimate& one);

/// One page for those who decide: verdict, picture, table, what it rests on.
void write_offer_page(std::ostream& out, const OfferAnswer& answer);
/// Its picture as an SVG file.
std::string offer_picture(const OfferAnswer& answer);
/// JSON of the same (docs/formats/offers-yaml.md).
void write_offer_json(std::ostream& out, const OfferAnswer& answer);

}  // namespace hplcast::study
