#pragma once

#include <vector>

namespace hplcast::fit {

/// Times of events of one core, in their order, in s.
using EventTimes = std::vector<double>;

/// A frequency at which events come regularly.
struct FrequencyPeak {
  double frequency_hz = 0;
  double power = 0;  ///< sum over the cores of |sum w exp(2 pi i f t)|^2 / sum w^2: of Poisson events 1 for each core
};

/// Peaks of the periodogram of events (Bartlett 1963): the 12 highest, and the 12 of the lowest frequencies that are
/// significant, since the lowest one of a periodic source is no harmonic. Powers of the cores are added, their phases
/// may differ. Frequencies from 3 per span up to 1.25 times the mean rate of events: no source has more events than
/// that. Hann's window keeps side lobes low. With very many events only as long a part is looked at as 2^20 bins of a
/// quarter of the least period hold.
std::vector<FrequencyPeak> find_peaks(const std::vector<EventTimes>& cores, double begin_s, double end_s);

}  // namespace hplcast::fit
