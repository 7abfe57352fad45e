"""Methods that a record, a command line or a text might name to have code run: none of them may.

Whatever runs leaves a file, ``PWNED``, in the working folder. ``plant`` puts a module there that does so when
it is imported, and a pickle that does so when it is read.
"""

from __future__ import annotations

import base64
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CANARY = "PWNED"
MODULE = "canary"
TOUCH = f"touch {CANARY}"

#: Paths to code in the spellings that some library of the world understands.
# fmt: off
IDS = (
    "subprocess.Popen", "subprocess:Popen", "subprocess.run", "subprocess.call", "subprocess.check_output",
    "subprocess.getoutput", "os.system", "os:system", "os.popen", "os.mkdir", "os:mkdir", "os.open",
    "posix.system", "builtins.open", "builtins:open", "builtins.exec", "builtins.eval",
    "builtins.__import__", "io.open", "pathlib.Path.touch", "pathlib:Path", "shutil.copy", "shutil.rmtree",
    "tempfile.NamedTemporaryFile", "logging.FileHandler", "logging.config.dictConfig", "sqlite3.connect",
    "shelve.open", "zipfile.ZipFile", "pickle.loads", "pickle.load", "joblib.load", "numpy.load",
    "numpy.memmap", "numpy.save", "pandas.read_pickle", "importlib.import_module", "runpy.run_path",
    "runpy.run_module", "code.interact", "pty.spawn", "timeit.timeit", "ctypes.CDLL", "webbrowser.open",
    "multiprocessing.Process", "threading.Thread", "yaml.unsafe_load", f"{MODULE}.Thing", f"{MODULE}:Thing",
    f".{MODULE}", f"{MODULE}.", f"{MODULE}..Thing", f" {MODULE}.Thing", f"{MODULE}.Thing ", f"{MODULE}.py",
    f"./{MODULE}.py", f"../{MODULE}", f"{MODULE}.Thing()", f"{MODULE}。Thing", f"{MODULE}\u2024Thing",
    f"lasso.{MODULE}.Thing", f"lasso;{MODULE}.Thing", f"lasso\n{MODULE}.Thing", f"lasso\x00{MODULE}.Thing",
    f"infused-lasso[{MODULE}.Thing]", f"py/object:{MODULE}.Thing", f"!!python/object:{MODULE}.Thing",
    f"__import__('{MODULE}')", f"$({TOUCH})", f"`{TOUCH}`", f"|{TOUCH}",
    "infused.selectors.linear.lassos.Lasso", "infused.selectors.linear.lassos:Lasso",
    "infused.selectors.registry.find_class",
    "infused.selectors.registry.make_selector", "infused.cli.main", "sklearn.feature_selection.SelectKBest",
    "sklearn.feature_selection.SelectFromModel", "sklearn.utils.Bunch", "__main__.Thing",
    "site-packages/x.y",
)
# fmt: on

#: What such an id would be called with.
PARAMETERS: tuple[dict[str, Any], ...] = (
    {},
    {"args": ["touch", CANARY]},
    {"args": TOUCH, "shell": True},
    {"command": TOUCH},
    {"cmd": TOUCH},
    {"path": CANARY},
    {"file": CANARY, "mode": "w"},
    {"filename": CANARY, "mode": "w+", "shape": [1]},
    {"database": CANARY},
    {"source": f"open('{CANARY}', 'w')"},
    {"name": MODULE},
    {"mod_name": MODULE},
    {"allow_imports": True},
    {"allow_imports": True, "args": ["touch", CANARY]},
)


class _Touch:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (TOUCH,)


PICKLE = pickle.dumps(_Touch())

#: What a registered method might be given instead of a plain value.
VALUES: tuple[Any, ...] = (
    f"{MODULE}.Thing",
    f"{MODULE}:Thing",
    f"{MODULE}.Thing:allow_imports=True",
    "subprocess.Popen:args=('touch', 'PWNED')",
    f"os.system:command={TOUCH}",
    f"lasso:scoring={MODULE}.Thing",
    f"__import__('{MODULE}')",
    f"!!python/object/apply:os.system ['{TOUCH}']",
    f"(lambda: __import__('os').system('{TOUCH}'))()",
    "canary.pkl",
    "file:canary.pkl",
    base64.b64encode(PICKLE).decode(),
    [f"{MODULE}.Thing"],
    [[f"{MODULE}.Thing"]],
    ["lasso", {"id": f"{MODULE}.Thing"}],
    {"id": f"{MODULE}.Thing", "parameters": {}},
    {"__class__": f"{MODULE}.Thing"},
    {"__reduce__": ["os.system", [TOUCH]]},
    {"py/object": f"{MODULE}.Thing"},
    {"py/reduce": [{"py/function": "os.system"}, {"py/tuple": [TOUCH]}]},
    {"$type": f"{MODULE}.Thing"},
    {"_target_": f"{MODULE}.Thing"},
    {f"{MODULE}.Thing": {}},
    {f"{MODULE}.Thing": {"allow_imports": [True]}},
    {"lasso": {"allow_imports": [True], "id": [f"{MODULE}.Thing"]}},
    {"stability": {"selector": [f"{MODULE}.Thing"]}},
    {"stability": {"selector": [f"{MODULE}.Thing:allow_imports=True"]}},
    {"auto": {"methods": [[f"{MODULE}.Thing"]]}},
)

#: Names of parameters that mean something to Python, to a library, or to a method.
# fmt: off
NAMES = (
    "selector", "methods", "scoring", "cv", "groups", "keep", "fusion", "ranking", "target", "random_state",
    "lambda1", "n_jobs", "n_features_to_select", "memory_budget", "max_iter", "allow_imports", "id", "self",
    "cls", "parameters", "where", "fixed", "info", "more", "estimator", "score_func", "func", "callback",
    "__class__", "__init__", "__reduce__", "__module__", "py/object", "", " ", "a b", "lambda1\n",
    "lambda1.real", "lambda1=1",
)
# fmt: on


def plant(folder: Path) -> None:
    """Put a module and a pickle into a folder that leave the canary when they are used."""
    text = f"open({str(folder / CANARY)!r}, 'w').close()\nclass Thing:\n    fit = get_support = None\n"
    (folder / f"{MODULE}.py").write_text(text)
    (folder / f"{MODULE}.pkl").write_bytes(PICKLE)


def named(id: str) -> Iterator[dict[str, Any]]:
    """Every way in which a record might name it: as the method, or inside one that is registered."""
    several = id.startswith(("subprocess", "os", "builtins"))
    for parameters in PARAMETERS if several else PARAMETERS[:1]:
        yield {"id": id, "parameters": parameters}
    for text in (id, f"{id}:args={TOUCH}:command={TOUCH}", f"{id}:allow_imports=True"):
        yield {"id": "stability", "parameters": {"selector": text}}
        yield {"id": "auto", "parameters": {"methods": ["anova", text]}}
    yield {"id": "auto", "parameters": {"methods": id}}
    yield {"id": "auto", "parameters": {"methods": {id: {}}}}
    yield {"id": "auto", "parameters": {"methods": {id: {"allow_imports": [True], "args": [[TOUCH]]}}}}
    yield {"id": "auto", "parameters": {"methods": {"stability": {"selector": [id]}}}}
    yield {"id": "auto", "parameters": {"methods": [f"stability:selector={id}"]}}
