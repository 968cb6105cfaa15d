"""Pages on the bounds against any comparator on real data, and on stationary errors."""

from fedtheory.sources.comparator.exhibits.floors import make_floors_page
from fedtheory.sources.comparator.exhibits.page import make_data_page

PAGES = (make_data_page, make_floors_page)
