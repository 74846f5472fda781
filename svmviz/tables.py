"""CSV files: read as a table of text, and as a data set of two of its columns; written from a data set."""

import csv
import io
import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from svmviz.datasets import LARGEST, MAX_CLASSES, ROW_LIMIT, DataError, Dataset

CLASS_HEADINGS = {"class", "label", "target", "species", "cultivar", "category", "group", "type"}


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file as columns of text, and which of them hold numbers.

    Parameters
    ----------
    names : tuple of str
        Column names, from the header row or "column 1", "column 2", ...
    rows : list of lists of str
        Cells, all rows of the same length.
    first_line : int
        Number of the first data row as a person counts (2 after a header).
    decimal_comma : bool
        Whether "0,5" is a number.
    """

    names: tuple[str, ...]
    rows: list[list[str]]
    first_line: int
    decimal_comma: bool

    def column(self, k: int) -> list[str]:
        """Cells of column `k`."""
        return [row[k] for row in self.rows]

    def numeric(self) -> list[int]:
        """Columns in which more than half of the cells are numbers."""
        return [k for k in range(len(self.names)) if self._share_of_numbers(k) > 0.5]

    def class_column(self) -> int | None:
        """The column that looks like the class: by name, then text, then whole numbers with few values."""
        numeric = self.numeric()
        text = [k for k in range(len(self.names)) if k not in numeric]
        few = [k for k in range(len(self.names)) if len(set(self.column(k))) <= MAX_CLASSES]
        named = [k for k in few if self.names[k].strip().lower() in CLASS_HEADINGS]
        coded = [k for k in numeric if len(numeric) > 2 and self._is_code(k)]
        candidates = named or [k for k in text if k in few] or text or coded
        return candidates[-1] if candidates else None

    def numbers(self, k: int) -> np.ndarray:
        """Column `k` as numbers, or a :class:`DataError` that names the first cell which is not one."""
        cells = enumerate(self.column(k), self.first_line)
        return np.array([self._number(cell, line, k) for line, cell in cells])

    def _share_of_numbers(self, k: int) -> float:
        return sum(_parse(cell, self.decimal_comma) is not None for cell in self.column(k)) / len(self.rows)

    def _is_code(self, k: int) -> bool:
        values = {_parse(cell, self.decimal_comma) for cell in self.column(k)}
        whole = all(v is not None and math.isfinite(v) and v == int(v) for v in values)
        return whole and len(values) <= MAX_CLASSES

    def _number(self, cell: str, line: int, k: int) -> float:
        where = f'Row {line}, column "{_short(self.names[k])}"'
        if not cell:
            raise DataError(f"{where} is empty: fill it in or delete the row.")
        value = _parse(cell, self.decimal_comma)
        if value is None:
            raise DataError(f'{where}: "{_short(cell)}" is not a number: correct it or delete the row.')
        if not math.isfinite(value):
            raise DataError(f"{where} is {_short(cell)}, not a finite number: correct it or delete the row.")
        if abs(value) > LARGEST:
            raise DataError(f"{where}: {value:.3g} is too large: measure the column in a larger unit.")
        return value


def read_table(data: str | bytes, limit: int = ROW_LIMIT) -> Table:
    """Split a CSV file into cells.

    Commas, semicolons and tabs separate columns; a header row is recognised by having no number in it.

    Parameters
    ----------
    data : str or bytes
        The file; bytes in UTF-8, UTF-16 with its mark, or Windows-1252.
    limit : int, default ROW_LIMIT
        Most rows to accept.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file is empty, not text, ragged, has one column only, or too many rows.
    """
    text = _text(data)
    separator = _separator(text)
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=separator)]
    except csv.Error as error:  # for instance a cell of more than 131,072 characters
        raise DataError("This is not a CSV file: save the table as CSV (UTF-8) and open that.") from error
    lines = [(line, row) for line, row in enumerate(cells, 1) if any(row)]
    if not lines:
        raise DataError("The file is empty: it needs two columns of numbers and may have a class column.")
    width = _common_width(lines)
    comma = separator != ","
    header = _is_header(lines[0][1], comma)
    names = _unique(lines[0][1]) if header else [f"column {k}" for k in range(1, width + 1)]
    rows = [row for _, row in lines[header:]]
    if not rows:
        raise DataError("The file has a header but no rows: add at least two rows.")
    if len(rows) > limit:
        most = f"{limit:,}"
        raise DataError(f"The file has {len(rows):,} rows, and {most} is the most: keep a sample of {most}.")
    return Table(tuple(names), rows, lines[0][0] + header, comma)


def _common_width(lines: list[tuple[int, list[str]]]) -> int:
    """Columns of a table, or a :class:`DataError` that names the first row which differs."""
    width = Counter(len(row) for _, row in lines).most_common(1)[0][0]
    if width < 2:
        raise DataError("The file has one column: it needs two, separated by commas, semicolons or tabs.")
    for line, row in lines:
        if len(row) != width:
            raise DataError(f"Row {line} has {len(row)} cells where most have {width}: correct or delete it.")
    return width


def from_csv(
    data: str | bytes,
    columns: tuple[int, int] | None = None,
    label: int | Literal["auto"] | None = "auto",
    limit: int = ROW_LIMIT,
) -> Dataset:
    """A data set from a CSV file.

    Parameters
    ----------
    data : str or bytes
        The file, see :func:`read_table`.
    columns : pair of int, optional
        The two columns to show, counted from 0; by default the first two that hold numbers.
    label : int, None or "auto", default "auto"
        The class column; None for (x, y) pairs, that is regression. "auto" takes a column of text, or
        among three or more columns of numbers one of whole numbers with few values; without such a column
        it is regression.
    limit : int, default ROW_LIMIT
        Most rows to accept.

    Returns
    -------
    Dataset
        Classes in the order of their names.

    Raises
    ------
    DataError
        If anything in the file cannot be used; one sentence says what to change.
    """
    return from_table(read_table(data, limit), columns, label)


def from_table(
    table: Table,
    columns: tuple[int, int] | None = None,
    label: int | Literal["auto"] | None = "auto",
) -> Dataset:
    """Like :func:`from_csv`, from a table that :func:`read_table` has split."""
    label = table.class_column() if label == "auto" else label
    numeric = [k for k in table.numeric() if k != label]
    if len(numeric) < 2 and columns is None:
        found = (
            f'one column of numbers ("{_short(table.names[numeric[0]])}")'
            if numeric
            else "no column of numbers"
        )
        raise DataError(f"The file has {found} and needs two: add a column or correct its cells.")
    a, b = columns or (numeric[0], numeric[1])
    if a == b:
        raise DataError("Choose two different columns for the two axes.")
    points = np.column_stack([table.numbers(a), table.numbers(b)])
    axes = (table.names[a], table.names[b])
    if label is None:
        return Dataset(points, np.zeros(len(points), int), task="regression", axes=axes)
    names, labels = _read_classes(table, label)
    return Dataset(points, labels, axes=axes, classes=names)


def _read_classes(table: Table, label: int) -> tuple[tuple[str, ...], np.ndarray]:
    cells = table.column(label)
    if "" in cells:
        line = table.first_line + cells.index("")
        raise DataError(f"Row {line} has no class: fill in the class column or delete the row.")
    numbers = [_parse(cell, table.decimal_comma) for cell in cells]
    if all(v is not None and math.isfinite(v) and v == int(v) for v in numbers):
        values = [int(v) for v in numbers if v is not None]
        order = sorted(set(values))
        names, labels = tuple(map(str, order)), [order.index(v) for v in values]
    else:
        names = tuple(sorted(set(cells)))
        labels = [names.index(cell) for cell in cells] if len(names) <= MAX_CLASSES else []
    if len(names) == 1:
        raise DataError(f'All rows are of one class, "{_short(names[0])}": add rows of a second class.')
    if len(names) > MAX_CLASSES:
        raise DataError(
            f'Column "{_short(table.names[label])}" has {len(names)} classes, and {MAX_CLASSES} is the most: '
            "choose another class column or merge classes."
        )
    return names, np.array(labels)


def _short(text: str) -> str:
    """A cell as it can stand in a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= 20 else line[:19] + "…"


