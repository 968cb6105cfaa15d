"""The page on trust names every module that a verdict rests on."""

from __future__ import annotations

import ast
import importlib
import re

from modules import ROOT, modules
from trusted import CERTIFICATES, PAGE, ROW, counted, proved

from fedtheory.language.registry import all_sources, claims_of, explain_unproved
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.derived_relation import Derived


def test_every_module_has_its_row() -> None:
    """The page has a row for exactly the trusted modules; lines are counted at releases."""
    assert {name for name, _ in ROW.findall(PAGE.read_text(encoding="utf-8"))} == counted().keys()


READERS = {"cases", "checker", "decoding", "restatements", "roots"}
"""Modules that determine the kind of a certificate, contain others, or rebuild it."""


def test_certificates_that_become_terms_are_data() -> None:
    """Trusted modules import only classes of certificates, in order to sort and rebuild them."""
    for name in proved():
        tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
        taken = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in CERTIFICATES]
        assert not taken or name.rpartition(".")[2] in READERS | {"proofs"}, name
        for node in taken:
            module = importlib.import_module(str(node.module))
            assert all(isinstance(getattr(module, one.name), type) for one in node.names), name


OF_SYMPY = {
    *(
        "Add",
        "Dummy",
        "Expr",
        "Float",
        "Function",
        "Integer",
        "Mul",
        "Pow",
        "Rational",
        "S",
        "Symbol",
        "exp",
        "sqrt",
        "symbols",
    ),
    *("Eq", "Ge", "Gt", "Le", "Lt", "Max", "Min", "Rel"),
    *("FiniteSet", "Interval", "Set", "oo"),
    *("default_sort_key", "preorder_traversal", "sympify"),
    *("expand", "expand_mul"),
}
"""SymPy heads, number sets, traversals, and expansions that are used."""
WORKED_OUT = {"cancel", "coeff", "collect", "diff", "doit", "equals", "evalf", "factor", "integrate", "is_polynomial"}
WORKED_OUT |= {"limit", "nsimplify", "series", "simplify", "solve", "subs", "summation", "trigsimp"}


def test_functions_of_sympy_that_the_kernel_uses() -> None:
    """SymPy is used for notation only; the kernel computes with quotients of polynomials."""
    for name in proved():
        tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
        asked = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        of_sympy = {node.attr for node in asked if isinstance(node.value, ast.Name) and node.value.id == "sp"}
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert of_sympy <= OF_SYMPY, name
        # The denominator of a quotient is a FLINT method.
        assert not {one.rpartition(".")[2] for one in called if "." in one and one != "polynomial.factor"} & WORKED_OUT


def test_named_tests_exist() -> None:
    """Every test that the page names exists."""
    named = set(re.findall(r"`(test_[\w*]+)`", PAGE.read_text(encoding="utf-8")))
    assert named
    assert not [name for name in named if not list((ROOT / "tests").rglob(f"{name}.py"))]


def test_every_lemma_about_runs_is_on_the_list() -> None:
    """The list has every fact and every derivation from a proved claim."""
    listed = PAGE.read_text(encoding="utf-8").partition("### Lemmas about runs")[2]
    assert [
        fact.name for fact in FACTS.values() if not fact.name.endswith("is not negative") and fact.name not in listed
    ] == []
    kinds, todo = set(), [Derived]
    while todo:
        kinds.add(todo[-1])
        todo += todo.pop().__subclasses__()
    own = [kind.__name__ for kind in kinds if kind.__module__.startswith("fedtheory.")]
    assert [name for name in own if f"`{name}`" not in listed] == []


def test_supported_claims_have_a_reason() -> None:
    """Exactly the supported claims of papers without proof have a reason on the page."""
    section = PAGE.read_text(encoding="utf-8").partition("### Supported, and not proved")[2].partition("###")[0]
    rows = re.findall(r"^\| (`.+`) \| (.+) \|$", section, re.M)
    on_the_page = {name: reason for names, reason in rows for name in re.findall(r"`([^`]+)`", names)}
    named = {
        f"{s.key}:{name}" for s in all_sources().values() for names in s.unproved.values() for name in names.split()
    }
    assert on_the_page == {claim.id: explain_unproved(claim) for claim in claims_of() if claim.verdict == "supported"}
    assert on_the_page.keys() == named
