"""Writes the pages of the reference from code and schemas: commands, run files, vocabulary, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def write_reference(folder: Path) -> None:
    """Write the pages; files that would not change keep their times."""
    for name, write in _WRITERS.items():
        text = write()
        file = folder / f"{name}.md"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def write_commands() -> str:
    """Write every command with its arguments and options."""
    from typer.main import get_command

    from fedtheory.cli import app

    return "# Commands\n\n" + _COMMANDS + "\n".join(_list_commands(get_command(app), "fedtheory"))


_COMMANDS = """All commands take `--json`: one JSON document on standard output ([shapes](json.md)), everything else on
standard error. Exit code 0: fine. 1: a verdict differs from the recorded one. 2: the input is wrong, with one line that
names the file, the key and what was expected.

A *target* is a claim's id, a pattern such as `'liu2022:thm-*'`, the key of a source, a paper's folder, `file.py`, or
`file.py:NAME` for a user-defined claim.

"""


def _list_commands(group: Any, path: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _list_commands(command, f"{path} {name}")
            continue
        arguments = " ".join(_name_parameter(p) for p in command.params if p.param_type_name == "argument")
        yield f"## {path} {name}\n\n```\n{path} {name} {arguments}\n```\n\n{_join_lines(command.help)}\n"
        yield from (_describe_parameter(parameter) for parameter in command.params)
        yield ""


def _name_parameter(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _describe_parameter(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    name = _name_parameter(parameter) if is_argument else ", ".join(parameter.opts)
    default = "" if is_argument or parameter.default in (None, False, ()) else f" Default: `{parameter.default}`."
    return f"- `{name}`: {_escape(getattr(parameter, 'help', None) or '')}{default}"


def _join_lines(text: str | None) -> str:
    return _escape("\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n")))


def _escape(text: str) -> str:
    for mark in "\\*$[]_|":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("<", "&lt;")


def write_run_file() -> str:
    """Write every key of a run file, from its schema."""
    schema = json.loads((HERE / "schemas" / "run-file.schema.json").read_text(encoding="utf-8"))
    kinds = [schema["$defs"][option["$ref"].rpartition("/")[2]] for option in schema["properties"]["problem"]["oneOf"]]
    parts = [_RUN_FILE]
    for kind in kinds:
        names = kind["properties"]["kind"].get("enum", [kind["properties"]["kind"].get("const")])
        parts.append(f"## `[problem]`, kind {' or '.join(f'`{name}`' for name in names)}\n\n`{kind['title']}`\n")
        parts.append(_tabulate_keys(kind, ""))
    parts += ["## A term of a loss\n", _tabulate_keys(schema["$defs"]["term"], "")]
    parts += ["## `[algorithm]`\n", _tabulate_keys(schema["$defs"]["algorithm"], "")]
    return "\n".join(parts)


_RUN_FILE = """# Keys of a run file

A run file is TOML with two tables, `[problem]` and `[algorithm]`. A number is a TOML number or a rational as text,
`"1/20"`; with `--arithmetic rational` a float such as `0.1` means the decimal 1/10. Unknown keys are errors.

The <a href="../run-file.schema.json">JSON Schema</a> of run files lets editors complete and check them: with Taplo or
Even Better TOML, put `#:schema run-file.schema.json` into the first line.
"""


def _tabulate_keys(table: dict[str, Any], prefix: str) -> str:
    required = set(table.get("required", ()))
    lines = ["| key | meaning |", "| --- | --- |"]
    for name, key in table["properties"].items():
        needed = " Required." if name in required else ""
        default = f" Default: `{json.dumps(key['default'])}`." if "default" in key else ""
        choices = f" One of {', '.join(f'`{one}`' for one in key['enum'])}." if "enum" in key else ""
        lines.append(f"| `{prefix}{name}` | {_escape(key.get('description', ''))}{choices}{default}{needed} |")
        if "properties" in key:
            lines += _tabulate_keys(key, f"{prefix}{name}.").splitlines()[2:]
    return "\n".join(lines) + "\n"


def write_algorithms() -> str:
    """Write every named algorithm, with the formulas of its module."""
    import importlib

    from fedtheory.federation import SETTINGS, algorithms

    parts = [_ALGORITHMS]
    for name in algorithms.names():
        module = importlib.import_module(f"{algorithms.__name__}.{name}")
        head, _, rest = (module.__doc__ or "").partition("\n")
        formulas, _, words = rest.strip("\n").partition("\n\n")
        parts.append(f"## {name}\n\n{head}\n\n```\n{formulas}\n```\n\n{_escape(words.strip())}\n")
        for parameter in module.algorithm.parameters:
            default = "" if parameter.default is None else f" Default: `{parameter.default}`."
            parts.append(f"- `{parameter.key}`: {_escape(parameter.meaning)}.{default}\n")
    parts.append("\n## Settings of FedAvg\n")
    parts += [f"- `{name}`: {_escape((SETTINGS[name].__doc__ or '').partition(chr(10))[0])}" for name in SETTINGS]
    return "\n".join(parts) + "\n"


_ALGORITHMS = """# Algorithms

