"""Make docs/images/report.png anew: two parts of the page for scikit-learn's digits, side by side.

python docs/report_picture.py

Needs Chromium, Playwright and Pillow.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

OUTPUT = Path(__file__).parent / "images" / "report.png"
WIDTH, HEIGHT, GAP = 1280, 1500, 24
LAUNCH = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    """Select, open the page, cut, and save."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "infused", "select", "digits", "-k", "20", "--quiet"]
        command += ["--folds", "3", "--stability", "10"]
        subprocess.run([*command, "--output", folder, "--force"], check=True)
        page, second = screenshot(Path(folder) / "report.html")
    parts = [page.crop((0, top, WIDTH, top + HEIGHT)) for top in (0, second)]
    picture = Image.new("RGB", (2 * WIDTH + GAP, HEIGHT), "white")
    for place, part in enumerate(parts):
        picture.paste(part, (place * (WIDTH + GAP), 0))
    small = picture.resize((picture.width * 5 // 8, picture.height * 5 // 8), Image.Resampling.LANCZOS)
    small.quantize(256, Image.Quantize.MAXCOVERAGE).save(OUTPUT, optimize=True)
    print(f"{OUTPUT}: {OUTPUT.stat().st_size // 1024} KB")


def screenshot(path: Path) -> tuple[Image.Image, int]:
    """The whole page, and where its section with the picture begins."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=LAUNCH)
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_timeout(3000)
        top = page.evaluate("document.querySelector('#picture').getBoundingClientRect().top + window.scrollY")
        image = page.screenshot(full_page=True)
        browser.close()
    return Image.open(io.BytesIO(image)), int(top) - 20


if __name__ == "__main__":
    main()
