/* The variables of the environment that programs of hplcast look at, for C and C++: the one place of their names. The
 * settings of a simulation are in a file that the first of them names. */
#ifndef HPLCAST_ENVIRONMENT_H
#define HPLCAST_ENVIRONMENT_H

/* --- simulated programs ------------------------------------------------------------------------------------------- */

/* The file with the settings of a simulation (docs/formats/simulation-settings.md); without it they are the defaults. */
#define HPLCAST_VARIABLE_SIMULATION "HPLCAST_SIMULATION"
/* "on": as `checks` in the settings of every simulation below this process. Tests set it. */
#define HPLCAST_VARIABLE_CHECKS "HPLCAST_CHECKS"
/* The BLAS that executes routines with `--numerics run`; without it that of the system. */
#define HPLCAST_VARIABLE_REAL_BLAS "HPLCAST_REAL_BLAS"

/* --- where hplcast finds what belongs to it, if not beside itself ------------------------------------------------- */

#define HPLCAST_VARIABLE_XHPL "HPLCAST_XHPL"
#define HPLCAST_VARIABLE_XHPL_SMPI "HPLCAST_XHPL_SMPI"
#define HPLCAST_VARIABLE_XHPL_INSTRUMENTED "HPLCAST_XHPL_INSTRUMENTED"
/* libhplcast-platform.so */
#define HPLCAST_VARIABLE_PLATFORM_LIBRARY "HPLCAST_PLATFORM_LIBRARY"
/* libhplcast-observe.so */
#define HPLCAST_VARIABLE_OBSERVE_LIBRARY "HPLCAST_OBSERVE_LIBRARY"

/* --- observed programs (libhplcast-observe.so) -------------------------------------------------------------------- */

/* The folder of the files; without it nothing is observed. */
#define HPLCAST_VARIABLE_OBSERVE_DIR "HPLCAST_OBSERVE_DIR"
/* Bytes of memory for what is measured after the run; without it nothing is. */
#define HPLCAST_VARIABLE_OBSERVE_REACH "HPLCAST_OBSERVE_REACH"

/* --- programs with the fake accelerator (accelerators/fake) -------------------------------------------------------- */

/* How many accelerators a process sees (1), and bytes of the memory of each (16 GiB). */
#define HPLCAST_VARIABLE_FAKE_ACCELERATORS "HPLCAST_FAKE_ACCELERATORS"
#define HPLCAST_VARIABLE_FAKE_MEMORY "HPLCAST_FAKE_MEMORY"
/* PREFIX of the files PREFIX-PID.csv with the duration of each kernel and copy. */
#define HPLCAST_VARIABLE_FAKE_CALLS "HPLCAST_FAKE_CALLS"

/* --- xhpl-instrumented -------------------------------------------------------------------------------------------- */

/* PREFIX of the files run-RANK.activity (docs/formats/activity.md); without it phases are not followed. */
#define HPLCAST_VARIABLE_ACTIVITY "HPLCAST_ACTIVITY"
/* Most events of a rank. */
#define HPLCAST_VARIABLE_ACTIVITY_EVENTS "HPLCAST_ACTIVITY_EVENTS"
/* FIRST-LAST: ranks, and panels, whose kernels and phases are events. */
#define HPLCAST_VARIABLE_TRACE_RANKS "HPLCAST_TRACE_RANKS"
#define HPLCAST_VARIABLE_TRACE_PANELS "HPLCAST_TRACE_PANELS"
/* PREFIX of the files with durations of kernels; without it they are not timed. */
#define HPLCAST_VARIABLE_KERNEL_TRACE "HPLCAST_KERNEL_TRACE"
/* Ends the names of kernels in the rows of calls without work (a size is 0). */
#define HPLCAST_EMPTY_CALLS "_empty"
/* Most rows of a kernel in these. */
#define HPLCAST_VARIABLE_KERNEL_TRACE_MAX "HPLCAST_KERNEL_TRACE_MAX"
/* OFFSET_S,DRIFT: every rank but 0 sees a clock that is off by that. Tests set it. */
#define HPLCAST_VARIABLE_TEST_CLOCK "HPLCAST_TEST_CLOCK"

#endif
