"""``python -m infused``."""

import sys

from infused.cli import main

if __name__ == "__main__":
    sys.exit(main())
