#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::platforms {

/// Options of SimGrid, name and value, for the <config> of a platform.
using XmlSettings = std::vector<std::pair<std::string, std::string>>;

/// A SimGrid platform file (version 4.1): hosts, links and the message costs as far as XML can say them.
/// A route between two hosts has two links of half the latency each; a host sends to itself over a link of its own.
/// Losses are listed in a comment, see platform_xml_losses(). See docs/formats/platform-xml.md. `more`: settings beside
/// those of the network.
/// @throws DomainError for a topology other than single_switch whose hosts are not numbered without padding
/// (`n-[1-32]`), because SimGrid's <cluster> names its hosts itself.
void write_platform_xml(std::ostream& out, const core::ClusterModel& cluster, const XmlSettings& more = {});

/// The losses of platform.xml for this cluster, one sentence with its size each: how flows share links
/// (sharing_losses()), messages faster than their link, costs that differ between local and remote messages, noise of
/// messages, segments from 2^31 bytes on, lines that start below zero.
std::vector<std::string> platform_xml_losses(const core::ClusterModel& cluster);

/// True if platform.xml loses something, so that the platform library should be used instead
/// (`smpirun -platform libhplcast-platform.so` with HPLCAST_CLUSTER).
bool needs_platform_library(const core::ClusterModel& cluster);

}  // namespace hplcast::platforms
