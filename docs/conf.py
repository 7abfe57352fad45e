"""The site: `make docs` builds all of it, `make docs-quick` leaves the gallery's examples unrun."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import infused  # noqa: E402

project = "infused"
author = "The infused developers"
copyright = author
version = release = infused.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "public_names",
    "command_line",
]
exclude_patterns = ["_build", "auto_examples/*.ipynb", "auto_examples/*.py"]
templates_path = ["_templates"]
smartquotes = False  # two dashes are an option

autosummary_generate = True
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

myst_enable_extensions = ["colon_fence", "dollarmath", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 3
suppress_warnings = [
    "config.cache",  # functions in the gallery's settings cannot be pickled
]

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "infused"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_show_sourcelink = False
html_sidebars = {
    page: [] for page in ("index", "404", "changelog", "contributing", "command_line", "security")
}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 4,  # the others in "More": one row on a laptop
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["version"],
}

# The HTML boxes of selectors in the gallery lead to their pages here.
infused.InFusedLasso._doc_link_template = "../api/generated/infused.{estimator_name}.html"

#: Addresses outside of the site need a network: `make docs-links` checks all others.
linkcheck_ignore = [r"https?://"]
linkcheck_anchors = True

warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": os.environ.get("INFUSED_DOCS") != "quick",
    "abort_on_example_error": True,
    "thumbnail_size": (640, 448),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 1,
    "write_computation_times": False,
    "copyfile_regex": r".*\.rst",
}
