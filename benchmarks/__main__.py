"""All benchmark tables: ``python -m benchmarks``."""

from __future__ import annotations

import sys

from benchmarks import audit, exact

sys.argv[1:] = []
for table in (exact, audit):
    print((table.__doc__ or "").splitlines()[0])
    table.main()
    print()
