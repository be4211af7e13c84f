"""Loaded by every Python of a traced program: installs the hooks, then makes way for the user's own sitecustomize.

It may neither print nor raise on its own account. The folder that it lies in leaves sys.path again, so that the
program's sys.path is what it would be; children get it anew through PYTHONPATH.
"""
import sys


def _install_hooks(folder):
    try:
        import teller_hooks

        teller_hooks.install(folder)
    except Exception:  # a guest: whatever it is, the program goes on without hooks
        pass


def _leave_path(folder):
    import os

    mine = os.path.realpath(folder)
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.realpath(entry) != mine]


def _run_users_own():
    """Runs the sitecustomize that would have run without us; what it raises is raised, for site.py to report."""
    # Not from importlib, which imports contextlib, re and more: they would be in every Python.
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_folder = __file__.rsplit("/", 1)[0]
_install_hooks(_folder)
_leave_path(_folder)
_run_users_own()
