#!/usr/bin/env python3
"""The Python package against files with known content and the built program: python_test.py BIN_FOLDER SOURCE_FOLDER"""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

BIN, SOURCE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "python"))
try:
    import pandas  # noqa: F401
except ImportError:
    debian = "/usr/bin/python3"  # packages of Debian are for this one, whatever comes first in PATH
    if os.path.exists(debian) and os.path.realpath(sys.executable) != os.path.realpath(debian):
        os.execv(debian, [debian, *sys.argv])
    print("skipped: python3-pandas is not installed (tools/setup --tests installs it)")
    sys.exit(0)
import hplcast  # noqa: E402

BASE = SOURCE / "tests/cli/bad_inputs/base"
EXAMPLES = SOURCE / "examples"
os.environ["HPLCAST"] = str(BIN / "hplcast")
os.environ["HPLCAST_EXAMPLES"] = str(EXAMPLES)
os.environ["PYTHONPATH"] = str(SOURCE / "python")


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hplcast-python-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name, content):
        path = self.folder / name
        path.write_text(content, encoding="utf-8")
        return path


class Reads(Folder):
    def test_predictions_with_parameters_times_and_intervals_as_columns(self):
        content = json.loads((BASE / "predictions.json").read_text())
        first = (content if isinstance(content, list) else [content])[0]
        frame = hplcast.read(BASE / "predictions.json")
        self.assertEqual(frame.attrs["kind"], "predictions")
        self.assertEqual(frame.loc[0, "gflops"], first["gflops"])
        self.assertEqual(frame.loc[0, "N"], first["parameters"]["N"])

    def test_measurements_real_runs_and_ledgers_by_their_columns(self):
        for name, kind in (("dgemm.csv", "kernels"), ("mpi.csv", "messages"), ("runs.csv", "configurations"),
                           ("ledger.csv", "ledger"), ("samples.csv", "sensors")):
            frame = hplcast.read(BASE / name)
            rows = [line for line in (BASE / name).read_text().splitlines() if line and not line.startswith("#")]
            self.assertEqual(frame.attrs["kind"], kind, name)
            self.assertEqual(len(frame), len(rows) - 1, name)
        self.assertEqual(hplcast.read(BASE / "dgemm.csv").duration_s.dtype.kind, "f")
        runs = hplcast.read(self.file("real.csv", "N,NB,P,Q,BCAST,time_s,gflops,residual\n5000,128,1,2,1ring,2.5,33.3,passed\n"))
        self.assertEqual((runs.attrs["kind"], runs.gflops[0], runs.BCAST[0]), ("real runs", 33.3, "1ring"))
        for text, kind in (("order,m,n,k,content,repetition\n0,1,2,3,random,1\n", "kernels"),
                           ("order,operation,size_bytes,repetition\n0,recv,8,1\n", "messages"),
                           ("host,time_s,quantity,sensor,value\na,0.5,power_w,package-0,90\n", "sensors"),
                           ('"N","NB","P","Q","time_s"\n"5000","128","1","2","2.5"\n', "real runs")):
            self.assertEqual(hplcast.read(self.file("one.csv", text)).attrs["kind"], kind, text)

    def test_kinds_of_tables_with_times_that_are_no_real_runs(self):
        for text, kind in (("file,run,N,NB,P,Q,column,elapsed_s,gflops,residual\na,1,9,1,1,1,3,1,2,\n", "progress"),
                           ("time_s,duration_s,power_w\n0,0.1,300\n", "power"),
                           ("hosts,ranks_per_host,time_s,energy_j\n2,4,4.3,1348\n", "energy of runs"),
                           ("N,NB,P,Q,time_s,energy_j,ranks_per_host,,\n100,10,1,1,2,NA,4,,\n", "real runs"),
                           ('N;NB;P;Q;time_s;"a,b"\n100;10;1;1;2;x\n', "real runs")):
            self.assertEqual(hplcast.read(self.file("one.csv", text)).attrs["kind"], kind, text)

    def test_what_is_a_comment_a_blank_and_a_name_to_the_program(self):
        calls = 'kernel,m , n,k,duration_s,host,error\n# a comment\ndgemm,1,2,3,0.5 ,NA,\n\ndgemm,1,2,3,,null,"killed\n# by, 9\n"\n'
        frame = hplcast.read(self.file("calls.csv", calls))
        self.assertEqual(list(frame.columns), ["kernel", "m", "n", "k", "duration_s", "host", "error"])
        self.assertEqual(frame.host.tolist(), ["NA", "null"])
        self.assertEqual((frame.duration_s[0], frame.error[1]), (0.5, "killed\n# by, 9"))

    def test_failed_calls_as_rows_without_a_duration(self):
        frame = hplcast.read(self.file("calls.csv", "kernel,m,n,k,duration_s,error\ndgemm,1,2,3,0.5,\ndgemm,1,2,3,,killed\n"))
        self.assertTrue(pandas.isna(frame.duration_s[1]))
        self.assertEqual(frame.error[1], "killed")

    def test_comparison(self):
        rows = [{"parameters": {"N": 5}, "error": 0.5, "error_interval": [0.25, 0.75], "real_gflops": 2.0}]
        for one in (rows, [{"N": 5, **{k: v for k, v in rows[0].items() if k != "parameters"}}]):
            frame = hplcast.read(self.file("c.json", json.dumps({"rows": one, "mean_abs_error": 0.5, "n": 1})))
            self.assertEqual(frame.loc[0, ["N", "error", "low_error", "high_error"]].tolist(), [5, 0.5, 0.25, 0.75])
            self.assertEqual(frame.attrs["summary"]["mean_abs_error"], 0.5)


