#pragma once

#include <iosfwd>
#include <string>

#include "hplcast/fit/network_fit.hpp"

namespace hplcast::fit {

/// Takes the thresholds of what hplcast-measure-thresholds wrote: those of scope `remote` if there are any, since SMPI
/// knows one set for all scopes, and most messages of a cluster go between hosts. A message that MPI_Send does not let
/// go before a computing receiver enters MPI counts as one that waits: ranks of HPL compute most of the time.
/// @throws core::ParseError for anything else.
void set_thresholds(std::istream& in, const std::string& name, NetworkFitOptions& options);

}  // namespace hplcast::fit
