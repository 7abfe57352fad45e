"""
From a CSV to a page
====================

A table of patients, a column that tells the diagnosis: which of the measurements matter? One call
answers, keeps a record that can be run again, and leaves a page that opens without a network.
"""

# %%
# Ten measurements of 90 patients. Glucose and ferritin tell the diagnosis, and iron repeats
# ferritin. A column of text, a missing value here and there and a column of row numbers are no obstacle.

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import infused

rng = np.random.default_rng(0)
ill = np.arange(90) % 3 == 0
names = ["age", "weight", "glucose", "pressure", "insulin", "ferritin", "sodium", "iron", "zinc", "lead"]
table = pd.DataFrame(rng.gamma(4.0, 2.0, (90, 10)).round(3), columns=names)
table["glucose"] += 9 * ill
table["ferritin"] += 8 * ill
table["iron"] = (2 * table["ferritin"] + 0.1 * rng.standard_normal(90)).round(3)
table["clinic"] = rng.choice(["north", "south", "west"], 90)
table.loc[rng.integers(0, 90, 6), "sodium"] = np.nan
table["diagnosis"] = np.where(ill, "ill", "well")

folder = Path(mkdtemp())
table.to_csv(folder / "patients.csv", index_label="number")

# %%
# One call. The command line has the same: ``infused select patients.csv --target diagnosis -k 3
# --report``.

selection = infused.select(folder / "patients.csv", "diagnosis", k=3)
print(selection.table[["rank", "feature", "alone", "unique"]].to_string(index=False))

# %%
# *alone* is what a feature explains by itself, corrected for chance: around zero for noise.
# *unique* is what the selected ones lose without it. Iron and ferritin are redundant: each explains
# much alone, and next to nothing is lost without one of them.

shown = selection.table.iloc[::-1]
places = np.arange(len(shown))
figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.barh(places + 0.2, shown["alone"], 0.38, label="alone")
ax.barh(places - 0.2, shown["unique"], 0.38, label="unique")
ax.set_yticks(places, shown["feature"])
ax.set_xlabel("share explained")
ax.legend()
plt.show()

# %%
# Blue is what a feature explains alone, orange what it adds to the others. Glucose has both, so it is the
# first to look at; iron and ferritin share theirs.
#
# The page, and the record that makes it again.

page = selection.report(folder / "page.html")
selection.save(folder / "result")
print(sorted(path.name for path in (folder / "result").iterdir()))

# %%
# Other patients are treated as the record says: the same columns, the same levels, the same
# fillings.

others = table.drop(columns="diagnosis").iloc[:5]
others.insert(0, "number", range(5))
print(infused.Selection.load(folder / "result").apply(others).to_string(index=False))
