"""Read a folder of submissions: the files, their students, and their assignments."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.exercises import CLASS, is_student
from verify.grade.submission import KINDS, Submission, read_submission

_LONGEST_NAME = 100
_LISTED = 3
"""Number of files of one copy that are listed if there are many."""
_OF_MACHINES = ("__MACOSX", "__pycache__")


@dataclass(frozen=True)
class SubmittedFile:
    """One file of a folder of submissions."""

    path: Path
    student: str
    """The student: the copy named in the header, else the name of the file or its folder."""
    file: str
    """The path inside the folder, as displayed."""
    called: str
    """Name of the file, or of the student's folder around it."""
    submission: Submission
    troubles: tuple[str, ...] = ()
    """Notes for the instructor only, because they may name other students."""

    @property
    def copy(self) -> str:
        """Return the copy of the file: the one in its header, else the one of its name."""
        return self.submission.copy_of or self.student


def find_submissions(folder: Path, shared: str = CLASS) -> list[SubmittedFile]:
    """Find all ``.py`` and ``.ipynb`` files of a folder and its subfolders; raises `InputError` if there are none.

    `shared` is the id of a copy that several students have, which names none of them.

    The header of a file names its copy and takes precedence over the file name. If several files name the same copy, it
    belongs to the file with its name. The other files keep their own names, and the students are informed.
    """
    found = [_read_entry(path, entry, folder, shared) for entry, path in _list_files(folder)]
    if not found:
        raise InputError("DIR", f"expected submissions ID.py or ID.ipynb in {folder}, found none")
    return _distinguish_students(found)


def left_out(folder: Path) -> list[str]:
    """List the files of a folder that are not submissions, as displayed."""
    kept = {path for _, path in _list_files(folder)}
    others = [entry for entry in _list_entries(folder) if entry.is_symlink() or (entry.is_file() and entry not in kept)]
    return sorted(f"{clean_file_name(entry.name)}{' (a link)' * entry.is_symlink()}" for entry in others)


def list_labels(files: Sequence[SubmittedFile]) -> list[str]:
    """Return a name for the result files of each submission: the student if unique, else its path."""
    count = Counter(file.student for file in files)
    wanted = [file.student if count[file.student] == 1 else file.file.replace("/", "-") for file in files]
    names: list[str] = []
    for label in (_replace_separators(label)[:_LONGEST_NAME] for label in wanted):
        names.append(label if label not in names else f"{label}-{len(names)}")
    return names


def clean_file_name(name: str) -> str:
    """Return a file name as normalised text, with invalid bytes replaced."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))


def _list_entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError("DIR", f"expected a folder with submissions, got {folder}")
    try:
        return sorted(entry for entry in folder.iterdir() if not _is_of_a_machine(entry))
    except OSError as error:
        raise InputError("DIR", f"cannot read {folder}: {error.strerror}") from None


def _list_files(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each entry of the folder with its submissions, without links, which may lead to others' files."""
    for entry in _list_entries(folder):
        for path in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
            around = path.relative_to(folder).parents
            hidden = _is_of_a_machine(path) or any(_is_of_a_machine(Path(part.name)) for part in around if part.name)
            is_link = entry.is_symlink() or path.is_symlink()
            if path.suffix.lower() in KINDS and path.is_file() and not hidden and not is_link:
                yield entry, path


def _is_of_a_machine(path: Path) -> bool:
    return path.name.startswith(".") or path.name in _OF_MACHINES


def _read_entry(path: Path, entry: Path, folder: Path, shared: str) -> SubmittedFile:
    called = clean_file_name(entry.name if entry.is_dir() else entry.stem)
    submission = read_submission(path, called)
    named = submission.copy_of
    student = named if named is not None and named not in (CLASS, shared) else called
    return SubmittedFile(path, student, clean_file_name(str(path.relative_to(folder))), called, submission)


def _distinguish_students(files: Sequence[SubmittedFile]) -> list[SubmittedFile]:
    """Rename students so that no pair of student and assignment occurs twice."""
    groups: dict[tuple[str, str | None], list[SubmittedFile]] = {}
    for file in files:
        groups.setdefault((file.student, file.submission.assignment), []).append(file)
    return [_rename_duplicate(file, groups[file.student, file.submission.assignment]) for file in files]


def _rename_duplicate(file: SubmittedFile, group: Sequence[SubmittedFile]) -> SubmittedFile:
    if len(group) == 1:
        return file
    others = [other.file for other in group if other is not file]
    further = f" and {len(others) - _LISTED} more files" if len(others) > _LISTED + 1 else ""
    listed = ", ".join(others[:_LISTED] if further else others)
    troubles = (*file.troubles, f"also handed in as the copy of {file.student}: {listed}{further}")
    owner = next((other for other in group if other.called == file.student), group[0])
    if file is owner:
        return replace(file, troubles=troubles)
    taken = [other.called for other in group if other is not file]
    own_name = file.called if file.called not in taken and is_student(file.called) else file.file
    return replace(file, student=own_name, troubles=troubles)


def _replace_separators(label: str) -> str:
    return "".join(symbol if symbol.isprintable() and symbol not in '/\\:*?"<>|' else "_" for symbol in label)
