"""What the Python tests share: a case with a directory of its own."""
import tempfile
import unittest
from pathlib import Path


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.here = Path(self.directory.name)

    def write(self, name, content):
        path = self.here / name
        path.write_bytes(content)
        return path
