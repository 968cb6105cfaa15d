"""Page on the toy problem of Section 3."""

from fedtheory.sources.renard2022.exhibits.page import make_toy_page

PAGES = (make_toy_page,)
