"""`examples/ray/fleet.py` on a head and two workers, one of which is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.json
import pyarrow.parquet
import pytest

import dropforge

from .conftest import ROOT, files, run

if not os.environ.get("DROPFORGE_RAY"):
    pytest.skip("`python/test --ray` runs it", allow_module_level=True)

EXAMPLE = ROOT / "examples/ray/fleet.py"
FLEET = ROOT / "examples/fleet"
CLUSTERS = int(os.environ.get("DROPFORGE_RAY_CLUSTERS", "5000"))


class Dying:
    """A stamp that kills its process once, after its first batch."""

    def __init__(self, stamp: dropforge.Stamp, marker: Path) -> None:
        self.stamp, self.marker = stamp, marker

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        outputs = self.stamp(batch)
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return outputs
        os.kill(os.getpid(), signal.SIGKILL)
        return outputs


def write_fleet(folder: Path) -> None:
    """Writes the clusters as lines of JSON and as Parquet."""
    base = [json.loads(line) for line in (FLEET / "clusters.ndjson").read_text().splitlines()]
    copies = ({**base[at % len(base)], "name": f"{base[at % len(base)]['name']}-{at // len(base)}"} for at in range(CLUSTERS))
    (folder / "fleet.ndjson").write_text("".join(json.dumps(cluster) + "\n" for cluster in copies))
    pyarrow.parquet.write_table(pyarrow.json.read_json(folder / "fleet.ndjson"), folder / "fleet.parquet")


def compare(table: pyarrow.Table, expected: dict[str, str]) -> None:
    """Compares outputs with files. Neither may be missing or twice."""
    assert table["error"].null_count == table.num_rows
    assert table.num_rows == len(expected) == CLUSTERS * 5
    for row in table.to_pylist():
        assert row["path"].startswith(f"{row['cluster']}/")
        assert expected.pop(row["path"]) == row["content"]
    assert expected == {}


@pytest.fixture(scope="module")
def ray_cluster() -> object:
    """A head that runs no tasks, and two nodes with one worker each."""
    ray = pytest.importorskip("ray")
    utils = pytest.importorskip("ray.cluster_utils")
    cluster = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    os.environ["RAY_ADDRESS"] = cluster.address
    ray.init(address=cluster.address, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()
    cluster.shutdown()
    del os.environ["RAY_ADDRESS"]


def test_outputs_are_those_of_the_command(tmp_path: Path, ray_cluster: object, monkeypatch: pytest.MonkeyPatch) -> None:
    write_fleet(tmp_path)
    templates, values = FLEET / "templates", FLEET / "values.yaml"
    done = run("stamp", templates, "--fleet", tmp_path / "fleet.ndjson", "-f", values, "-o", tmp_path / "out", "-q")
    assert done.returncode == 0, done.stderr.decode()
    expected = files(tmp_path / "out")

    monkeypatch.syspath_prepend(EXAMPLE.parent)
    import fleet
    import ray

    stamp = Dying(dropforge.Stamp(templates, values=values), tmp_path / "died")
    dataset = fleet.stamped(stamp, str(tmp_path / "fleet.parquet"), rows=250)
    table = pyarrow.concat_tables(ray.get(dataset.to_arrow_refs()))
    assert (tmp_path / "died").exists()
    compare(table, dict(expected))

    script: list[str | Path] = [sys.executable, EXAMPLE, templates, values, tmp_path / "fleet.parquet", tmp_path / "parquet"]
    subprocess.run(script, check=True, timeout=600, capture_output=True)
    compare(pyarrow.parquet.read_table(tmp_path / "parquet"), expected)


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 30