The values of `name` in `[algorithm]`, and of the argument `name` of `fedtheory.run_on`. Further keys belong to the
algorithm. A user-defined algorithm is named as `file.py:NAME`.

"""


def write_quantities() -> str:
    """Write the quantities of the claim language, chapter by chapter."""
    from fedtheory.language.vocabulary import vocabulary

    parts = [_QUANTITIES]
    for module, entries in groupby(vocabulary(), key=lambda entry: entry.module):
        about = (module.__doc__ or "").partition("\n")[0]
        parts.append(f"## {module.__name__.rpartition('.')[2]}\n\n{_escape(about)}\n")
        parts.append("| name | symbol | formula | has a value for | defined by |\n| --- | --- | --- | --- | --- |")
        parts += [_write_quantity_row(entry) for entry in entries]
        parts.append("")
    return "\n".join(parts)


_QUANTITIES = """# Quantities

The quantities that a symbol of a claim can stand for. In Python: `from fedtheory import quantities as q`, then
`q.NAME`; in a terminal: `fedtheory quantities WORD`. A constant that is finite only under an assumption names it.

The last column says how the value is defined. Most quantities are *a term* of the language of claims, from which value,
sign and meaning in proofs follow. The others are primitive: a *setting* is read from the run; a *constant* is the
smallest or largest number for which an inequality holds; a *minimiser* is computed at the solution of an optimisation
problem; a *limit* is one for infinitely many rounds or small steps; a *clock* counts times and reports; a *window* sums
over a number of updates; a *process* follows other steps than those of the run.

"""


def _escape_bars(prose: str) -> str:
    """Return prose with LaTeX whose bars do not end a table cell."""
    return prose.replace(r"\|", r"\Vert ").replace("|", r"\vert ")


def _write_quantity_row(entry: Any) -> str:
    from fedtheory.cli.quantities import PLACES

    quantity = entry.quantity
    place = entry.assumption or PLACES[quantity.place]
    meaning = _escape(quantity.meaning)
    symbol = _escape_bars(quantity.latex)
    kind = "a term" if getattr(quantity, "term", None) else getattr(quantity, "primitive", None) or ""
    return f"| `{quantity.name}` | ${symbol}$ | {meaning} | {place} | {kind} |"


def write_assumptions() -> str:
    """Write the assumptions that claims can make, chapter by chapter."""
    from fedtheory.language.vocabulary import list_assumptions

    parts = [_ASSUMPTIONS]
    for module, entries in groupby(list_assumptions(), key=lambda entry: entry.module):
        about = (module.__doc__ or "").partition("\n")[0]
        parts.append(f"## {module.__name__.rpartition('.')[2]}\n\n{_escape(about)}\n")
        parts.append("| name | statement |\n| --- | --- |")
        parts += [f"| `{entry.name}` | {_escape_bars(entry.assumption.statement)} |" for entry in entries]
        parts.append("")
    return "\n".join(parts)


_ASSUMPTIONS = """# Assumptions

The assumptions that a claim can make about a run. In Python: `from fedtheory import assumptions as a`, then `a.NAME`;
in a terminal: `fedtheory assumptions WORD`. A constant of an assumption, such as `noise_deviation`, brings its
assumption with it.

"""


def write_json_shapes() -> str:
    """Write the keys that commands print with --json, from their schema."""
    schema = json.loads((HERE / "schemas" / "outputs.schema.json").read_text(encoding="utf-8"))
    parts = [_JSON]
    for name, shape in schema["$defs"].items():
        entry = shape.get("items", shape)
        parts.append(f"## {name}\n\n{shape['description']}{'; a list of' if shape.get('type') == 'array' else ''}\n")
        if "properties" in entry:
            parts.append(_tabulate_keys(entry, ""))
    return "\n".join(parts)


_JSON = """# JSON

With `--json` a command prints one document. Keys may be added in later versions; those that are listed here stay. The
<a href="../outputs.schema.json">schema of outputs</a>, the <a href="../run-file.schema.json">schema of run files</a>,
the <a href="../certificate.schema.json">schema of certificates</a> and the
<a href="../proof-term.schema.json">schema of proof terms</a> are JSON Schemas (2020-12).
"""

_WRITERS = {
    "commands": write_commands,
    "run-file": write_run_file,
    "algorithms": write_algorithms,
    "quantities": write_quantities,
    "assumptions": write_assumptions,
    "json": write_json_shapes,
}
