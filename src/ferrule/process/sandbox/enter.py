"""Started by path at the end of a wrapper; the package is imported from beside it, so that its compiled form is used."""

import sys

if __name__ == "__main__":
    sys.path.append(__file__.removesuffix("/ferrule/process/sandbox/enter.py"))
    from ferrule.process.sandbox.inside import main

    main()
