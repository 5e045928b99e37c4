"""``python -m benchmarks.measured_devices``: see ``program.py``."""

import sys

from benchmarks.measured_devices.program import main

sys.exit(main())
