"""Additional material of a paper: charts as data, exhibits on the pages of its claims, and separate pages.

A paper's module ``exhibits`` has a tuple `EXHIBITS` of `Exhibit`, and a tuple `PAGES` of functions that return a
`Page`; either may be missing.  Everything is computed on demand; `report` draws it.
"""

from fedtheory.language.exhibits.charts import BLACK as BLACK
from fedtheory.language.exhibits.charts import BLUE as BLUE
from fedtheory.language.exhibits.charts import DASH_DOTTED as DASH_DOTTED
from fedtheory.language.exhibits.charts import DASHED as DASHED
from fedtheory.language.exhibits.charts import DOTTED as DOTTED
from fedtheory.language.exhibits.charts import GREEN as GREEN
from fedtheory.language.exhibits.charts import ORANGE as ORANGE
from fedtheory.language.exhibits.charts import PURPLE as PURPLE
from fedtheory.language.exhibits.charts import RED as RED
from fedtheory.language.exhibits.charts import SKY as SKY
from fedtheory.language.exhibits.charts import SOLID as SOLID
from fedtheory.language.exhibits.charts import Axis as Axis
from fedtheory.language.exhibits.charts import Band as Band
from fedtheory.language.exhibits.charts import Chart as Chart
from fedtheory.language.exhibits.charts import Legend as Legend
from fedtheory.language.exhibits.charts import Level as Level
from fedtheory.language.exhibits.charts import Line as Line
from fedtheory.language.exhibits.charts import Mark as Mark
from fedtheory.language.exhibits.charts import Part as Part
from fedtheory.language.exhibits.charts import Span as Span
from fedtheory.language.exhibits.exhibit import Display as Display
from fedtheory.language.exhibits.exhibit import Exhibit as Exhibit
from fedtheory.language.exhibits.exhibit import Finding as Finding
from fedtheory.language.exhibits.page import Coverage as Coverage
from fedtheory.language.exhibits.page import Page as Page
from fedtheory.language.exhibits.page import RunFile as RunFile
from fedtheory.language.exhibits.page import Table as Table
