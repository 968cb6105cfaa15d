"""Pages on the bounds against any comparator on real data, and on stationary errors."""

from fedtheory.sources.comparator.exhibits.floors import floors_page
from fedtheory.sources.comparator.exhibits.page import data_page

PAGES = (data_page, floors_page)
