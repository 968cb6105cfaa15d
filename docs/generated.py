"""The pages of the reference that are made from the code: commands, keys of run files, vocabulary, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGES = ("commands", "run-file", "algorithms", "quantities", "assumptions", "json")


def write_reference(folder: Path) -> None:
    """Write the pages; files that would not change keep their times."""
    for name in PAGES:
        text = _MAKERS[name]()
        file = folder / f"{name}.md"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def commands() -> str:
    """Every command with its arguments and options."""
    from typer.main import get_command

    from fedtheory.cli import app

    return "# Commands\n\n" + _COMMANDS + "\n".join(_commands_of(get_command(app), "fedtheory"))


_COMMANDS = """All commands take `--json`: one JSON document on standard output ([shapes](json.md)), everything else on
standard error. Exit code 0: fine. 1: a verdict differs from the recorded one. 2: the input is wrong, with one line that
names the file, the key and what was expected.

A *target* is a claim's id, a pattern such as `'liu2022:thm-*'`, the key of a source, a paper's folder, `file.py`, or
`file.py:NAME` for a claim of your own.

"""


def _commands_of(group: Any, path: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _commands_of(command, f"{path} {name}")
            continue
        arguments = " ".join(_get_called_name(p) for p in command.params if p.param_type_name == "argument")
        yield f"## {path} {name}\n\n```\n{path} {name} {arguments}\n```\n\n{_paragraphs(command.help)}\n"
        yield from (_parameter(parameter) for parameter in command.params)
        yield ""


def _get_called_name(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _parameter(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    name = _get_called_name(parameter) if is_argument else ", ".join(parameter.opts)
    default = "" if is_argument or parameter.default in (None, False, ()) else f" Default: `{parameter.default}`."
    return f"- `{name}`: {_escape(getattr(parameter, 'help', None) or '')}{default}"


def _paragraphs(text: str | None) -> str:
    return _escape("\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n")))


def _escape(text: str) -> str:
    for mark in "\\*$[]_|":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("<", "&lt;")


def run_file() -> str:
    """Every key, from the schema."""
    schema = json.loads((HERE / "schemas" / "run-file.schema.json").read_text(encoding="utf-8"))
    kinds = [schema["$defs"][option["$ref"].rpartition("/")[2]] for option in schema["properties"]["problem"]["oneOf"]]
    parts = [_RUN_FILE]
    for kind in kinds:
        names = kind["properties"]["kind"].get("enum", [kind["properties"]["kind"].get("const")])
        parts.append(f"## `[problem]`, kind {' or '.join(f'`{name}`' for name in names)}\n\n`{kind['title']}`\n")
        parts.append(_keys(kind, ""))
    parts += ["## A term of a loss\n", _keys(schema["$defs"]["term"], "")]
    parts += ["## `[algorithm]`\n", _keys(schema["$defs"]["algorithm"], "")]
    return "\n".join(parts)


_RUN_FILE = """# Keys of a run file

A run file is TOML with two tables, `[problem]` and `[algorithm]`. A number is a TOML number or a rational as text,
`"1/20"`; with `--arithmetic rational` a float such as `0.1` means the decimal 1/10. Unknown keys are errors.

The <a href="../run-file.schema.json">JSON Schema</a> of run files lets editors complete and check them: with Taplo or
Even Better TOML, put `#:schema run-file.schema.json` into the first line.
"""


def _keys(table: dict[str, Any], prefix: str) -> str:
    required = set(table.get("required", ()))
    lines = ["| key | meaning |", "| --- | --- |"]
    for name, key in table["properties"].items():
        needed = " Required." if name in required else ""
        default = f" Default: `{json.dumps(key['default'])}`." if "default" in key else ""
        choices = f" One of {', '.join(f'`{one}`' for one in key['enum'])}." if "enum" in key else ""
        lines.append(f"| `{prefix}{name}` | {_escape(key.get('description', ''))}{choices}{default}{needed} |")
        if "properties" in key:
            lines += _keys(key, f"{prefix}{name}.").splitlines()[2:]
    return "\n".join(lines) + "\n"


def algorithms() -> str:
    """Every algorithm that has a name, with the formulas of its file."""
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

What `name` in `[algorithm]` can be, or the argument `name` of `fedtheory.run_on`. Further keys belong to the algorithm.
An algorithm of your own is named as `file.py:NAME`.

"""


