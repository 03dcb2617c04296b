"""Stamps a fleet with Ray: `python fleet.py TEMPLATES VALUES FLEET OUT`.

FLEET is Parquet, a cluster in each row. OUT becomes a folder of Parquet: cluster, path, content, error.
`RAY_ADDRESS` selects a running Ray cluster.
"""

import sys
from collections.abc import Callable

import pyarrow
import ray

import dropforge


def stamped(stamp: Callable[[pyarrow.Table], pyarrow.Table], fleet: str, rows: int = 1000) -> ray.data.Dataset:
    """Returns the outputs of all clusters. A task renders `rows` of them, and is repeated if its worker dies."""
    clusters = ray.data.read_parquet(fleet).repartition(target_num_rows_per_block=rows)
    return clusters.map_batches(stamp, batch_format="pyarrow", batch_size=rows)


if __name__ == "__main__":
    templates, values, fleet, out = sys.argv[1:]
    ray.init()
    stamped(dropforge.Stamp(templates, values=values), fleet).write_parquet(out)