class Refuses(Folder):
    def refused(self, path, *words):
        with self.assertRaises(hplcast.FormatError) as found:
            hplcast.read(path)
        for word in (os.fspath(path), *words):
            self.assertIn(word, str(found.exception))

    def test_what_is_not_of_hplcast(self):
        self.refused(self.file("x.csv", "a,b\n1,2\n"), "`a,b`")
        self.refused(self.file("x.json", "{}"), "neither predictions")
        self.refused(self.file("empty.csv", ""), "empty")
        half = (BASE / "predictions.json").read_text()
        self.refused(self.file("half.json", half[:len(half) // 2]), "damaged JSON")
        (self.folder / "binary").write_bytes(b"\xff\xfe\x00")
        self.refused(self.folder / "binary", "not UTF-8")

    def test_numbers_of_another_locale(self):
        self.refused(self.file("x.csv", "kernel;m;n;k;duration_s\ndgemm;1;2;3;0,5\n"), "duration_s", "decimal point")

    def test_rows_with_more_or_fewer_fields_than_the_header(self):
        for row in ("5000,128,1,2,2.5,", "5000,128,1,2"):  # the first was N=128, NB=1 ...
            self.refused(self.file("x.csv", f"N,NB,P,Q,time_s\n{row}\n"), "line 2", "expected 5 as in the header")
        self.refused(self.file("x.csv", 'N,NB,P,Q,time_s,blas\n5000,128,1,2,2.5,"a\n'), "line 2", "does not end")
        self.refused(self.file("x.csv", "N,NB,P,N,time_s\n1,2,3,4,5\n"), "twice")
        self.refused(self.file("x.csv", "job,time_s\n1,2\n"), "`job,time_s`")

    def test_predictions_of_another_version(self):
        content = json.loads((BASE / "predictions.json").read_text())
        (content[0] if isinstance(content, list) else content)["schema_version"] = 7
        self.refused(self.file("p.json", json.dumps(content)), "version 7")

    def test_databases_of_another_version_or_program(self):
        for application, version, words in ((0x68706C63, 9, "version 9"), (0, 0, "neither of a sweep nor a history")):
            path = self.folder / f"{version}.db"
            database = sqlite3.connect(path)
            database.execute(f"PRAGMA application_id = {application}")
            database.execute(f"PRAGMA user_version = {version}")
            database.execute("CREATE TABLE x(y)")
            database.commit()
            database.close()
            self.refused(path, words)


class Runs(Folder):
    def test_all_combinations_of_a_prediction_and_one_sweep_as_the_program_predicts_them(self):
        cluster = EXAMPLES / "dahu-like.json"
        frame = hplcast.predict(cluster, N=[500, 1000], NB=[64, 128], P=1, Q=2)
        self.assertEqual(sorted(zip(frame.N, frame.NB)), [(500, 64), (500, 128), (1000, 64), (1000, 128)])
        printed = subprocess.run([hplcast.command(), "predict", cluster, "-N", "500", "--nb", "64", "-P", "1", "-Q", "2",
                                  "--json"], capture_output=True, check=True).stdout
        same = frame[(frame.N == 500) & (frame.NB == 64)].iloc[0]
        self.assertEqual(same.time_s, json.loads(printed)["time_s"])
        mix = hplcast.predict(cluster, N=500, NB=64, P=1, Q=2, SWAP=2, swap_threshold=[32, 64])
        self.assertEqual(mix.swap_threshold.tolist(), [32, 64])
        plan = self.file("plan.yaml", f"cluster: {cluster}\nseeds: 1\nfixed: {{NB: 64, P: 1, Q: 2}}\n"
                                      "factors: {N: [500]}\n")
        swept = hplcast.sweep(plan, self.folder / "sweep.db")
        self.assertEqual(swept.attrs["kind"], "sweep")
        self.assertEqual(swept.time_s.tolist(), [same.time_s])
        self.assertGreater(swept.wall_s[0] * swept.peak_pss_bytes[0], 0)
        mixed = hplcast.predict(cluster, N=500, P=2, Q=2, SWAP="mix", swap_threshold=[16, 128])
        self.assertEqual(sorted(mixed.swap_threshold), [16, 128])

    def test_switches_that_are_false_are_off(self):
        cluster, numpy = EXAMPLES / "dahu-like.json", pandas.Series([500]).to_numpy()
        quiet, loud = (hplcast.predict(cluster, N=numpy[0], P=1, Q=2, seed=[1, 2], noise=on) for on in (False, True))
        self.assertEqual(quiet.gflops[0], quiet.gflops[1])  # noise=False was noise
        self.assertNotEqual(loud.gflops[0], loud.gflops[1])
        self.assertNotIn("low_gflops", hplcast.predict(cluster, N=500, interval=False).columns)
        self.assertIn("energy_j", hplcast.predict(cluster, N=500, energy=(numpy == 500)[0], phases=False).columns)
        with self.assertRaisesRegex(TypeError, "NB, not nb"):
            hplcast.predict(cluster, N=500, nb=64)

    def test_clusters_of_a_sweep_by_their_files(self):
        names = ["a.json", "b.json"]  # of one name, as `transform` leaves it
        for name, word in zip(names, ("2", "4")):
            subprocess.run([hplcast.command(), "transform", EXAMPLES / "dahu-like.json", "--scale-dgemm", word, "-o",
                            self.folder / name], check=True)
        plan = self.file("plan.yaml", "fixed: {N: 500, NB: 64}\nfactors: {cluster: [a.json, b.json]}\n")
        swept = hplcast.sweep(plan, self.folder / "sweep.db").sort_values("cluster")
        self.assertEqual([pathlib.Path(path).name for path in swept.cluster], names)
        self.assertEqual(set(swept.cluster_name), {"dahu-like"})

    def test_errors_of_the_program_with_what_it_said(self):
        with self.assertRaises(hplcast.CommandError) as found:
            hplcast.quick(nodes=32)
        self.assertEqual(found.exception.status, 2)
        self.assertIn("--cores", str(found.exception))

    def test_warnings_of_the_program_are_warnings(self):
        cluster = json.loads((EXAMPLES / "dahu-like.json").read_text())
        cluster.setdefault("provenance", {})["quality_flags"] = [
            {"subject": "kernels", "flag": "not_calibrated", "detail": "the speed of hosts"}]
        with self.assertWarnsRegex(UserWarning, "not_calibrated"):
            hplcast.predict(cluster, N=500, P=1, Q=1)

    def test_offers_and_the_content_of_a_cluster(self):
        offers = hplcast.offer(BASE / "offers.yaml")
        self.assertIn(offers.name[0], offers.attrs["verdict"])
        self.assertTrue((offers.low_gflops < offers.gflops).all())
        cluster = json.loads((EXAMPLES / "dahu-like.json").read_text())
        self.assertEqual(len(hplcast.predict(cluster, N=500, P=1, Q=1)), 1)

    def test_a_history(self):
        database = self.folder / "history.db"
        subprocess.run([hplcast.command(), "history", "import", BASE / "history.csv", "--database", database], check=True,
                       capture_output=True)
        frame = hplcast.read(database)
        self.assertEqual(frame.attrs["kind"], "history")
        self.assertGreater(len(frame), 0)

    def test_the_notebook(self):
        done = subprocess.run([sys.executable, SOURCE / "tests/python/run_notebook", EXAMPLES / "python/predictions.ipynb"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
