from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("ferrule.process.supervisor") else ["test_*.py"]
