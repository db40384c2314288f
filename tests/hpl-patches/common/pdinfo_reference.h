/* HPL's own reader of HPL.dat, HPL_pdinfo, in a process of its own: the reference for ours. */
#ifndef HPLCAST_PDINFO_REFERENCE_H
#define HPLCAST_PDINFO_REFERENCE_H

#ifdef __cplusplus
extern "C" {
#endif

enum pdinfo_status {
  PDINFO_CRASHED,  /* the process ended without saying how */
  PDINFO_READ,     /* HPL would run what it read */
  PDINFO_REFUSED,  /* "Illegal input in file HPL.dat. Exiting ..." */
  PDINFO_UNDEFINED /* HPL looked at memory that holds nothing of the file */
};

/* What HPL_pdinfo read; lists in the order of its arguments, with HPL's numbers. */
struct pdinfo_result {
  enum pdinfo_status status;
  int counts[9];     /* N NB grids PFACT NBMIN NDIV RFACT BCAST DEPTH */
  int values[9][20]; /* the same; for the grids P */
  int q[20];
  int pmap, swap, swap_threshold, l1, u, equil, align;
};

/* Reads a file by HPL_pdinfo, in a forked process. */
struct pdinfo_result pdinfo_read(const char* path);

#ifdef __cplusplus
}
#endif

#endif
