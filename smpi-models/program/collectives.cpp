// SMPI's collective operations where the algorithm that it chooses fails.
#include <smpi/smpi.h>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "hplcast/smpi_models/hplcast_program_messages.h"
#include "smpi-models/program/program.hpp"
#include "smpi-models/program/program_messages.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

/// Algorithms, and what the functions of MPI call: the same from SimGrid 3.32 to 4.1; the header is not installed.
namespace simgrid::smpi {
using Alltoall = int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
using Alltoallv = int(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                      MPI_Comm);
using Allreduce = int(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
using ReduceScatter = int(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm);
using Gather = int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
Alltoall alltoall__ring;
Alltoallv alltoallv__ring;
Allreduce allreduce__rab_rdb, allreduce__mpich;
ReduceScatter reduce_scatter__default, reduce_scatter__mpich;
Gather gather__ompi, gather__ompi_basic_linear;
using Bcast = int(void*, int, MPI_Datatype, int, MPI_Comm);
Bcast bcast__impi, bcast__mpich;
using Reduce = int(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
Reduce reduce__mpich;
namespace colls {
extern Alltoall* alltoall;
extern Alltoallv* alltoallv;
extern Allreduce* allreduce;
extern ReduceScatter* reduce_scatter;
extern Gather* gather;
extern Bcast* bcast;
extern Reduce* reduce;
}  // namespace colls
}  // namespace simgrid::smpi

namespace hplcast::smpi_models {

namespace {

namespace smpi = simgrid::smpi;

/// Algorithms for powers of two ("pair", "rab1") are chosen for any number of ranks, and throw before they send
/// anything. `other`: what Open MPI and MPICH, or Intel MPI, do there.
template <auto* choice, auto* other, typename... Arguments>
void replace_powers_of_two(int (*)(Arguments...)) {
  static auto* const chosen = *choice;
  *choice = [](Arguments... arguments) {
    try {
      return chosen(arguments...);
    } catch (const std::invalid_argument&) {  // to be left before anything blocks
    }
    return other(arguments...);
  };
}

int ranks_of(MPI_Comm communicator) {
  int ranks = 0;
  PMPI_Comm_size(communicator, &ranks);
  return ranks;
}

/// Where `fails` says so of the arguments, `other` does it.
template <auto* choice, auto* other, typename Fails, typename... Arguments>
void replace_where(const Fails& fails, int (*)(Arguments...)) {
  static auto* const chosen = *choice;
  static const Fails its = fails;
  *choice = [](Arguments... arguments) { return (its(arguments...) ? other : chosen)(arguments...); };
}

}  // namespace

void mend_collectives() {
  replace_powers_of_two<&smpi::colls::alltoall, smpi::alltoall__ring>(smpi::alltoall__ring);
  replace_powers_of_two<&smpi::colls::alltoallv, smpi::alltoallv__ring>(smpi::alltoallv__ring);
  replace_powers_of_two<&smpi::colls::allreduce, smpi::allreduce__rab_rdb>(smpi::allreduce__rab_rdb);

  // Some broadcasts of Intel MPI are SMPI's for several cores of a host, which send more than others receive on one.
  if (smpi::colls::bcast == smpi::bcast__impi) smpi::colls::bcast = smpi::bcast__mpich;

  // Recursive halving gives wrong results where a rank gets nothing: Open MPI does not take it then.
  if (smpi::colls::reduce_scatter != smpi::reduce_scatter__mpich)
    replace_where<&smpi::colls::reduce_scatter, smpi::reduce_scatter__default>(
        [](const void*, void*, const int* counts, MPI_Datatype, MPI_Op, MPI_Comm on) {
          const int* const end = counts + ranks_of(on);
          return std::find(counts, end, 0) != end;
        },
        smpi::reduce_scatter__default);

  // Other algorithms than those of Open MPI and MPICH combine in another order than that of the ranks.
  const auto reorders = [](auto... arguments) {
    int commutes = 1;
    PMPI_Op_commutative(std::get<MPI_Op>(std::tuple(arguments...)), &commutes);
    return commutes == 0;
  };
  if (smpi::colls::gather != smpi::gather__ompi) {
    replace_where<&smpi::colls::allreduce, smpi::allreduce__mpich>(reorders, smpi::allreduce__mpich);
    replace_where<&smpi::colls::reduce_scatter, smpi::reduce_scatter__mpich>(reorders, smpi::reduce_scatter__mpich);
    replace_where<&smpi::colls::reduce, smpi::reduce__mpich>(reorders, smpi::reduce__mpich);
    // Within a host these send from the address of MPI_IN_PLACE, unless the root is the first rank there.
    static auto* const reduce = smpi::colls::reduce;
    smpi::colls::reduce = [](const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
                             MPI_Comm on) {
      MPI_Aint first = 0, extent = 0;
      PMPI_Type_get_extent(type, &first, &extent);
      const char* const bytes = static_cast<const char*>(in);
      const std::vector<char> kept(bytes, out == MPI_IN_PLACE ? bytes + count * extent : bytes);
      return reduce(out == MPI_IN_PLACE ? kept.data() : out, in, count, type, op, root, on);
    };
  }

  // Open MPI gathers long blocks on few ranks by a first segment (of whole elements: perhaps a little less) and the
  // rest. Where that is a short message for SMPI, it mixes both up: a deadlock.
  constexpr int segment_bytes = 32768;
  if (smpi::colls::gather == smpi::gather__ompi && port::setting<int>("smpi/async-small-thresh") > segment_bytes / 2)
    replace_where<&smpi::colls::gather, smpi::gather__ompi_basic_linear>(
        [](const void*, int count, MPI_Datatype type, void*, int in_count, MPI_Datatype in_type, int root,
           MPI_Comm on) {
          constexpr int few = 8, long_bytes = 131072;
          int rank = 0;
          PMPI_Comm_rank(on, &rank);
          const std::size_t bytes = rank == root ? packed_bytes(in_count, in_type) : packed_bytes(count, type);
          return bytes >= std::size_t{long_bytes} && ranks_of(on) < few;
        },
        smpi::gather__ompi_basic_linear);
}

}  // namespace hplcast::smpi_models

void hplcast_warn_of_scan(const char* function) {
  if (static int told = 0; told++ > 0) return;
  std::fprintf(stderr, "hplcast: warning: %s by an operation that does not commute: its results are wrong here\n",
               function);
}
