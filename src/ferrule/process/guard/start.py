"""Started by path as the supervisor process; the package is imported from beside it, so that its compiled form is used."""

import sys

if __name__ == "__main__":
    sys.path.append(__file__.removesuffix("/ferrule/process/guard/start.py"))
    from ferrule.process.guard.supervise import main

    main()
