"""What is compiled before the processes of a run start is what they would have compiled themselves."""

from __future__ import annotations

import os
from pathlib import Path
from types import CodeType

import pytest
from _pytest.assertion import rewrite

from tests.support.compiling import FOLDERS, ROOT, compile_stale, is_stale, kept_at, modules


def test_stale_files_are_compiled_as_pytest_and_python_do(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    test, module, wrong = (tmp_path / "tests" / name for name in ("test_a.py", "b.py", "test_wrong.py"))
    test.write_text("def test_a():\n    assert 1 + 1 == 2\n")
    module.write_text("A = 1\n")
    wrong.write_text("def (\n")
    found = modules(tmp_path)
    assert found == [module, test, wrong]
    assert compile_stale(pytestconfig, found) == len(found)
    assert [path for path in found if is_stale(path)] == [wrong]
    code = rewrite._read_pyc(test, kept_at(test))
    assert code is not None
    assert "py_assert" in repr([const.co_varnames for const in code.co_consts if isinstance(const, CodeType)])
    assert compile_stale(pytestconfig, [module, test]) == 0
    later = kept_at(module).stat().st_mtime + 10
    os.utime(module, (later, later))
    assert compile_stale(pytestconfig, [module, test]) == 1


def test_where_pytest_keeps_no_such_file_the_rest_is_compiled(
    pytestconfig: pytest.Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These are names of its own, which a release may change: then a run is slower, and no other."""
    (tmp_path / "tests").mkdir()
    test, module = (tmp_path / "tests" / name for name in ("test_a.py", "b.py"))
    test.write_text("def test_a():\n    assert 1 + 1 == 2\n")
    module.write_text("A = 1\n")
    for name in ("get_cache_dir", "_rewrite_test"):
        with monkeypatch.context() as patch:
            patch.delattr(rewrite, name)
            compile_stale(pytestconfig, [module, test])
        assert (is_stale(module), kept_at(test).exists()) == (False, False)


def test_every_folder_with_modules_is_known() -> None:
    assert {path.parent.name for path in ROOT.glob("[!.]*/__init__.py")} <= {*FOLDERS}
    assert Path(__file__) in modules(ROOT)
