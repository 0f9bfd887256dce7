"""The strict readers take what is right and refuse what is not."""
import sys
import unittest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent))
from strict import strict_csv, strict_json, strict_ndjson


class Strict(unittest.TestCase):
    def test_json(self):
        self.assertEqual(strict_json(b' {"a":[1,-0.5,"\\ud83d\\ude00\xe2\x80\xa8",null]} '),
                         {"a": [1, -0.5, "\U0001f600\u2028", None]})
        for refused in (b"", b"{", b"{}x", b'{"a":1,"a":2}', b"[NaN]", b"[-Infinity]", b"[1e999]",
                        b"[01]", b"[1,]", b"['a']", b'["\x1b"]', b'["a\nb"]', b'["""]', b'["\\"]',
                        b'["\\x41"]', b'["\\ud800"]', b'["\\udc00"]', b'["\xed\xa0\x80"]',
                        b'["\xff"]', b'["\xc0\x80"]', b"\xef\xbb\xbf[]"):
            with self.subTest(refused), self.assertRaises(ValueError):
                strict_json(refused)

    def test_ndjson(self):
        self.assertEqual(strict_ndjson(b'{"a":1}\n{"a":"\xe2\x80\xa8"}\n'), [{"a": 1}, {"a": "\u2028"}])
        self.assertEqual(strict_ndjson(b""), [])
        for refused in b"{}", b"{}\r\n", b"{}\n\n", b"[]\n", b" {}\n", b"{}{}\n", b'{"a":\n1}\n':
            with self.subTest(refused), self.assertRaises(ValueError):
                strict_ndjson(refused)

    def test_csv(self):
        for end in b"\n", b"\r\n":
            content = end.join([b"a,b", b'1,"x""y,\n\r\xe2\x80\xa8"', b",", b""])
            self.assertEqual(strict_csv(content, ["a", "b"]),
                             [{"a": "1", "b": 'x"y,\n\r\u2028'}, {"a": "", "b": ""}])
        for refused in (b"", b"a,b", b"a,b\n1\n", b"a,b\n1,2,3\n", b'a,b\n1,"2\n', b'a,b\n1,"2"3\n',
                        b'a,b\n1,2"3\n', b"a,b\n1,2\r\n", b"a,b\n1\r2,3\n", b"a,a\n", b"b,a\n",
                        b"a,b\n1,\xff\n", b"a,b\n1,"):
            with self.subTest(refused), self.assertRaises(ValueError):
                strict_csv(refused, ["a", "b"])


if __name__ == "__main__":
    unittest.main()
