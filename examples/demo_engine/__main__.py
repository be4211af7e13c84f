"""Starts the demo engine: `python -m examples.demo_engine`."""

import sys

from examples.demo_engine.cli import main

sys.exit(main())
