import os
import subprocess
import sys

import pytest

from ferrule.process.hiding import hidden, hide

SHOWN = """
import os
from ferrule.process.hiding import hide
hide({values!r})
print(os.environ["ONE_TOKEN"], os.environ["OTHER"])
print(open("/proc/self/environ", "rb").read().replace(b"\\0", b"\\n").decode())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows it")
def test_values_are_hidden_from_other_processes_and_kept_for_this_one():
    environ = {"PATH": os.environ["PATH"], "ONE_TOKEN": "s3cr3t=ü", "OTHER": "o s3cr3t=ü", "TWIN": "s3cr3t=ü"}
    program = SHOWN.format(values=["s3cr3t=ü", "not there"])
    ran = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=20, check=True)

    own, *block = ran.stdout.split("\n")
    assert own == "s3cr3t=ü o s3cr3t=ü"
    assert [line for line in block if line] == [
        f"PATH={os.environ['PATH']}",
        "ONE_TOKEN=*********",
        "OTHER=o s3cr3t=ü",
        "TWIN=*********",
    ]


def test_nothing_to_hide_is_no_work_and_no_error():
    hide([])
    hide(["not there"])


@pytest.mark.parametrize(
    ("block", "values", "shown"),
    [
        (b"", [b"1"], b""),
        (b"A=1\0", [b"1"], b"A=*\0"),
        (b"A=\0B=22\0", [b"22"], b"A=\0B=**\0"),
        (b"22\0=22\0A=22", [b"22"], b"22\0=**\0A=**"),
        (b"A=1=2\0B=2\0", [b"1=2"], b"A=***\0B=2\0"),
        (b"A=1\0B=1\0C=11\0", [b"1"], b"A=*\0B=*\0C=11\0"),
    ],
)
def test_only_whole_values_change_and_no_length_does(block: bytes, values: list[bytes], shown: bytes):
    assert hidden(block, values) == shown
