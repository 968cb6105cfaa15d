"""Additional material of a paper: charts as data, exhibits on the pages of its claims, and separate pages.

A paper's module ``exhibits`` has a tuple `EXHIBITS` of `Exhibit`, and a tuple `PAGES` of functions that return a
`Page`; either may be missing.  Everything is computed on demand; `report` draws it.
"""

from fedtheory.language.exhibits.charts import *
from fedtheory.language.exhibits.exhibit import *
from fedtheory.language.exhibits.page import *
