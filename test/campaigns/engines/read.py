"""Prints the rows of Parquet files as lines of JSON whose values are text: read.py ENGINE FILE..."""

import json
import os
import sys
import tempfile
from datetime import timezone
from decimal import Decimal


def chdb(files):
    import chdb

    folder = os.path.dirname(os.path.dirname(files[0]))
    query = f"SELECT * FROM file('{folder}/*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0"
    return chdb.query(query, "ArrowTable").to_pylist()


def spark(files):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    return [row.asDict() for row in session.read.parquet(*files).collect()]


def iceberg(files):
    from pyiceberg.catalog.sql import SqlCatalog

    sys.path.append(os.path.join(os.path.dirname(__file__), "../../../docs/examples/lake"))
    from iceberg import add_files

    folder = tempfile.mkdtemp()
    catalog = SqlCatalog("sluice", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    add_files(catalog, "records", files[:1])
    return add_files(catalog, "records", files).scan().to_arrow().to_pylist()


def text(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, Decimal):
        # All decimal columns have eight digits. Spark gives some values a ninth, a zero.
        whole, point, digits = format(value, "f").partition(".")
        return whole + point + digits[:8] + digits[8:].rstrip("0")
    if hasattr(value, "strftime"):
        utc = value if value.tzinfo is None else value.astimezone(timezone.utc)
        return utc.strftime("%Y-%m-%d %H:%M:%S.%f")
    return repr(value)


engine, *files = sys.argv[1:]
for row in {"chdb": chdb, "spark": spark, "iceberg": iceberg}[engine](files):
    print(json.dumps({name: text(value) for name, value in row.items()}, ensure_ascii=True))
