// Files as xhpl-instrumented writes them, for two ranks that exchange one message.
#pragma once

#include <string>

namespace hplcast::study::testing {

/// What a file of `rank` says besides its events; rank 1 is on a host whose clock is 100 s ahead.
inline std::string activity_header(int rank, const std::string& run = "abc") {
  const std::string number = std::to_string(rank);
  return "hplcast-activity,2\nrun," + run + "\nrank," + number + ",2\nhost,node-" + number + "," + number +
         "\ntimed,1," + (rank == 0 ? "50,60" : "150,160") + "\nhpl,1000,128,1,2\ncpu,0," + number + "\n";
}

/// Rank 0 sends from 3 s to 3.5 s; rank 1 asks at 1 s and has it at 4 s.
inline std::string activity_of(int rank, const std::string& run = "abc") {
  const std::string sums =
      "phase,other,1\nphase,factorisation,0\nphase,broadcast,6\nphase,swap,0\nphase,update,3\nphase,solve,0\n"
      "kernel,update,dgemm,1,2,4000\ncalls,dgemm,5,1,2,10,20,10,200,100,200,2000,400\nsample,dgemm,2,10,20,10\n";
  if (rank == 0)
    return activity_header(rank, run) + sums +
           "mpi,broadcast,send,1,0.5,80\n"
           "clock,1,140,100,0.000001\nclock,1,170,100,0.000002\noverhead,0.05\nevents,3,1,0\n"
           "M,3,3.5,0,send,broadcast,1,7,80,out,0\nK,4,6,1,dgemm,10,20,10\nP,0,10,-1,other\nend\n";
  return activity_header(rank, run) + sums +
         "mpi,broadcast,recv,1,3,80\nmpi,broadcast,iprobe,9,0.75,0\nempty,broadcast,iprobe,8,0.5,0\n"
         "overhead,0.25\nevents,1,1,0\nM,1,4,0,recv,broadcast,0,7,80,in,0\nend\n";
}

}  // namespace hplcast::study::testing
