/* Put before HPL_pdinfo.c of HPC Challenge: its two files go where HPL's would, see hpcc_main.c. */
#ifndef HPLCAST_HPL_HPCC_FILES_H
#define HPLCAST_HPL_HPCC_FILES_H

#include <stdio.h>

FILE* hplcast_open(const char* path, const char* mode);
#define fopen hplcast_open

#endif
