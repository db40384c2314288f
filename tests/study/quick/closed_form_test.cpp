// HPL without simulation. That it is near to simulated runs: bench/quick.sh.
#include <gtest/gtest.h>

#include "hplcast/study/quick.hpp"

namespace hplcast::study {
namespace {

core::ClusterModel node_of_four() {
  QuickMachine machine;
  machine.cores = 4;
  machine.flop_per_s_per_core = 3e10;
  return quick_cluster(machine, all_assumptions(&QuickAssumption::expected));
}

TEST(ClosedForm, HasNoLookAheadOnOneProcessColumn) {
  core::HplParameters parameters{5000, 128, 4, 1};
  parameters.DEPTH = 0;
  const double without_s = closed_form_s(node_of_four(), parameters);
  parameters.DEPTH = 1;
  EXPECT_EQ(closed_form_s(node_of_four(), parameters), without_s) << "HPL takes HPL_pdgesv0 for both";
}

TEST(ClosedForm, FactorsAPanelColumnByColumnWhereNbminIsMoreThanItHas) {
  core::HplParameters parameters{5000, 64, 2, 2};
  parameters.NBMIN = 64;
  const double whole_s = closed_form_s(node_of_four(), parameters);
  parameters.NBMIN = 256;
  EXPECT_EQ(closed_form_s(node_of_four(), parameters), whole_s);
}

}  // namespace
}  // namespace hplcast::study
