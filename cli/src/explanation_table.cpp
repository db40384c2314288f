#include "explanation_table.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "output.hpp"

namespace hplcast::cli {

namespace {

using study::Explanation;

std::string whole(double number) {
  return std::to_string(std::llround(number));
}

/// Texts of different length, which the table aligns on the right, begin below each other.
void pad(std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text.resize(width, ' ');
}

void write_causes(std::ostream& out, const Explanation& e) {
  out << "\nWhat differs, and its share of the predicted time ("
      << (e.simulated ? "by simulations with one part after the other as measured" : "estimated from sums") << ")\n";
  std::vector<std::string> texts = {"cause"};
  for (const study::Cause& cause : e.causes) texts.push_back(cause.text);
  texts.insert(texts.end(), {"not explained", "real less predicted"});
  pad(texts);
  TextTable table({"share", "seconds", "estimate", texts.front()});
  for (std::size_t i = 0; i < e.causes.size(); ++i) {
    const study::Cause& cause = e.causes[i];
    table.add({signed_percent(cause.share_s() / e.predicted_s), significant(cause.share_s(), 3),
               significant(cause.estimated_s, 3), texts[i + 1]});
  }
  table.add({signed_percent(e.rest_s / e.predicted_s), significant(e.rest_s, 3), "", texts[texts.size() - 2]});
  table.add({signed_percent(e.difference_s() / e.predicted_s), significant(e.difference_s(), 3), "", texts.back()});
  table.write(out);
}

std::string list_of(const std::vector<int>& ranks) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, ranks.size()); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (ranks.size() > shown) text += " and " + std::to_string(ranks.size() - shown) + " more";
  return text;
}

void write_phases(std::ostream& out, const Explanation& e) {
  if (e.phases.empty()) return;
  out << "\nTime per phase in s, mean over the ranks: real, predicted\n";
  TextTable table({"phase", "time", "", "kernels", "", "messages", "", "waiting", "", "ranks that stand out"});
  for (const study::PhaseDifference& phase : e.phases) {
    const core::PhaseSummary& r = phase.real;
    const core::PhaseSummary& p = phase.predicted;
    table.add({r.name, significant(r.elapsed_s), significant(p.elapsed_s), significant(r.kernels_s),
               significant(p.kernels_s), significant(r.messages_s), significant(p.messages_s), significant(r.waiting_s),
               significant(p.waiting_s), list_of(phase.far_ranks)});
  }
  table.write(out);
}

/// The range of sizes with most of the difference, and whether calls scatter more than the model says.
std::string remark_of(const study::KernelDifference& kernel) {
  if (!kernel.has_model) return "no model";
  const study::KernelSizes* most = nullptr;
  double variance = 0, model_variance = 0, time_s = 0;
  for (const study::KernelSizes& sizes : kernel.sizes) {
    if (most == nullptr || std::abs(sizes.real_s - sizes.model_s) > std::abs(most->real_s - most->model_s))
      most = &sizes;
    if (sizes.samples < 2) continue;
    variance += sizes.real_s * sizes.real_scatter * sizes.real_scatter;
    model_variance += sizes.real_s * sizes.model_scatter * sizes.model_scatter;
    time_s += sizes.real_s;
  }
  std::string text;
  if (most != nullptr)
    text = "most at m n k of " + significant(most->least_product, 2) + " to " + significant(most->most_product, 2);
  if (time_s > 0)
    text +=
        "; scatter " + percent(std::sqrt(variance / time_s)) + ", model " + percent(std::sqrt(model_variance / time_s));
  for (const study::KernelDifference::Place& place : kernel.places)
    text += "; " + place.group.name + ": " + signed_percent(place.factor - 1);
  return text;
}

void write_kernels(std::ostream& out, const Explanation& e) {
  constexpr std::size_t shown = 10;
  out << "\nKernels: all ranks together, the model for the very same calls\n";
  const std::size_t count = std::min(shown, e.kernels.size());
  std::vector<std::string> remarks = {"remark"};
  for (std::size_t i = 0; i < count; ++i) remarks.push_back(remark_of(e.kernels[i]));
  pad(remarks);
  TextTable table({"kernel", "calls", "real [s]", "model [s]", "level", remarks.front()});
  for (std::size_t i = 0; i < count; ++i) {
    const study::KernelDifference& one = e.kernels[i];
    table.add({one.kernel, whole(one.calls), significant(one.real_s), significant(one.model_s),
               one.has_model ? signed_percent(one.level - 1) : "", remarks[i + 1]});
  }
  table.write(out);
}

void write_messages(std::ostream& out, const Explanation& e) {
  if (e.messages.empty()) return;
  constexpr double us_per_s = 1e6;
  out << "\nMessages that a receiver waited for: from when both were there until it had them "
         "(what most of them take, which latency and bandwidth are fitted to, and means)\n";
  TextTable table(
      {"scope", "bytes", "messages", "real [us]", "model [us]", "difference", "mean real [us]", "mean model [us]"});
  for (const study::MessageDifference& one : e.messages)
    table.add({core::to_string(one.scope), significant(one.least_bytes, 2) + " to " + significant(one.most_bytes, 2),
               whole(one.messages), significant(one.usual_real_s * us_per_s, 3),
               significant(one.usual_model_s * us_per_s, 3), signed_percent(one.usual_real_s / one.usual_model_s - 1),
               significant(one.real_s * us_per_s, 3), significant(one.model_s * us_per_s, 3)});
  table.write(out);
}

}  // namespace

void write_explanation_table(std::ostream& out, const Explanation& explanation) {
  for (const std::string& line : study::verdict(explanation)) out << line << '\n';
  write_causes(out, explanation);
  write_phases(out, explanation);
  write_kernels(out, explanation);
  write_messages(out, explanation);
}

}  // namespace hplcast::cli
