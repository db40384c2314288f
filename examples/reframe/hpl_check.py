"""HPL against its prediction, as a check of ReFrame (4 or later):

hplcast predict cluster.json -N 5000 --nb 128 -P 1 -Q 2 --interval 99 -o hpl.json
hplcast export reframe hpl.json --lower-only -o reference.py
HPL_DAT=HPL.dat REFERENCE=reference.py XHPL=build/bin/xhpl RANKS=2 reframe -c hpl_check.py -r
"""
import ast
import os
import pathlib

import reframe as rfm
import reframe.utility.sanity as sn

# The dictionary alone, or `reference = {...}`.
REFERENCE = ast.parse(pathlib.Path(os.environ['REFERENCE']).read_text()).body[-1].value


@rfm.simple_test
class HplCheck(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = os.environ['XHPL']
    num_tasks = int(os.environ['RANKS'])
    reference = ast.literal_eval(REFERENCE)

    @run_before('run')
    def place_parameters(self):
        self.prerun_cmds = [f'cp {os.environ["HPL_DAT"]} HPL.dat']

    @sanity_function
    def residuals_passed(self):
        return sn.all([sn.assert_found(r'PASSED', self.stdout), sn.assert_not_found(r'FAILED', self.stdout)])

    @performance_function('Gflop/s', perf_key='Gflops')
    def gflops(self):
        return sn.extractsingle(r'^W[RC]\d\S+(?:\s+\S+){5}\s+(\S+)', self.stdout, 1, float)
