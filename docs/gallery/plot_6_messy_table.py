"""
A table whose unit changed half way
===================================

Calls from Belgium, 1950 to 1973, as they were written down: from 1964 to 1969 minutes were recorded
instead of calls, and 1963 and 1970 are a mixture of both. The table comes as a data frame with a
label for every row; nothing in it says which rows are wrong.
"""

import quadsweep as qs

table = qs.datasets.load("phone-calls").to_frame()
table = table.set_index("label")
print(table.loc["1961":"1971"])

# %%
# How many rows should go? The best subset of every size, and the sizes that stand out.

year, calls = table.columns
path = qs.path(table[year], table[calls], drop=10, permutations=99)
print(path)
path.plot()

# %%
# At the elbow seven rows leave: the six years of the other unit, and 1970. The next to go would be
# 1963. The answer speaks in the table's own labels and goes back into the frame.

result = path.result(17)
print(result)
print(result.to_frame().query("not inlier").index.tolist())
result.plot()

# %%
# On how few rows does that depend which the whole table seems to say?

print(qs.audit(table[year], table[calls], claim="significance"))
