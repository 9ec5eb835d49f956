"""The README shows what the benchmarks said last, and every benchmark is run by `make bench`."""

from benchmarks.__main__ import BENCHMARKS
from benchmarks.kept import LATEST, Row, rows_in
from doc_pages import ROOT, text

#: They serve the others.
_PARTS = {"__init__", "__main__", "figures", "homes", "kept", "served"}


def test_the_readme_shows_the_figures_that_were_kept() -> None:
    kept = rows_in(text(LATEST))

    assert kept
    assert rows_in(text(ROOT / "README.md")) == kept


def test_every_row_is_of_a_benchmark_and_in_its_order() -> None:
    names = [row.name for row in rows_in(text(LATEST))]

    assert names == [name for name in BENCHMARKS if name in names]


def test_every_script_is_a_benchmark_or_serves_one() -> None:
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}

    assert scripts - _PARTS == set(BENCHMARKS)


def test_a_row_is_read_as_it_was_written() -> None:
    row = Row("load", "no error, p99 <= 250 ms", "3 minutes: 0 errors | p99 9 ms", "2026-03-03")

    assert rows_in(f"| a | b |\n{row}\n") == [row]
