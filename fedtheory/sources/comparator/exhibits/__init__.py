"""What the bounds against any comparator say on real data, on a page of its own."""

from fedtheory.sources.comparator.exhibits.page import data_page

PAGES = (data_page,)
