// The main function of hplcast under another name: thousands of bad inputs run in forks of the test program.
#define main hplcast_main
#include "cli/commands/main.cpp"
