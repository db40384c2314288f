// The main function of hplcast under another name: thousands of bad inputs run in forks of the test program. They end
// by themselves, so none starts the process that removes what a killed one leaves: a fork of everything each time.
#define main hplcast_main
#define remove_leftovers_when_we_die settle_in
#include "cli/commands/main.cpp"
