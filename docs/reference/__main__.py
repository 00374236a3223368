"""`PYTHONPATH=docs python -m reference FOLDER`: writes what the site is built from into FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from reference.pages import write_site

write_site(Path(__file__).parents[1], Path(sys.argv[1]))
