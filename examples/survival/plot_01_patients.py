"""
From a table of patients to a model
===================================

A table has a column of times and one that says whether the event happened. ``select`` takes both, ranks
the features by Cox's partial likelihood, and says how well they predict and how the hazard changes with each.
"""

# %%
# 400 patients. The hazard grows with age and with the stage, falls with the treatment, and has nothing to do
# with the other columns. Half of the patients are censored, and some values are missing.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import infused

rng = np.random.default_rng(0)
n = 400
table = pd.DataFrame(
    rng.normal(size=(n, 5)).round(2), columns=["iron", "sodium", "zinc", "copper", "glucose"]
)
table["age"] = rng.normal(62, 9, n).round()
table["stage"] = rng.choice(["I", "II", "III"], n, p=[0.4, 0.4, 0.2])
table["treated"] = rng.choice(["no", "yes"], n)
risk = 0.05 * (table["age"] - 62) + 1.2 * (table["stage"] == "III") - 0.7 * (table["treated"] == "yes")
died = rng.exponential(40 * np.exp(-risk))
left = rng.exponential(40, n)
table["months"], table["event"] = np.minimum(died, left).round(2), np.where(died <= left, "dead", "alive")
table.loc[rng.random(n) < 0.05, "age"] = np.nan

selection = infused.select(table, time="months", event="event", k=3)
print(selection)
print(selection.table[["feature", "direction", "alone", "hazard ratio"]].to_string(index=False))

# %%
# The page (``selection.report("page.html")``) shows Kaplan-Meier curves of each feature. ``explain`` says all
# about any one:

stage = infused.explain(table, "stage", time="months", event="event")
print(stage)

# %%
# A model that predicts, fitted to the three features: new patients come in a table of the same columns.

model = selection.model()
new = table.drop(columns=["months", "event"]).head(3)
print("log hazard:", model.predict(new).round(2))

times = np.linspace(0, 60, 100)
alive = model["model"].predict_survival(model[:-1].transform(new), times)
for row, curve in zip(new.itertuples(), alive, strict=True):
    plt.step(
        times, curve, where="post", label=f"age {row.age:.0f}, stage {row.stage}, treated: {row.treated}"
    )
plt.xlabel("months")
plt.ylabel("predicted survival")
plt.legend()
plt.show()
