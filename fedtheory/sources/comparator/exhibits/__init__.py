"""What the bounds against any comparator say on real data, and where runs settle, on pages of their own."""

from fedtheory.sources.comparator.exhibits.floors import floors_page
from fedtheory.sources.comparator.exhibits.page import data_page

PAGES = (data_page, floors_page)
