#pragma once

#include <string>

namespace hplcast::core {

/// Of this host; "?" if the system does not tell.
std::string host_name();

/// Unix time, in s.
double unix_time_s();

/// "2026-11-22T16:03:05Z".
std::string utc_now();

}  // namespace hplcast::core
