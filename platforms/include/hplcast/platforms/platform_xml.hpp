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

/// A cluster from SimGrid's platform file.
struct ImportedPlatform {
  core::ClusterModel cluster;
  std::vector<std::string> losses;  ///< for people: what was not read, and what the model cannot say
};

/// Reads a platform file (version 4 and later): a <cluster>, a zone of hosts with <host_link>, or one with routes
/// between its hosts, which becomes a switch; several become host_groups, or `zone` takes the one of that id. Messages
/// cost what the <config> says, or SMPI's defaults: alone on its links each takes as long as with SimGrid. Kernels are
/// those of `models`, as its program; without it, BLAS takes its flop over the speed of the host, and all else nothing.
/// The provenance has a quality flag for the kernels and for the network. @throws ParseError
ImportedPlatform read_platform_xml(std::istream& in, const std::string& name, const std::string& zone = "",
                                   const core::ClusterModel* models = nullptr);

/// The losses of platform.xml for this cluster, one sentence with its size each: how flows share links
/// (sharing_losses()), messages faster than their link, costs that differ between local and remote messages, noise of
/// messages, segments from 2^31 bytes on, lines that start below zero.
std::vector<std::string> platform_xml_losses(const core::ClusterModel& cluster);

/// Loss of a scope where messages go through SMPI itself (plain smpirun with platform.xml, `predict --paje`):
/// there a flow of bandwidth factor f takes 1/f of its link for each byte, so that several flows have a total of f
/// of the link, and not the whole link (docs/internals/platform.md).
struct SharingLoss {
  core::Scope scope = core::Scope::remote;
  double least_factor = 1;      ///< of a segment with messages of 1 KiB or more
  double least_from_bytes = 0;  ///< where that segment starts
  double longest_factor = 1;    ///< of the longest messages measured
  int matters_from_ranks = 2;   ///< per host: with fewer, links are not shared
};

/// One for each scope of which a factor is below 0.98 and whose links this cluster can share: links between hosts from
/// two ranks per host on (from one on a topology or a backbone, whose links several hosts share), those inside a host
/// if they have a capacity.
std::vector<SharingLoss> sharing_losses(const core::ClusterModel& cluster);

/// A sentence for people.
std::string to_string(const SharingLoss& loss);

}  // namespace hplcast::platforms
