"""Results of hplcast as pandas frames, and its commands from Python.

    import hplcast
    runs = hplcast.predict("examples/dahu-like.json", N=[2000, 4000], NB=128, P=2, Q=2)
    runs[["N", "gflops", "low_gflops", "high_gflops"]]

`read()` reads files that the program has written; `predict()`, `sweep()`, `quick()` and `offer()` run the program. No
model is computed here. docs/start/python.md of hplcast has the columns.
"""
from ._command import CommandError, command, offer, predict, quick, sweep
from ._files import FormatError, read

__all__ = ["CommandError", "FormatError", "command", "offer", "predict", "quick", "read", "sweep"]
