#pragma once

#include <gtest/gtest.h>

#include <cstdio>

namespace hplcast::test {

/// A figure of docs/measurements/estimators.md: printed for bench/estimators.sh, and outside of its range a failure.
inline void expect_figure(const char* name, double measured, double least, double most) {
  const bool ok = least <= measured && measured <= most;
  std::printf("figure: %s | %.4g to %.4g | %.4g | %s\n", name, least, most, measured, ok ? "ok" : "MISSED");
  EXPECT_TRUE(ok) << name << ": " << measured << " is not within " << least << " to " << most;
}

}  // namespace hplcast::test
