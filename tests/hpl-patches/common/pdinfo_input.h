/* Put before HPL_pdinfo.c, which is otherwise compiled as it is: the files that it opens, its input functions and its
 * exit go through pdinfo_reference.c. */
#ifndef HPLCAST_PDINFO_INPUT_H
#define HPLCAST_PDINFO_INPUT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

FILE* pdinfo_fopen(const char* path, const char* mode);
char* pdinfo_fgets(char* line, int size, FILE* file);
int pdinfo_sscanf(const char* text, const char* format, char* word);

#define fopen pdinfo_fopen
#define fgets pdinfo_fgets
#define sscanf pdinfo_sscanf
#define exit _exit

#endif