def quantities() -> str:
    """The vocabulary, chapter by chapter."""
    from fedtheory.language.vocabulary import vocabulary

    parts = [_QUANTITIES]
    for module, entries in groupby(vocabulary(), key=lambda entry: entry.module):
        about = (module.__doc__ or "").partition("\n")[0]
        parts.append(f"## {module.__name__.rpartition('.')[2]}\n\n{_escape(about)}\n")
        parts.append("| name | symbol | formula | has a value for | defined by |\n| --- | --- | --- | --- | --- |")
        parts += [_quantity(entry) for entry in entries]
        parts.append("")
    return "\n".join(parts)


_PLACES = {"run": "the run", "round": "each round", "step": "each local step", "points": "any point"}
_QUANTITIES = """# Quantities

What a symbol of a claim can stand for. In Python: `from fedtheory import quantities as q`, then `q.NAME`; in a
terminal: `fedtheory quantities WORD`. A constant that is finite only under an assumption names it.

A number is defined by a term of the language of claims, from which its value, its sign and its meaning in proofs
follow, or it is one that no term defines. A setting is read from the run. A constant is the smallest or largest number
for which an inequality holds. A minimiser is made of a point that is solved for, a limit is for ever more rounds or
small steps. A clock counts times and reports, a window sums over a number of updates, and a process is followed along
other steps than the run's own.

"""


def _in_a_table(prose: str) -> str:
    """Return prose with LaTeX whose bars do not end a table cell."""
    return prose.replace(r"\|", r"\Vert ").replace("|", r"\vert ")


def _quantity(entry: Any) -> str:
    quantity = entry.quantity
    place = entry.assumption or _PLACES[quantity.place]
    meaning = _escape(quantity.meaning)
    symbol = _in_a_table(quantity.latex)
    kind = "a term" if getattr(quantity, "term", None) else getattr(quantity, "primitive", None) or ""
    return f"| `{quantity.name}` | ${symbol}$ | {meaning} | {place} | {kind} |"


def assumptions() -> str:
    """List the assumptions of claims, chapter by chapter."""
    from fedtheory.language.vocabulary import assumed

    parts = [_ASSUMPTIONS]
    for module, entries in groupby(assumed(), key=lambda entry: entry.module):
        about = (module.__doc__ or "").partition("\n")[0]
        parts.append(f"## {module.__name__.rpartition('.')[2]}\n\n{_escape(about)}\n")
        parts.append("| name | statement |\n| --- | --- |")
        parts += [f"| `{entry.name}` | {_in_a_table(entry.assumption.statement)} |" for entry in entries]
        parts.append("")
    return "\n".join(parts)


_ASSUMPTIONS = """# Assumptions

What a claim can assume of a run. In Python: `from fedtheory import assumptions as a`, then `a.NAME`; in a terminal:
`fedtheory assumptions WORD`. A constant of an assumption, such as `noise_deviation`, brings its assumption with it.

"""


def json_shapes() -> str:
    """List the keys that commands print with --json, from the schema."""
    schema = json.loads((HERE / "schemas" / "outputs.schema.json").read_text(encoding="utf-8"))
    parts = [_JSON]
    for name, shape in schema["$defs"].items():
        entry = shape.get("items", shape)
        parts.append(f"## {name}\n\n{shape['description']}{'; a list of' if shape.get('type') == 'array' else ''}\n")
        if "properties" in entry:
            parts.append(_keys(entry, ""))
    return "\n".join(parts)


_JSON = """# JSON

With `--json` a command prints one document. Keys may be added in later versions; those that are listed here stay. The
<a href="../outputs.schema.json">schema of outputs</a>, the <a href="../run-file.schema.json">schema of run files</a>,
the <a href="../certificate.schema.json">schema of certificates</a> and the
<a href="../proof-term.schema.json">schema of proof terms</a> are JSON Schemas (2020-12).
"""

_MAKERS = {
    "commands": commands,
    "run-file": run_file,
    "algorithms": algorithms,
    "quantities": quantities,
    "assumptions": assumptions,
    "json": json_shapes,
}
