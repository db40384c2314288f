#include "smpi-models/observe/statistics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace hplcast::smpi_models {

CallCounts& CallCounts::operator+=(const CallCounts& other) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].calls += other.kernels[i].calls;
    kernels[i].outside_range += other.kernels[i].outside_range;
    kernels[i].time_s += other.kernels[i].time_s;
    kernels[i].flop += other.kernels[i].flop;
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].calls += other.messages[i].calls;
    messages[i].outside_range += other.messages[i].outside_range;
    messages[i].bytes += other.messages[i].bytes;
  }
  detours_s += other.detours_s;
  return *this;
}

std::size_t PanelCounts::begin_panel(int index) {
  constexpr int begin_of_factorisation = -1;
  const auto place = static_cast<std::size_t>(index - begin_of_factorisation + 1);
  if (places_.size() <= place) places_.resize(place + 1);
  return place;
}

CallCounts PanelCounts::total() const {
  CallCounts sum;
  for (const CallCounts& one : places_) sum += one;
  return sum;
}

std::vector<CallCounts> PanelCounts::until_marks() const {
  std::vector<CallCounts> sums;
  CallCounts sum;
  for (std::size_t mark = 0; mark + 1 < places_.size(); ++mark) sums.push_back(sum += places_[mark]);
  return sums;
}

double PanelMarks::mark(std::size_t ranks, std::size_t rank, const hplcast_window& window, int index, double now_s) {
  if (index < 0 && begun_++ == window_.ranks) {  // none begins the next factorisation before all have ended this one
    window_ = window;
    begun_ = 1;
    sums_s_.assign(static_cast<std::size_t>(window.count) + 2, 0);
    last_.assign(ranks, {});
  }
  const auto place = static_cast<std::size_t>(index + 1);
  Last& last = last_.at(rank);
  if (last.place == place) sums_s_.at(place) -= last.time_s;
  sums_s_.at(place) += now_s;
  return now_s - std::exchange(last, {place, now_s}).time_s;
}

std::vector<double> PanelMarks::means_s() const {
  std::vector<double> means = sums_s_;
  for (double& mean : means) mean /= window_.ranks;
  return means;
}

void add_counts(core::SimulationResult& result, const CallCounts& counts) {
  for (std::size_t i = 0; i < counts.kernels.size(); ++i)
    if (counts.kernels[i].calls > 0) result.kernels[core::kernel_names[i]] = counts.kernels[i];
  for (std::size_t i = 0; i < counts.messages.size(); ++i)
    if (counts.messages[i].calls > 0) result.messages[mpi_names[i]] = counts.messages[i];
}

namespace {

/// `value` of each mark.
template <typename Mark, typename Value>
void add(core::CountsAtPanels& panels, const std::string& name, const std::vector<Mark>& marks, Value value) {
  std::vector<double>& values = panels[name];
  for (const Mark& mark : marks) values.push_back(value(mark));
}

/// Each number of the counts of what was called.
template <typename Names, typename Counts>
void add(core::CountsAtPanels& panels, const std::string& kind, const Names& names,
         const std::vector<CallCounts>& marks, Counts CallCounts::*counts) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((marks.back().*counts)[i].calls == 0) continue;
    const std::string name = kind + "/" + names[i] + "/";
    const auto push_back = [&](const char* field, auto value) {
      panels[name + field].push_back(static_cast<double>(value));
    };
    for (CallCounts mark : marks) describe(push_back, (mark.*counts)[i]);
  }
}

}  // namespace

void add_counts(core::CountsAtPanels& panels, const std::vector<CallCounts>& marks) {
  if (marks.empty()) return;
  add(panels, "kernels", core::kernel_names, marks, &CallCounts::kernels);
  add(panels, "messages", mpi_names, marks, &CallCounts::messages);
  if (marks.back().detours_s > 0)
    add(panels, "detours/all/time_s", marks, [](const CallCounts& mark) { return mark.detours_s; });
}

void add_states(core::CountsAtPanels& panels, const std::vector<StateSums>& marks) {
  for (std::size_t i = 0; !marks.empty() && i < core::core_state_count; ++i) {
    if (marks.back().seconds[i] == 0) continue;
    const std::string name = std::string("states/") + core::to_string(static_cast<core::CoreState>(i));
    add(panels, name + "/time_s", marks, [i](const StateSums& mark) { return mark.seconds[i]; });
    add(panels, name + "/energy_j", marks, [i](const StateSums& mark) { return mark.joules[i]; });
  }
}

namespace {

/// A time of a phase: its name, and where it is here and there.
struct TimeField {
  const char* name;
  double PhaseTime::*time;
  std::vector<double> core::RankPhases::*times;
};
constexpr std::array<TimeField, 5> time_fields = {
    {{"elapsed_s", &PhaseTime::elapsed_s, &core::RankPhases::elapsed_s},
     {"kernels_s", &PhaseTime::kernels_s, &core::RankPhases::kernels_s},
     {"messages_s", &PhaseTime::messages_s, &core::RankPhases::messages_s},
     {"waiting_s", &PhaseTime::waiting_s, &core::RankPhases::waiting_s},
     {"detours_s", &PhaseTime::detours_s, &core::RankPhases::detours_s}}};
constexpr std::size_t fields_without_detours = time_fields.size() - 1;

std::size_t fields_of(bool detours) {
  return detours ? time_fields.size() : fields_without_detours;
}

}  // namespace

void add_phases(core::CountsAtPanels& panels, const std::vector<PhaseTimes>& marks, bool detours) {
  for (std::size_t phase = 0; !marks.empty() && phase < phase_names.size(); ++phase)
    for (std::size_t i = 0; i < fields_of(detours); ++i)
      add(panels, std::string("phases/") + phase_names[phase] + "/" + time_fields[i].name, marks,
          [phase, i](const PhaseTimes& mark) { return mark[phase].*time_fields[i].time; });
}

std::vector<core::RankPhases> rank_phases(const std::vector<NamedTimes>& parts, bool detours) {
  std::vector<core::RankPhases> list;
  for (const NamedTimes& part : parts) {
    core::RankPhases& phase = list.emplace_back();
    phase.name = part.name;
    for (std::size_t i = 0; i < fields_of(detours); ++i)
      for (const PhaseTime& time : part.ranks) (phase.*time_fields[i].times).push_back(time.*time_fields[i].time);
  }
  return list;
}

ProgressFile::ProgressFile(const std::string& path) {
  // Progress is a courtesy: a file that cannot be written is no reason to end a simulation.
  if (!path.empty()) descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

ProgressFile::~ProgressFile() {
  if (descriptor_ >= 0) (void)::close(descriptor_);
}

void ProgressFile::update(double fraction, double simulated_s) {
  if (descriptor_ >= 0 && fraction > fraction_) write({fraction, simulated_s, 0});
}

void ProgressFile::write(const core::SimulationProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  fraction_ = progress.fraction;
  const std::string line = core::progress_line(progress);
  if (::pwrite(descriptor_, line.data(), line.size(), 0) < 0) {
    (void)::close(descriptor_);
    descriptor_ = -1;
  }
}

}  // namespace hplcast::smpi_models
