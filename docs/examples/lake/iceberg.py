"""Adds the files of the archive to Iceberg tables, each file once: python3 iceberg.py /archive sqlite:////srv/catalog.db /srv/iceberg

Needs: pip install pyarrow 'pyiceberg[sql-sqlite]'. Another catalog works the same. After an erasure and after `keep` has
removed files, drop the tables and run it again.
"""

import sys
from pathlib import Path

import pyarrow.parquet
from pyiceberg.catalog.sql import SqlCatalog


def add_files(catalog, signal, paths):
    catalog.create_namespace_if_not_exists("sluice")
    table = catalog.create_table_if_not_exists(f"sluice.{signal}", schema=pyarrow.parquet.read_schema(paths[0]))
    known = set(table.inspect.data_files()["file_path"].to_pylist())
    files = [file for file in (f"file://{path}" for path in paths) if file not in known]
    if files:
        table.add_files(files)
    return table


if __name__ == "__main__":
    archive, uri, warehouse = sys.argv[1:]
    catalog = SqlCatalog("sluice", uri=uri, warehouse=f"file://{warehouse}")
    for signal in ("spans", "logs", "metric_points"):
        paths = sorted(str(path) for path in Path(archive, "lake", signal).glob("*/*.parquet"))
        if paths:
            print(add_files(catalog, signal, paths).scan().count(), signal)
