/* Put before the sources of HPL_pdlaswp00N and T, and of HPL_pdtrsv: their workspace is uncommitted memory, shared by all
 * ranks. It holds rows of the matrix, or parts of the solution, which are never read. */
#ifndef HPLCAST_NAMELESS_WORKSPACE_H
#define HPLCAST_NAMELESS_WORKSPACE_H

#ifdef HPLCAST_NO_CONTENT /* the real HPL is compiled from the same files */

#include "hpl.h"
#include "shared_panel.h"

#define malloc(bytes) hplcast_nameless(bytes)
#define free(pointer) ((void)(pointer))

#endif
#endif
