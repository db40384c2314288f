// Carries the precompiled headers that all tests share (cmake/HplcastTargets.cmake); does nothing.
int main() {}