def _text(data: str | bytes) -> str:
    text = data if isinstance(data, str) else _decode(data)
    if any(ord(c) < 32 and c not in "\t\n\r\f\v" for c in text[:4096]) or "\0" in text:
        raise DataError("This is not a text file: save the table as CSV (UTF-8) and open that.")
    return text.lstrip("\ufeff")


def _decode(data: bytes) -> str:
    encodings = ["utf-16"] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8", "cp1252"]
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise DataError("This is not a text file: save the table as CSV (UTF-8) and open that.")


def _separator(text: str) -> str:
    """The separator that splits the first lines most evenly into the most columns."""
    head = [line for line in text.splitlines()[:30] if line.strip()]

    def score(separator: str) -> tuple[bool, int]:
        widths = [len(row) for row in csv.reader(head, delimiter=separator)]
        return (len(set(widths)) == 1, min(widths, default=0))

    splitting = [s for s in "\t;," if any(s in line for line in head)]
    try:
        return max(splitting, key=score, default=",")
    except csv.Error:
        return ","


def _parse(cell: str, decimal_comma: bool) -> float | None:
    if decimal_comma and cell.count(",") == 1:
        cell = cell.replace(",", ".")
    if "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _is_header(row: list[str], decimal_comma: bool) -> bool:
    missing = {"?", "na", "n/a", "null", "none", "-"}
    return not any(_parse(cell, decimal_comma) is not None or cell.lower() in missing for cell in row)


def _unique(names: list[str]) -> list[str]:
    """Names without repeats and without blanks."""
    seen: list[str] = []
    for k, name in enumerate(names, 1):
        name = name or f"column {k}"
        seen.append(name if name not in seen else f"{name} ({k})")
    return seen


def to_csv(data: Dataset) -> str:
    """A data set as CSV text that :func:`from_csv` reads back without loss.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    str
        A header row, then the two columns and, for classification, the class name.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    classified = data.task == "classification"
    writer.writerow([*data.axes, "class"] if classified else data.axes)
    for (x, y), label in zip(data.points.tolist(), data.labels.tolist(), strict=True):
        writer.writerow([repr(x), repr(y), data.classes[label]] if classified else [repr(x), repr(y)])
    return out.getvalue()
