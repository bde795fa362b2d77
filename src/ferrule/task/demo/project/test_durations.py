import unittest

from durations import format_duration, parse_duration


class ParseDuration(unittest.TestCase):
    def test_single_units(self):
        self.assertEqual(parse_duration("90s"), 90)
        self.assertEqual(parse_duration("5m"), 300)
        self.assertEqual(parse_duration("2d"), 172800)

    def test_several_units(self):
        self.assertEqual(parse_duration("1h30m"), 5400)
        self.assertEqual(parse_duration("1h 30m 5s"), 5405)

    def test_milliseconds(self):
        self.assertAlmostEqual(parse_duration("250ms"), 0.25)
        self.assertAlmostEqual(parse_duration("1s250ms"), 1.25)

    def test_nonsense_is_refused(self):
        for text in ("", "abc", "5", "5x", "m5"):
            with self.assertRaises(ValueError):
                parse_duration(text)


class FormatDuration(unittest.TestCase):
    def test_round_trip(self):
        for text in ("90s", "1h30m", "250ms", "2d1s"):
            self.assertAlmostEqual(parse_duration(format_duration(parse_duration(text))), parse_duration(text))

    def test_zero(self):
        self.assertEqual(format_duration(0), "0s")


if __name__ == "__main__":
    unittest.main()
