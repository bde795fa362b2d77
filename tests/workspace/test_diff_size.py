from bench.diffs import large_diff


def test_a_large_diff_is_read_and_anchored_in_little_time_and_memory() -> None:
    figures = large_diff()
    assert figures.exact
    assert (figures.cpu < 3.0, figures.peak < 150) == (True, True), figures
