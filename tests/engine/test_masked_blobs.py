from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ferrule.attempt.masked import MaskedBlobs
from ferrule.context.secrets import Mask
from ferrule.store.blobs import FileBlobs, TemporaryBlobs

SECRETS = (("API_KEY", "correct-horse-battery"), ("TOKEN", "ghp_0123456789"))


@given(
    st.lists(st.sampled_from([b"correct-horse-battery", b"ghp_0123456789", b"plain ", b"\n", b"\xff\xc3", "ü".encode()])),
    st.data(),
)
def test_no_write_however_cut_lets_a_secret_through(pieces, data):
    blobs = TemporaryBlobs()
    try:
        writer = MaskedBlobs(blobs, Mask(SECRETS)).writer()
        whole = b"".join(pieces)
        while whole:
            size = data.draw(st.integers(1, len(whole)))
            writer.write(whole[:size])
            whole = whole[size:]
        stored = blobs.read(writer.finish())
    finally:
        blobs.close()
    expected = (
        b"".join(pieces).replace(b"correct-horse-battery", b"[secret API_KEY]").replace(b"ghp_0123456789", b"[secret TOKEN]")
    )
    assert stored == expected


def test_without_secrets_bytes_pass_as_they_are(tmp_path: Path):
    blobs = MaskedBlobs(FileBlobs(tmp_path / "blobs"), Mask(()))
    writer = blobs.writer()
    writer.write(bytes(range(256)))
    assert blobs.read(writer.finish()) == bytes(range(256))


@given(st.lists(st.sampled_from(["correct-horse-battery", "ghp_0123456789", "plain ", "\n", "ü"])), st.data())
def test_what_a_blob_would_be_is_what_it_becomes(pieces, data):
    blobs = TemporaryBlobs()
    try:
        whole = "".join(pieces)
        cut = data.draw(st.integers(0, len(whole)))
        writer = MaskedBlobs(blobs, Mask(SECRETS)).writer()
        writer.write(whole[:cut].encode())
        then = whole[cut:].encode()
        size = writer.so_far(0, 0, then)[1]
        slices = b"".join(writer.so_far(at, 3, then)[0] for at in range(0, size, 3))
        writer.write(then)
        digest = writer.finish()
        assert (slices, size) == (blobs.read(digest), blobs.size(digest))
    finally:
        blobs.close()
