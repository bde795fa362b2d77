"""`python -m ferrule` is `ferrule`."""

import sys

from ferrule.main import main

if __name__ == "__main__":
    sys.exit(main())
