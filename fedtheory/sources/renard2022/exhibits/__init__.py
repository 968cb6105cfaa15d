"""Page on the toy problem of Section 3."""

from fedtheory.sources.renard2022.exhibits.page import toy_page

PAGES = (toy_page,)
