"""`python -m tests.goldens`: draws the goldens anew and names those that changed; look at the diff."""

from __future__ import annotations

import sys

from tests.goldens.draw import PICTURES, SIZES, draw


def main() -> int:
    """Write every golden; say which are other than before."""
    PICTURES.mkdir(exist_ok=True)
    pictures = draw(*SIZES)
    for path in PICTURES.glob("*.txt"):
        if path.stem not in pictures:
            path.unlink()
    for name, text in pictures.items():
        path = PICTURES / f"{name}.txt"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if before != text:
            path.write_text(text, encoding="utf-8")
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
